"""`./dev demo fdtd`: a Helmholtz resonator: its spectrum beside theory, slices, and a film of the pressure.

A cavity with a neck is filled with pressure at once and left to itself. Results and pictures are in out/demo/fdtd.
Takes about 30 seconds on two cores.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "apps" / "fdtd"))
import harness
import numpy as np
from demo import command_line, from_here
from harness import BenchmarkError
from matplotlib.animation import PillowWriter
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray
from resonator import Resonator, read_probe, ring_down

Reals = NDArray[np.float64]

SHAPE = Resonator(cavity=24, neck=8, length=6)
SPACING, SPEED, COURANT = 0.005, 343.0, 0.45  # metres, m/s
STEPS, FILM = 6000, 12
FRAMES = 60  # of the animated film: the first moments


def simulate(programs: Path, folder: Path, steps: int) -> None:
    """Before the user's eyes."""
    solid = folder / "solid.npy"
    np.save(solid, SHAPE.solid_cells())
    program = "fdtd_smint" if (programs / "fdtd_smint").exists() else "fdtd_sms"
    command = [
        *(str(programs / "hirobarun"), "-n", "2", "--nodes", "2", str(programs / program)),
        *SHAPE.options(solid, steps),
        *("--spacing", str(SPACING), "--film", str(FILM), "--output", str(folder), "--progress"),
    ]
    shown = " ".join(command).replace(f"{programs}/", "").replace(str(folder), from_here(folder))
    millimetres = [round(1000 * SPACING * cells) for cells in (SHAPE.cavity, SHAPE.neck, SHAPE.length)]
    print(
        f"A cavity of {millimetres[0]} mm with a neck {millimetres[1]} mm wide and {millimetres[2]} mm long, in a wall "
        f"before free space.\nTwo ranks on two virtual nodes simulate it:\n\n  $ {shown}\n",
        flush=True,
    )
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=300, check=False)
    except FileNotFoundError as error:
        raise BenchmarkError(f"there is no {error.filename}; build it first: ./dev build") from error
    except subprocess.TimeoutExpired as error:
        raise BenchmarkError("the simulation did not finish in 300 s") from error
    if done.returncode != 0:
        raise BenchmarkError(f"the simulation ended with exit status {done.returncode}")


def spectrum(times: Reals, pressure: Reals) -> tuple[Reals, Reals]:
    """Hertz and amplitude; the window falls to zero, because the record ends before the sound does."""
    window = np.cos(0.5 * np.pi * np.arange(len(pressure)) / len(pressure)) ** 2
    amplitude = np.abs(np.fft.rfft(pressure * window, 8 * len(pressure)))
    return np.fft.rfftfreq(8 * len(pressure), times[1] - times[0]), amplitude / amplitude.max()


def draw_spectrum(folder: Path, path: Path) -> Path:
    times, pressure = read_probe(folder)
    measured, decay = ring_down(times, pressure)
    hertz, amplitude = spectrum(times, pressure)
    predicted = {name: SHAPE.frequency(length) * SPEED / SPACING for name, length in SHAPE.corrections.items()}

    print(f"\nresonance measured: {measured:.1f} Hz; the amplitude falls by {decay:.3f} in half a period")
    for name, value in predicted.items():
        print(f"  theory, end correction {name + ':':11} {value:6.1f} Hz, measured / theory {measured / value:.3f}")

    figure = Figure(figsize=(12.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(1e3 * times, pressure, color=harness.COLOURS[0], lw=1)
    left.axhline(0, color="grey", lw=0.5)
    left.set_xlabel("time, ms")
    left.set_ylabel("mean pressure in the cavity, Pa")
    left.set_title("Ring-down")
    shown = (hertz > 20) & (hertz < 3.4 * measured)  # the legend has room beside the lines
    right.plot(hertz[shown], 20 * np.log10(amplitude[shown] + 1e-9), color=harness.COLOURS[0], label="simulated")
    for colour, (name, value) in zip(harness.COLOURS[1:], predicted.items(), strict=False):
        label = f"{value:.0f} Hz: end correction {name}"
        right.axvline(value, color=colour, ls="--", lw=1.4, label=label)
    right.axvline(measured, color="black", lw=0.8, label=f"{measured:.0f} Hz: measured by zero crossings")
    right.set_ylim(-40, 3)
    right.set_xlabel("frequency, Hz")
    right.set_ylabel("dB below the peak")
    right.set_title("Spectrum, and what theory predicts")
    right.legend(frameon=False, fontsize=8)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=140)
    return path


class Slice:
    """The plane through the middle of the resonator, with its walls."""

    def __init__(self, film: Reals) -> None:
        self.film = film
        self.wall = np.ma.masked_equal(SHAPE.solid_cells()[:, SHAPE.width // 2, :], 0)
        centimetre = 100 * SPACING
        self.extent = (0, SHAPE.width * centimetre, 0, SHAPE.height * centimetre)

    def milliseconds(self, frame: int) -> float:
        return 1e3 * (frame + 1) * FILM * COURANT * SPACING / SPEED

    def draw(self, axes: Axes, frame: int) -> AxesImage:
        norm = SymLogNorm(linthresh=0.003, vmin=-1, vmax=1)
        image = axes.imshow(self.film[frame], origin="lower", extent=self.extent, cmap="RdBu_r", norm=norm)
        axes.imshow(self.wall, origin="lower", extent=self.extent, cmap="gray", vmin=0, vmax=2)
        axes.set_title(f"{self.milliseconds(frame):.2f} ms", fontsize=10)
        axes.set_xlabel("cm")
        return image


def draw_slices(film: Reals, path: Path) -> Path:
    """The first moments, and half a period later."""
    section = Slice(film)
    frames = [1, 4, 8, len(film) // 16]
    figure = Figure(figsize=(13.5, 3.6), layout="constrained")
    all_axes = figure.subplots(1, len(frames), sharey=True)
    for axes, frame in zip(all_axes, frames, strict=True):
        image = section.draw(axes, frame)
    all_axes[0].set_ylabel("cm")
    figure.colorbar(image, ax=all_axes, shrink=0.9, label="pressure, Pa")
    figure.suptitle("Pressure in the plane through the middle: the cavity, its neck, and free space above")
    figure.savefig(path, dpi=140)
    return path


def draw_film(film: Reals, folder: Path) -> Path:
    """film.gif, and its pictures in frames/."""
    section = Slice(film)
    figure = Figure(figsize=(4.4, 3.6), layout="constrained")
    writer = PillowWriter(fps=12)
    path = folder / "film.gif"
    (folder / "frames").mkdir(exist_ok=True)
    with writer.saving(figure, str(path), dpi=70):
        for frame in range(len(film)):
            figure.clear()
            section.draw(figure.subplots(), frame)
            figure.savefig(folder / "frames" / f"{frame:04d}.png", dpi=70)
            writer.grab_frame()
    return path


NEXT = """
Try next
  numpy.load("{folder}/pressure.npy")     the last pressure, [z][y][x]; probe-1.wav is the sound
  edit solid_cells() in apps/fdtd/resonator.py, and run ./dev demo fdtd again
  apps/fdtd/README.md                        sources, probes and layers of your own
"""


def run() -> int:
    programs, folder, small = command_line(__doc__, "fdtd")
    steps, frames = (1500, 3) if small else (STEPS, FRAMES)
    simulate(programs, folder, steps)
    film = np.load(folder / "film.npy")
    pictures = [
        draw_spectrum(folder, folder / "spectrum.png"),
        draw_slices(film, folder / "slices.png"),
        draw_film(film[:frames], folder),
    ]
    print("\n" + "\n".join(f"picture: {from_here(picture)}" for picture in pictures))
    print(NEXT.format(folder=from_here(folder)), end="")
    return 0


if __name__ == "__main__":
    harness.main(run)
