"""Programs over shared memory that are the same for threads and for ranks: sort, md, workqueue, fft3d.

For each, with 2 threads or 2 ranks: one thread alone, OpenMP, MPI, Hiroba on one node and over two virtual nodes; and
std::sort, and FFTW with threads. Every program verifies a smaller answer first, and what must be equal is compared in
every run. It says how many lines each program has.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import count
import harness
from harness import BenchmarkError, Checked, Contestant, Samples, Target

APPS_FOLDER = Path(__file__).resolve().parents[2] / "apps"
RANKS = 2
OMP, HIROBA, TWO_NODES = "omp", "hiroba", "hiroba, 2 nodes"
NOISE = 1.03  # one node must not be slower than OpenMP, within the noise of this machine


@dataclass(frozen=True)
class App:
    """A program: the options of the problem to time, and of the one to verify."""

    name: str
    problem: Sequence[str]
    small: Sequence[str]
    limit: float | None  # of two virtual nodes / one node
    shared: Sequence[str]  # files that the variants over shared memory have in common
    same_bits: bool = True
    alone: Sequence[str] = ("serial",)  # variants of one thread
    threaded: Sequence[str] = (OMP,)


APPS = {
    app.name: app
    for app in (
        App("sort", ("--size", "8388608", "--steps", "5"), ("--size", "100003", "--keys", "skewed"), 2.0,
            ("together.c", "radix.c"), alone=("serial", "std")),
        App("md", ("--size", "21", "--steps", "50"), ("--size", "6", "--steps", "20"), 1.5, ("phases.c",)),
        App("workqueue", ("--tree", "binomial"), ("--size", "7"), None, ("worker.c",)),
        App("fft3d", ("--size", "128", "--steps", "20", "--plan", "measure"), ("--size", "30"), 1.3, ("slabs.c",),
            same_bits=False, threaded=(OMP, "threads")),
    )
}  # fmt: skip


def contestants(build: Path, app: App, words: Sequence[str]) -> list[Contestant]:
    """All variants that are built, the one to compare with first."""
    programs = build / "bin"
    environment = harness.threads(RANKS)

    def program(variant: str) -> Path:
        return programs / f"{app.name}_{variant}"

    started: dict[str, list[str | Path]] = {OMP: [program(OMP)]}
    started |= {variant: [program(variant)] for variant in (*app.threaded, *app.alone)}
    for nodes, name in enumerate((HIROBA, TWO_NODES), 1):
        shape = ["-n", str(RANKS), "--nodes", str(nodes), "--threads", "1"]
        started[name] = [programs / "hirobarun", *shape, program("hiroba")]
    if program("mpi").exists():
        started["mpi"] = [*harness.mpirun(RANKS), program("mpi")]
    return [
        Contestant(name, [*launch, *words, "--json", "-"], {} if name in app.alone else environment)
        for name, launch in started.items()
        if Path(launch[-1]).exists()
    ]


def code_lines(app: App, files: Sequence[str]) -> int:
    return sum(count.count_text((APPS_FOLDER / app.name / file).read_text(), "").lines for file in files)


def lines_of(app: App, name: str) -> str:
    """Of the variant's own file, and of those that it shares with the other variant over shared memory."""
    variant = name.partition(",")[0]
    own = next((APPS_FOLDER / app.name).glob(f"{app.name}_{variant}.c*")).name
    shared = f" + {code_lines(app, app.shared)}" if variant in (OMP, HIROBA) else ""
    return f"{code_lines(app, [own])}{shared}"


def show(app: App, samples: Samples) -> None:
    rows = [["", "ms a step", "spread", f"time / {OMP}", f"time / {HIROBA}", "rate", "lines"]]
    for name, runs in samples.runs.items():
        rows.append([
            name,
            f"{1e3 * samples.median(name) / runs[0]['steps']:.2f}",
            f"{100 * samples.spread(name):.0f} %",
            f"{samples.ratio(name, OMP):.3f}",
            f"{samples.ratio(name, HIROBA):.3f}",
            f"{samples.median(name, 'rate'):.4f} {runs[0]['unit']}",
            lines_of(app, name),
        ])  # fmt: skip
    print(f"\n{app.name} {' '.join(app.problem)}\n{harness.table(rows)}", flush=True)


def targets(app: App, samples: Samples) -> list[Target]:
    if app.limit is None:
        return []
    return [
        Target(f"{app.name}: 2 virtual nodes / one node", samples.ratio(TWO_NODES, HIROBA), app.limit),
        Target(f"{app.name}: one node / OpenMP", samples.ratio(HIROBA, OMP), NOISE),
    ]


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--app", action="append", choices=APPS, help="only these (default: all that are built)")
    options = parser.parse_args()
    built = [name for name in APPS if (options.build / "bin" / f"{name}_hiroba").exists()]
    names = options.app or built
    if not names or any(name not in built for name in names):
        raise BenchmarkError(f"not all of {', '.join(names or APPS)} are built in {options.build}: ./dev build")
    rounds = options.rounds or (1 if options.small else 7)

    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    print(f"{rounds} rounds, {RANKS} threads or ranks; medians, and the distance of the quartiles as spread")
    samples: dict[str, Samples] = {}
    reached: list[Target] = []
    for name in names:
        app = APPS[name]
        small = contestants(options.build, app, [*app.small, "--verify"])
        samples[name] = harness.compete(small, 1, f"{name}, verified", Checked(app.same_bits), warm_up=False)
        if options.small:
            show(app, samples[name])
            continue
        timed = contestants(options.build, app, app.problem)
        samples[name] = harness.compete(timed, rounds, name, Checked(app.same_bits))
        show(app, samples[name])
        reached += targets(app, samples[name])

    print("\nTargets" if reached else "")
    for target in reached:
        print(target.line())
    panels = {name: {other: part.ratios(other, OMP) for other in part.runs} for name, part in samples.items()}
    name = "_".join(["shared", *(options.app or []), *(["small"] if options.small else [])])
    heading = f"Shared memory for threads and for ranks ({RANKS}); lower is better"
    picture = harness.plot(
        options.out / f"{name}.png", heading, panels, f"time / time of {OMP}", 1.0, columns=2, sharey=False
    )
    print(f"\nkept in {harness.write(options.out, name, around, samples, reached)} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
