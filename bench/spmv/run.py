"""Sparse matrix times vector, again and again: a loop whose subscripts stand in an array (`x[column[k]]`), declared
`repeat`, against a hand-written gather in MPI, OpenMP, and one thread alone.

The matrix has the 27 points of a grid, in CSR. The clock starts behind the first two passes. Before any time is taken,
and in every run, each program must print the checksum of serial.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Samples, Target
from workshop import HIROBA, MPI, SEQUENTIAL, THREADS, Program, Workshop, name_of

FOLDER = Path(__file__).resolve().parent
PROGRAMS = [
    Program("serial", FOLDER / "omp.c", "cc", SEQUENTIAL),
    Program("omp", FOLDER / "omp.c", "cc", THREADS),
    Program("mpi", FOLDER / "mpi.c", "mpicc", MPI, "libopenmpi-dev"),
    Program("smint", FOLDER / "smint.c", "hirobacc", HIROBA),
]
RIVAL = "mpi"
TOLERANCE = 1e-11  # relative: ranks and threads add up in another order
SIZES = {32: 600, 64: 60}  # points per dimension: steps, for some tenths of a second
SMALL_SIZES = {12: 20}
SHAPES = [(2, (1, 2)), (4, (1, 2))]  # ranks, and over how many nodes
SMALL_SHAPES = [(2, (1, 2)), (3, (1, 3))]


def checked(contestant: Contestant, checksum: float) -> dict[str, Any]:
    """One run, of which the checksum is right."""
    result = harness.run_once(contestant)
    if not abs(result["checksum"] - checksum) <= TOLERANCE * abs(checksum):
        raise BenchmarkError(f"{contestant.name} computes {result['checksum']!r}, not {checksum!r}: {result}")
    return result


def compete(workshop: Workshop, size: int, steps: int, ranks: int, nodes: tuple[int, ...], rounds: int) -> Samples:
    by_name = {program.name: program for program in workshop.programs}
    alone = workshop.start(by_name["serial"], size, steps, ranks=1)
    assert alone is not None
    found = [workshop.start(p, size, steps, ranks, n) for p in workshop.programs if p.name != "serial" for n in nodes]
    teams = [alone, *(contestant for contestant in found if contestant is not None)]
    checksum = harness.run_once(alone)["checksum"]
    for contestant in teams:
        checked(contestant, checksum)
    return harness.compete(teams, rounds, label(size, ranks), lambda contestant: checked(contestant, checksum))


def label(size: int, ranks: int) -> str:
    return f"{size}^3, {ranks} ranks"


def show(title: str, samples: Samples) -> None:
    rows = [["", "us/step", "spread", f"time / {RIVAL}"]]
    for name, runs in samples.runs.items():
        rows.append([
            name,
            f"{1e6 * samples.median(name) / runs[0]['steps']:.1f}",
            f"{100 * samples.spread(name):.0f} %",
            f"{samples.ratio(name, RIVAL):.3f}",
        ])  # fmt: skip
    print(f"\n{title}\n{harness.table(rows)}", flush=True)


def targets(title: str, samples: Samples) -> list[Target]:
    """What must be reached: time of smint / time of the MPI gather."""
    over_nodes = name_of("smint", 2)
    more = 1e6 * (samples.median(over_nodes) - samples.median("smint")) / samples.runs["smint"][0]["steps"]
    why = {
        "smint": "a barrier of all a step, where mpi waits for its neighbours only",
        over_nodes: f"{more:.0f} us a step more than on one node",
    }
    return [
        Target(f"{title}: {name} / {RIVAL}", samples.ratio(name, RIVAL), 1.1, why_not=why_not)
        for name, why_not in why.items()
    ]


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--size", type=int, action="append", help="only these sizes (32, 64)", choices=SIZES)
    options = parser.parse_args()
    sizes = SMALL_SIZES if options.small else {size: SIZES[size] for size in options.size or SIZES}
    shapes = SMALL_SHAPES if options.small else SHAPES
    rounds = options.rounds or (1 if options.small else 7)

    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    workshop = Workshop(options.build, "spmv", PROGRAMS)
    if workshop.left_out:
        raise BenchmarkError("\n".join(workshop.left_out))
    print(f"{rounds} rounds, one thread a rank (omp: as many threads as ranks); medians, and the quartiles' distance")
    samples: dict[str, Samples] = {}
    reached: list[Target] = []
    for size, steps in sizes.items():
        workshop.compile(size)
        for ranks, nodes in shapes:
            title = label(size, ranks)
            samples[title] = compete(workshop, size, steps, ranks, nodes, rounds)
            show(title, samples[title])
            reached += targets(title, samples[title]) if ranks == 2 and not options.small else []

    print("" if options.small else "\nTargets")
    for target in reached:
        print(target.line())
    panels = {title: {name: part.ratios(name, RIVAL) for name in part.runs} for title, part in samples.items()}
    name = "spmv_small" if options.small else "spmv"
    heading = "Sparse matrix times vector, 27 points (lower is better)"
    picture = harness.plot(options.out / f"{name}.png", heading, panels, "time / time of MPI", 1.0, columns=2)
    print(f"\nkept in {harness.write(options.out, name, around, samples, reached)} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
