"""`./dev demo stencil27`: heat spreads through a box, several time steps at once.

The 27-point stencil on 2 ranks over 2 virtual nodes, with 1, 2, 4 and 8 steps between two exchanges: the answer has the
same bits, and the time does not. Pictures are in out/demo/stencil27. Takes about 20 seconds on two cores.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import harness
import numpy as np
from demo import command_line, from_here
from harness import BenchmarkError, Contestant
from matplotlib.figure import Figure

SIZE, STEPS = 192, 64
SMALL_SIZE, SMALL_STEPS = 64, 16
DEPTHS = (1, 2, 4, 8)
MOMENTS = (1, 8, 64)


def simulate(programs: Path, size: int, steps: int, slice_file: Path, *more: str) -> dict[str, Any]:
    job: list[str | Path] = [
        programs / "hirobarun",
        "-n",
        "2",
        "--nodes",
        "2",
        "--threads",
        "1",
        programs / "stencil27_sms",
    ]
    options = ["--size", str(size), "--steps", str(steps), "--slice", str(slice_file), "--json", *more]
    contestant = Contestant(f"{steps} steps", [*job, *options])
    shown = " ".join(map(str, contestant.command)).replace(f"{programs}/", "")
    print(f"  $ {shown.replace(str(slice_file), from_here(slice_file))}", flush=True)
    return harness.run_once(contestant)


def moments(programs: Path, folder: Path, size: int) -> list[Path]:
    print("\nHow noise is smoothed, after some steps:")
    files = [folder / f"after-{steps}.npy" for steps in MOMENTS]
    for steps, file in zip(MOMENTS, files, strict=True):
        simulate(programs, size, steps, file, "--start", "noise")
    return files


def depths(programs: Path, folder: Path, size: int, steps: int) -> dict[int, float]:
    print(f"{size}^3 points, {steps} steps, on two virtual nodes, with 1 to 8 steps from one exchange to the next:")
    speeds, answers = {}, set()
    for depth in DEPTHS:
        file = folder / f"depth-{depth}.npy"
        result = simulate(programs, size, steps, file, "--depth", str(depth), "--verify")
        counters = result["counters"]
        print(
            f"    {result['glups']:.3f} GLUP/s, error {result['error']:.1g}, {counters['halos']} fetches of planes "
            f"with {counters['pages_preloaded']} pages"
        )
        speeds[depth] = result["glups"]
        answers.add(file.read_bytes())
    if len(answers) != 1:
        raise BenchmarkError("the depths have different answers")
    print("All have the same bits.")
    return speeds


def draw(path: Path, speeds: dict[int, float], files: list[Path]) -> Path:
    figure = Figure(figsize=(15, 3.8), layout="constrained")
    first, *others = figure.subplots(1, 1 + len(files))
    bars = first.bar([str(depth) for depth in speeds], list(speeds.values()), color=harness.COLOURS[0])
    first.bar_label(bars, fmt="%.2f")
    first.set_xlabel("steps at once")
    first.set_ylabel("GLUP/s, 2 ranks on 2 virtual nodes")
    first.spines[["top", "right"]].set_visible(False)
    for axes, file, steps in zip(others, files, MOMENTS, strict=True):
        plane = np.load(file)
        most = float(abs(plane).max())
        image = axes.imshow(plane, cmap="RdBu_r", vmin=-most, vmax=most, origin="lower")
        axes.set_title(f"middle plane after {steps} step{'' if steps == 1 else 's'}", fontsize=10)
        figure.colorbar(image, ax=axes, shrink=0.8)
    figure.savefig(path, dpi=140)
    return path


def run() -> int:
    programs, folder, small = command_line(__doc__, "stencil27")
    size, steps = (SMALL_SIZE, SMALL_STEPS) if small else (SIZE, STEPS)
    speeds = depths(programs, folder, size, steps)
    picture = draw(folder / "stencil27.png", speeds, moments(programs, folder, size))
    print(f"\npicture: {from_here(picture)}\nTry next: apps/stencil27/README.md, ./dev bench stencil27")
    return 0


if __name__ == "__main__":
    harness.main(run)
