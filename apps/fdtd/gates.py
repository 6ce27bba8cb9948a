"""Tests of what the programs compute against theory, for ctest.

gates.py BIN absorption       FD4: how much 20 absorbing layers reflect; a layer made for 1e-4 must fail
gates.py BIN resonator        HE1: the resonance of a Helmholtz resonator on three grids; none without end correction
gates.py BIN results          the files of a run are what they say they are
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from resonator import Resonator, read_probe, ring_down


class WrongError(Exception):
    """A figure is outside of its gate."""


def require(good: bool, what: str) -> None:
    print(f"{'ok   ' if good else 'WRONG'}  {what}", flush=True)
    if not good:
        raise WrongError(what)


def run(programs: Path, program: str, options: list[str]) -> str:
    """On two ranks where it is a program over shared arrays."""
    start = [] if program == "fdtd_seq" else [programs / "hirobarun", "-n", "2"]
    command = [str(word) for word in [*start, programs / program, *options]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise WrongError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main_program(programs: Path) -> str:
    return "fdtd_smint" if (programs / "fdtd_smint").exists() else "fdtd_sms"


# ---- FD4 -------------------------------------------------------------------------------------------------------------

INNER, STEPS, FAR = 40, 160, 100  # cells inside of the layers, steps, cells from which nothing comes back in that time


def pulse(programs: Path, inner: int, layer: int, more: list[str]) -> NDArray[np.float64]:
    """The pressure at the middle of a face and in a corner, both two cells from the layer, after a pulse in the
    middle of the box; the same places for every size."""
    size, middle = inner + 2 * layer, inner // 2 + layer
    edge = middle + INNER // 2 - 3
    with tempfile.TemporaryDirectory() as scratch:
        options = ["--size", str(size), "--pml", str(layer), "--steps", str(STEPS), "--pulse", "8", "--output", scratch]
        for name, place in (
            ("--source", (middle, middle, middle)),
            ("--probe", (edge, middle, middle)),
            ("--probe", (edge, edge, edge)),
        ):
            options += [name, ",".join(str(cell) for cell in place)]
        run(programs, main_program(programs), [*options, *more])
        return np.loadtxt(Path(scratch) / "probes.csv", delimiter=",", skiprows=1)[:, 1:]


def absorption(programs: Path) -> None:
    far = pulse(programs, FAR, 20, [])

    def reflected(*more: str) -> float:
        """Decibels of the worse of the two probes."""
        difference = np.abs(pulse(programs, INNER, 20, list(more)) - far).max(axis=0)
        return 20 * math.log10(float((difference / np.abs(far).max(axis=0)).max()))

    quadratic, cubic = reflected("--pml-order", "2"), reflected("--pml-order", "3")
    poor = reflected("--pml-order", "3", "--pml-r0", "1e-4")
    require(quadratic <= -90, f"order 2, R0 1e-6: {quadratic:.1f} dB (at most -90)")
    require(cubic <= -105, f"order 3, R0 1e-6: {cubic:.1f} dB (at most -105)")
    require(poor > -105, f"order 3, R0 1e-4: {poor:.1f} dB (must be above -105, or the gate sees nothing)")


# ---- HE1 -------------------------------------------------------------------------------------------------------------

GRIDS = ((12, 4, 3, 800), (24, 8, 6, 1500), (36, 12, 9, 2250))  # cavity, neck, length of the neck, steps


def resonator(programs: Path) -> None:
    corrections = []
    for cavity, neck, length, steps in GRIDS:
        shape = Resonator(cavity, neck, length)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            np.save(folder / "solid.npy", shape.solid_cells())
            units = ["--spacing", "1", "--speed", "1", "--output", scratch]
            run(programs, main_program(programs), [*shape.options(folder / "solid.npy", steps), *units])
            frequency, decay = ring_down(*read_probe(folder))
        ratio = {name: frequency / shape.frequency(length) for name, length in shape.corrections.items()}
        name = f"cavity of {cavity}^3 cells:"
        require(0.94 < ratio["Ingard"] < 1, f"{name} f / Ingard's {ratio['Ingard']:.4f} (0.94 to 1)")
        require(1 < ratio["1.7 radii"] < 1.05, f"{name} f / that of 1.7 radii {ratio['1.7 radii']:.4f} (1 to 1.05)")
        require(ratio["none"] < 0.94, f"{name} f / that without a correction {ratio['none']:.4f} (must be below 0.94)")
        require(0.95 < decay < 0.995, f"{name} the amplitude falls by {decay:.4f} in half a period (0.95 to 0.995)")
        corrections.append(shape.effective_correction(frequency))
    text = " > ".join(f"{value:.3f}" for value in corrections)
    require(corrections == sorted(corrections, reverse=True), f"the correction falls with the resolution: {text} radii")


# ---- files -----------------------------------------------------------------------------------------------------------


def results(programs: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        options = ["--size", "20,16,12", "--source", "4,5,6", "--probe", "9:11,8,6", "--steps", "40", "--film", "10"]
        run(programs, "fdtd_seq", [*options, "--output", scratch])
        folder = Path(scratch)
        pressure, film = np.load(folder / "pressure.npy"), np.load(folder / "film.npy")
        require(pressure.shape == (12, 16, 20), "pressure.npy is [z][y][x]")
        require(film.shape == (4, 12, 20), "film.npy is [frame][z][x]")
        require(np.array_equal(film[-1], pressure[:, 8, :]), "the last frame is the plane in the middle of y")
        times, probe = read_probe(folder)
        mean = (pressure[6, 8, 9] + pressure[6, 8, 10]) / 2
        require(len(probe) == 40 and probe[-1] == mean, "the probe's last sample is the mean of its cells")
        rate = 343 / (0.45 * 0.01)
        require(math.isclose(float(times[-1]), 40 / rate, rel_tol=1e-8), "times are in seconds")
        wav = (folder / "probe-1.wav").read_bytes()
        samples = np.frombuffer(wav[44:], "<f4")
        require(wav[:4] == b"RIFF" and int.from_bytes(wav[24:28], "little") == round(rate), "probe-1.wav has the rate")
        require(np.allclose(samples * np.abs(probe).max(), probe, rtol=1e-6, atol=1e-12), "and the probe's samples")


GATES: dict[str, Callable[[Path], None]] = {"absorption": absorption, "resonator": resonator, "results": results}


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        GATES[sys.argv[2]](Path(sys.argv[1]))
    except WrongError as error:
        sys.exit(f"gates.py: {error}")


if __name__ == "__main__":
    main()
