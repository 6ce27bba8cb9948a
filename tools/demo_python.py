"""`./dev demo python`: NumPy arrays over two virtual nodes.

Runs examples/heat.py, heat in a plate, as one process and on several ranks, and compares the results bit by bit with
those of NumPy alone. The picture shows the plate, and which rank has which rows; it is in out/demo/python. Takes about
20 seconds on two cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import harness
import numpy as np
from demo import ROOT, command_line, from_here
from harness import BenchmarkError
from matplotlib.figure import Figure

PROGRAM = ROOT / "examples" / "heat.py"
SHAPES = ((1, 1), (2, 1), (2, 2), (4, 2))  # ranks, nodes


def by_numpy(points: int, steps: int) -> np.ndarray:
    old, new = np.zeros((points, points)), np.zeros((points, points))
    old[:, 0] = new[:, 0] = 100
    for _ in range(steps):
        new[1:-1, 1:-1] = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
        old, new = new, old
    return old


def run(programs: Path, folder: Path, shape: tuple[int, int], points: int, steps: int) -> None:
    ranks, nodes = shape
    words = ["-n", str(ranks), "--nodes", str(nodes), "python3", str(PROGRAM), str(points), str(steps)]
    print(f"  $ hirobarun {' '.join(words).replace(str(PROGRAM), from_here(PROGRAM))}", flush=True)
    words[words.index("python3")] = sys.executable
    paths = os.environ | {
        "PYTHONPATH": str(ROOT / "python"),
        "LD_LIBRARY_PATH": str(programs.parent / "lib"),
    }
    begin = time.monotonic()
    job = subprocess.run([programs / "hirobarun", *words], cwd=folder, env=paths, capture_output=True, text=True)
    if job.returncode != 0:
        raise BenchmarkError(f"{PROGRAM.name} on {ranks} ranks failed:\n{job.stderr}")
    print(f"    {job.stdout.strip()}: {time.monotonic() - begin:.1f} s, with the start of Python and the picture")


def draw(path: Path, plate: np.ndarray) -> Path:
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    figure.colorbar(axes.imshow(plate, cmap="inferno"), label="temperature")
    ranks, nodes = SHAPES[-1]
    block = -(-len(plate) // ranks)
    for rank in range(ranks):
        axes.axhline(rank * block - 0.5, color="white", linewidth=0.8)
        node = rank * nodes // ranks
        axes.text(len(plate) * 0.98, (rank + 0.5) * block, f"rank {rank}, node {node}", color="white", ha="right")
    axes.set_title("heat in a plate whose left edge is hot", fontsize=10)
    figure.savefig(path, dpi=140)
    return path


def main() -> int:
    programs, folder, small = command_line(__doc__, "python")
    points, steps = (60, 100) if small else (160, 3000)
    print(f"Heat in a plate of {points} x {points} points, {steps} steps, by {from_here(PROGRAM)}:\n")
    expected = by_numpy(points, steps)
    for shape in SHAPES:
        run(programs, folder, shape, points, steps)
        plate = np.load(folder / "heat.npy")
        if not (plate == expected).all():
            raise BenchmarkError(f"{shape[0]} ranks on {shape[1]} nodes: the plate differs from NumPy's")
    picture = draw(folder / "plate.png", plate)
    print(f"\nAll have the bits of NumPy alone. Picture: {from_here(picture)}\nTry next: docs/python.md")
    return 0


if __name__ == "__main__":
    harness.main(main)
