"""`./dev demo barnes_hut`: two clusters of stars meet.

Two Plummer spheres of 10,000 bodies each fall towards each other, on 2 ranks over 2 virtual nodes which share one tree.
Pictures of the stars at six moments are in out/demo/barnes_hut. Takes about 20 seconds on two cores.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import harness
import numpy as np
from demo import command_line, from_here
from harness import BenchmarkError
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

Reals = NDArray[np.float64]

STARS = 10000  # of one cluster
DISTANCE, APART, SPEED = 5.0, 1.0, 0.6  # at the start: in the line of flight, beside it; of each cluster
STEP, MOMENTS, STEPS = 0.025, 6, 50  # STEPS: from one picture to the next


def cluster(programs: Path, folder: Path, size: int, seed: int) -> Reals:
    """A Plummer sphere at rest, as the program makes it: after a step of no length."""
    file = folder / "cluster.npy"
    options = ["--size", str(size), "--seed", str(seed), "--steps", "1", "--dt", "1e-300", "--output", str(file)]
    subprocess.run([programs / "barnes_hut_omp", *options], check=True, stdout=subprocess.DEVNULL)
    stars: Reals = np.load(file)
    return stars


def two_clusters(programs: Path, folder: Path, size: int) -> Path:
    stars = []
    for side, seed in ((-1, 1), (1, 2)):
        one = cluster(programs, folder, size, seed)
        one[:, :3] += [side * DISTANCE / 2, side * APART / 2, 0]
        one[:, 3:6] += [-side * SPEED, 0, 0]
        stars.append(one)
    file = folder / "start.npy"
    np.save(file, np.concatenate(stars))
    return file


def simulate(programs: Path, folder: Path, start: Path, steps: int) -> list[Path]:
    """The files with the stars at each moment; each run goes on where the last one has ended."""
    files = [start]
    checkpoint = folder / "checkpoint"
    for moment in range(1, MOMENTS):
        files.append(folder / f"moment-{moment}.npy")
        source = ["--input", start] if moment == 1 else ["--restart", checkpoint]
        command = [
            *(programs / "hirobarun", "-n", "2", "--nodes", "2", "--threads", "1", programs / "barnes_hut_sms"),
            *(*source, "--dt", STEP, "--softening", 0.1, "--steps", moment * steps),
            *("--checkpoint", checkpoint, "--output", files[-1], "--verify"),
        ]
        words = [str(word) for word in command]
        shown = " ".join(words).replace(f"{programs}/", "").replace(str(folder), from_here(folder))
        print(f"  $ {shown}", flush=True)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchmarkError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
        for line in done.stdout.splitlines()[-4:]:
            print(f"    {line}", flush=True)
    return files


def draw(path: Path, files: list[Path], steps: int) -> Path:
    """How many stars there are, seen from above, at each moment."""
    figure = Figure(figsize=(13, 8.4), layout="constrained")
    reach = 6.0
    for moment, (axes, file) in enumerate(zip(figure.subplots(2, 3).flat, files, strict=True)):
        stars: Reals = np.load(file)
        axes.set_facecolor("black")
        axes.hist2d(
            stars[:, 0],
            stars[:, 1],
            bins=220,
            range=[[-reach, reach], [-reach, reach]],
            cmap="inferno",
            norm=LogNorm(vmin=1, vmax=200),
        )
        axes.set_title(f"time {moment * steps * STEP:g}", fontsize=10)
        axes.set_aspect("equal")
    figure.savefig(path, dpi=130)
    return path


def run() -> int:
    programs, folder, small = command_line(__doc__, "barnes_hut")
    stars, steps = (4000, 15) if small else (STARS, STEPS)
    print(f"Two clusters of {stars} stars, one tree on two virtual nodes. For each star and step:")
    files = simulate(programs, folder, two_clusters(programs, folder, stars), steps)
    picture = draw(folder / "barnes_hut.png", files, steps)
    print(f"\npicture: {from_here(picture)}\nTry next: apps/barnes_hut/README.md, ./dev bench barnes_hut")
    return 0


if __name__ == "__main__":
    harness.main(run)
