"""`./dev demo`: runs the main job, checks its answer, compares it with its rivals, and draws pictures into out/demo.

The main job is apps/stencil3d on 4 ranks over 2 virtual nodes. Takes about 20 seconds on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import harness
import numpy as np
from harness import ROOT, BenchmarkError, Contestant, Samples
from matplotlib.figure import Figure

SIZE = 128
JOB_RANKS, JOB_NODES, JOB_STEPS = 4, 2, 1000
RIVAL_STEPS, RIVAL_ROUNDS = 100, 3

SMS, SMS_NODES, SMS_FAULTS = "sms", "sms over 2 nodes", "sms over 2 nodes, faults alone"  # stencil_ + first word


def from_here(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def command_line(about: str | None, name: str) -> tuple[Path, Path, bool]:
    """Reads that of a demo. Returns the folder with the programs, that for results, which is made if absent, and
    whether a small version is wanted."""
    preset = os.environ.get("DEV_PRESET", "dev")
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / preset, help="folder with the built programs")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "demo" / name, help="folder for results")
    parser.add_argument("--small", action="store_true", help="a quick version: checks that everything works")
    options = parser.parse_args()
    folder: Path = options.out.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return options.build.resolve() / "bin", folder, options.small


def main_job(programs: Path, folder: Path, steps: int) -> Path:
    """Runs it before the user's eyes; returns the file with the final field."""
    field = folder / "field.npy"
    command = [
        *(str(programs / "hirobarun"), "-n", str(JOB_RANKS), "--nodes", str(JOB_NODES)),
        *(str(programs / "stencil_sms"), "--size", str(SIZE), "--steps", str(steps)),
        *("--verify", "--progress", "--output", str(field)),
    ]
    shown = " ".join(word.replace(f"{programs}/", "").replace(str(field), from_here(field)) for word in command)
    print(
        f"The main job: heat spreads through {SIZE} x {SIZE} x {SIZE} points, on {JOB_RANKS} ranks over {JOB_NODES} "
        f"virtual nodes,\nwhich share nothing but pages that Hiroba moves between them.\n\n  $ {shown}",
        flush=True,
    )
    try:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=300, check=False).returncode
    except FileNotFoundError as error:
        raise BenchmarkError(f"there is no {error.filename}; build it first: ./dev build") from error
    except subprocess.TimeoutExpired as error:
        raise BenchmarkError("the main job did not finish in 300 s") from error
    if status != 0:
        raise BenchmarkError(f"the main job ended with exit status {status}")
    return field


def rank_counts(cores: int) -> list[int]:
    """1, 2, 4 .. up to the cores, and twice as many to see what happens then."""
    counts = [1]
    while counts[-1] < min(cores, 16):
        counts.append(min(2 * counts[-1], cores))
    return [*counts, 2 * counts[-1]]


def rivals(programs: Path, counts: list[int]) -> list[Contestant]:
    """One per kind and number of ranks (threads for omp), named by name_of."""
    options = ["--size", str(SIZE), "--steps", str(RIVAL_STEPS), "--verify", "--json"]
    with_mpi = (programs / "stencil_mpi").exists() and shutil.which("mpirun") is not None
    if not with_mpi:
        print("\nNo MPI here, so that rival is left out (Debian: apt install openmpi-bin libopenmpi-dev).")

    def contestant(kind: str, count: int, start: Sequence[str | Path], threads: int, *extra: str) -> Contestant:
        command = [*start, programs / f"stencil_{kind.split()[0]}", *options, *extra]
        return Contestant(name_of(kind, count), command, harness.threads(threads))

    def hirobarun(ranks: int, nodes: int) -> list[str | Path]:
        return [programs / "hirobarun", "-n", str(ranks), "--nodes", str(nodes), "--threads", "1"]

    found = [contestant("seq", 1, [], 1)]
    for count in counts:
        found.append(contestant("omp", count, [], count))
        if with_mpi:
            found.append(contestant("mpi", count, harness.mpirun(count), 1))
        found.append(contestant(SMS, count, hirobarun(count, 1), 1))
        if count >= JOB_NODES:
            over_nodes = hirobarun(count, JOB_NODES)
            found.append(contestant(SMS_NODES, count, over_nodes, 1))
            found.append(contestant(SMS_FAULTS, count, over_nodes, 1, "--no-preload"))
    return found


def name_of(kind: str, count: int) -> str:
    return json.dumps([kind, count])


def rivals_table(samples: Samples, count: int) -> str:
    """All kinds at one number of ranks, and the sequential program."""
    base = name_of("mpi", count) if name_of("mpi", count) in samples.runs else name_of("omp", count)
    rows = [["", "processes", "GLUP/s", "time / seq", f"time / {json.loads(base)[0]}", "faults", "fetched", "sent"]]
    for name, runs in samples.runs.items():
        kind, ranks = json.loads(name)
        if kind != "seq" and ranks != count:
            continue
        counters = runs[-1]["counters"]
        traffic = ["-"] * 3
        if counters:
            moved = (counters["bytes_fetched"] / 2**20, counters["bytes_sent"] / 2**20)
            traffic = [str(counters["read_faults"]), *(f"{mebibytes:.2f} MiB" for mebibytes in moved)]
        rows.append(
            [
                kind,
                {"seq": "1", "omp": f"1 x {ranks} threads"}.get(kind, str(ranks)),
                f"{samples.median(name, 'glups'):.3f}",
                f"{samples.ratio(name, name_of('seq', 1)):.3f}",
                f"{samples.ratio(name, base):.3f}",
                *traffic,
            ]
        )
    return harness.table(rows)


def draw_slice(field_file: Path, steps: int, path: Path) -> Path:
    """The plane through the middle of x at the start and at the end, and its difference from the exact solution."""
    field = np.load(field_file, mmap_mode="r")
    planes = field.shape[0]
    wave = np.arange(planes) * np.pi / (planes - 1)
    middle = planes // 2
    start = np.outer(np.sin(3 * wave), np.sin(2 * wave)) * np.sin(wave[middle])
    decay = (0.4 + 0.2 * sum(np.cos(mode * np.pi / (planes - 1)) for mode in (1, 2, 3))) ** steps
    end = np.asarray(field[:, :, middle])
    difference = end - decay * start

    figure = Figure(figsize=(13.5, 4.6), layout="constrained")
    all_axes = figure.subplots(1, 3, sharey=True)
    error = float(np.abs(difference).max()) or 1e-16
    pictures = [
        ("at the start", start, "RdBu_r", 1.0),
        (f"after {steps} steps, computed on {JOB_NODES} nodes", end, "RdBu_r", 1.0),
        ("computed minus exact", difference, "PuOr_r", error),
    ]
    piece = -(-planes // JOB_RANKS)
    for axes, (title, values, colours, limit) in zip(all_axes, pictures, strict=True):
        image = axes.imshow(values, origin="lower", cmap=colours, vmin=-limit, vmax=limit)
        if axes is not all_axes[0]:  # whose colours are those of the next
            figure.colorbar(image, ax=axes, shrink=0.9)
        axes.set_title(title)
        axes.set_xlabel("y")
        for rank in range(1, JOB_RANKS):
            between_nodes = rank * JOB_NODES % JOB_RANKS == 0
            axes.axhline(
                rank * piece - 0.5, color="black", lw=1.6 if between_nodes else 0.6, ls="-" if between_nodes else ":"
            )
    all_axes[0].set_ylabel("z")
    for rank in range(JOB_RANKS):
        middle_of_slab = (rank * piece + min((rank + 1) * piece, planes)) / 2
        node = rank * JOB_NODES // JOB_RANKS
        all_axes[1].text(
            planes * 0.985, middle_of_slab, f"rank {rank}, node {node}", ha="right", va="center", fontsize=8
        )
    figure.suptitle(f"Heat in a box of {SIZE}³ points: the plane x = {middle}, and whose memory it lies in")
    figure.savefig(path, dpi=140)
    return path


def draw_scaling(samples: Samples, counts: list[int], cores: int, path: Path) -> Path:
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.subplots()
    sequential = samples.median(name_of("seq", 1), "glups")
    for place, kind in enumerate(["mpi", "omp", SMS, SMS_NODES, SMS_FAULTS]):
        known = [count for count in counts if name_of(kind, count) in samples.runs]
        if not known:
            continue
        values = [samples.values(name_of(kind, count), "glups") for count in known]
        middle = [statistics.median(runs) for runs in values]
        low_high = [harness.quartiles(runs) for runs in values]
        bars = [
            [value - low for value, (low, _) in zip(middle, low_high, strict=True)],
            [high - value for value, (_, high) in zip(middle, low_high, strict=True)],
        ]
        axes.errorbar(
            [count * 2 ** (0.03 * (place - 2)) for count in known],  # side by side where they are equally fast
            middle,
            yerr=bars,
            label=kind,
            capsize=3,
            marker="osD^v"[place],
            color=harness.COLOURS[place],
            linewidth=2.2 if kind == SMS else 1.3,
        )
    axes.plot([1, cores], [sequential, sequential * cores], ls="--", color="grey", lw=1, label="seq x cores")
    axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.axvspan(cores * 2**0.08, counts[-1] * 2**0.15, color="grey", alpha=0.12, lw=0)
    axes.set_xlim(2**-0.15, counts[-1] * 2**0.15)
    axes.set_ylim(bottom=0)
    axes.text(counts[-1] * 2**0.12, 0.02, "more ranks than cores", ha="right", fontsize=8, color="dimgrey")
    axes.set_xlabel("ranks with one thread (omp: threads)")
    axes.set_ylabel("10⁹ points per second")
    axes.set_title(f"7-point stencil, {SIZE}³ points: the same loop, shared in different ways")
    axes.legend(frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=140)
    return path


NEXT = """
Try next
  eval "$(./dev env)"                            puts hirobarun, headers and libraries on this shell's paths
  hirobarun -n 2 stencil_sms --help              sizes, checkpoints, output
  edit the loop in apps/stencil3d/stencil_sms.c and run ./dev demo again; --verify will tell
  ./dev bench stencil3d                          the same contest, more rounds and sizes, against targets
"""


def run() -> int:
    programs, folder, small = command_line(__doc__, "")
    steps, rounds = (100, 1) if small else (JOB_STEPS, RIVAL_ROUNDS)
    field = main_job(programs, folder, steps)
    cores = len(os.sched_getaffinity(0))
    counts = rank_counts(cores)
    samples = harness.compete(rivals(programs, counts), rounds, "rivals,", warm_up=False)
    compared = min(max(cores, 2), counts[-1])
    print(
        f"\nIts rivals, on {cores} cores: the same loop, {RIVAL_STEPS} steps, each answer verified; medians of "
        f"{rounds} rounds\n\n{rivals_table(samples, compared)}\n"
    )
    pictures = [
        draw_slice(field, steps, folder / "slice.png"),
        draw_scaling(samples, counts, cores, folder / "scaling.png"),
    ]
    print("\n".join(f"picture: {from_here(picture)}" for picture in pictures))
    print(NEXT, end="")
    return 0


if __name__ == "__main__":
    harness.main(run)
