"""What it costs to have MPI's messages as tasks: tasks that end when their requests are complete (task_mpi.h), beside
tasks that wait in MPI_Waitall, and beside MPI without tasks.

Two ranks exchange blocks and update them; every contestant checks every word after the last step. Tasks that wait in
MPI need a thread for each message under way: with fewer of them a program may stand still, which is reported as such.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Samples

WAYS = {"messages": "MPI alone", "blocking": "tasks, MPI_Waitall", "ended_by_mpi": "tasks, hiroba_mpi_iwaitall"}
SHAPES = {"1 thread": 1, "2 threads": 2}  # of each of the 2 ranks
# Blocks, bytes and microseconds of work of each.
CASES = [(16, 64, 0), (16, 8192, 0), (16, 8192, 20)]
LIMIT = 20.0  # seconds


def contestants(programs: Path, threads: int, blocks: int, size: int, steps: int, work: int) -> list[Contestant]:
    found = []
    for name, words in WAYS.items():
        turns = max(20, steps // 10) if name == "blocking" else steps  # it takes up to a hundred times as long
        problem = [str(number) for number in (blocks, size, turns, work)]
        command: list[str | Path] = [*harness.mpirun(2), programs / f"mpitasks_{name}", *problem]
        found.append(Contestant(words, command, harness.threads(threads)))
    return found


def compete(everyone: list[Contestant], rounds: int, label: str) -> tuple[Samples, list[str]]:
    """Of those that end in each round; and the names of those that once stood still."""
    still: list[str] = []

    def run_once(contestant: Contestant) -> dict[str, Any]:
        try:
            return harness.run_once(contestant, LIMIT)
        except BenchmarkError as error:
            if "not finished" in str(error):
                still.append(contestant.name)
            raise

    while True:
        known = len(still)
        try:
            return harness.compete([one for one in everyone if one.name not in still], rounds, label, run_once), still
        except BenchmarkError:
            if len(still) == known:
                raise


def run() -> int:
    options = harness.arguments(__doc__).parse_args()
    programs = options.build / "bench" / "mpitasks"
    rounds = options.rounds or (1 if options.small else 7)
    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    print(f"{rounds} rounds; medians of us per block and step, and the distance of the quartiles")
    samples: dict[str, Samples] = {}
    rows: list[list[str]] = [["", *WAYS.values()]]
    for blocks, size, work in CASES:
        steps = 20 if options.small else 1000 if work == 0 else 400
        for shape, threads in SHAPES.items():
            label = f"{blocks} blocks of {size} B, {work} us of work, {shape}"
            everyone = contestants(programs, threads, blocks, size, steps, work)
            samples[label], still = compete(everyone, rounds, label)
            rows.append([label, *(cell(samples[label], name, still) for name in WAYS.values())])
    print(harness.table(rows))
    more: dict[str, Any] = {"rows": rows}
    name = "mpitasks_small" if options.small else "mpitasks"
    print(f"\nkept in {harness.write(options.out, name, around, samples, [], more)}")
    return 0


def cell(samples: Samples, name: str, still: list[str]) -> str:
    if name in still:
        return "stands still"
    return f"{1e6 * samples.median(name, 'per_message'):.2f} ({100 * samples.spread(name):.0f} %)"


if __name__ == "__main__":
    harness.main(run)
