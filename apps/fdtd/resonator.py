"""A Helmholtz resonator: a cubic cavity with a square neck that opens through a wide wall into free space.

The geometry as an array of solid cells for --solid, what theory predicts for its resonance, and what a run measured.
Change `solid_cells` to simulate another instrument. As a program it writes the geometry and prints the command:

    python apps/fdtd/resonator.py 12 4 3 --out resonator
"""

from __future__ import annotations

import argparse
import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Resonator:
    """In cells: edge of the cavity, edge and length of the neck; absorbing layer, and free space around the opening."""

    cavity: int
    neck: int
    length: int
    layer: int = 12
    space: int = 8

    @property
    def width(self) -> int:
        return self.cavity + 2 * (self.layer + self.space)

    @property
    def height(self) -> int:
        return self.cavity + self.length + self.layer + self.space + 1

    @property
    def layers(self) -> str:
        """Absorbing layers for --pml: everywhere but below, where the cavity is."""
        return f"{self.layer},{self.layer},{self.layer},{self.layer},0,{self.layer}"

    @property
    def cavity_cells(self) -> str:
        first, last = (self.width - self.cavity) // 2, (self.width + self.cavity) // 2
        return f"{first}:{last},{first}:{last},0:{self.cavity}"

    def solid_cells(self) -> NDArray[np.uint8]:
        """As [z][y][x]: all of the wall but cavity and neck."""
        solid = np.zeros((self.height, self.width, self.width), np.uint8)
        solid[: self.cavity + self.length] = 1
        for edge, below, above in ((self.cavity, 0, self.cavity), (self.neck, self.cavity, self.cavity + self.length)):
            first = (self.width - edge) // 2
            solid[below:above, first : first + edge, first : first + edge] = 0
        return solid

    def options(self, solid: Path, steps: int) -> list[str]:
        """The cavity is filled with pressure at once, and then left to itself."""
        cells = self.cavity_cells
        return [
            *("--solid", str(solid), "--pml", self.layers, "--steps", str(steps)),
            *("--source", cells, "--pulse", "0", "--probe", cells),
        ]

    @property
    def radius(self) -> float:
        """Of a round neck of the same area, in cells."""
        return math.sqrt(self.neck**2 / math.pi)

    def frequency(self, correction: float) -> float:
        """c / (2 pi) sqrt(A / (V L)), where the air beside the neck, which moves with it, makes it longer. In units of
        the speed of sound over the edge of a cell."""
        return math.sqrt(self.neck**2 / (self.cavity**3 * (self.length + correction))) / (2 * math.pi)

    @property
    def corrections(self) -> dict[str, float]:
        """Lengths to add to the neck. The common rule is 0.85 radii for each end; Ingard's takes into account that the
        inner end is in a cavity and not in free space; it holds for necks of less than 0.4 of the cavity's width."""
        inner = 1 - 1.25 * self.neck / self.cavity
        return {"1.7 radii": 1.7 * self.radius, "Ingard": 0.85 * self.radius * (1 + inner), "none": 0}

    def effective_correction(self, frequency: float) -> float:
        """The correction that would give this frequency, in radii."""
        length = self.neck**2 / (self.cavity**3 * (2 * math.pi * frequency) ** 2)
        return (length - self.length) / self.radius


def read_probe(folder: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times in seconds, and the first probe's pressure."""
    with (folder / "probes.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    table = np.array(rows, dtype=np.float64)
    return table[:, 0], table[:, 1]


def ring_down(times: NDArray[np.float64], pressure: NDArray[np.float64]) -> tuple[float, float]:
    """Frequency by the times at which the pressure changes its sign, and the ratio of successive extremes."""
    change = np.flatnonzero(np.signbit(pressure[1:]) != np.signbit(pressure[:-1]))
    fraction = pressure[change] / (pressure[change] - pressure[change + 1])
    zeros = times[change] + fraction * (times[1] - times[0])
    zeros = zeros[1:]  # the first half period is that of the start
    peaks = [float(np.abs(pressure[a:b]).max()) for a, b in zip(change[1:-1], change[2:], strict=True)]
    half_periods = (len(zeros) - 1) / 2
    return half_periods / float(zeros[-1] - zeros[0]), (peaks[-1] / peaks[0]) ** (1 / (len(peaks) - 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cavity", type=int, help="edge of the cavity, in cells")
    parser.add_argument("neck", type=int, help="edge of the neck")
    parser.add_argument("length", type=int, help="length of the neck")
    parser.add_argument("--out", type=Path, default=Path("resonator"), help="folder for the geometry")
    arguments = parser.parse_args()
    resonator = Resonator(arguments.cavity, arguments.neck, arguments.length)
    arguments.out.mkdir(parents=True, exist_ok=True)
    solid = arguments.out / "solid.npy"
    np.save(solid, resonator.solid_cells())
    print("hirobarun -n 2 fdtd_smint", *resonator.options(solid, 1600), "--output", arguments.out)


if __name__ == "__main__":
    main()
