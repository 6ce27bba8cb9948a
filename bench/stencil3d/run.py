"""The stencil over shared arrays against MPI+OpenMP with a hand-written halo exchange, and against OpenMP alone.

Every run verifies its answer against the exact solution; a wrong one ends the benchmark.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import Contestant, Samples, Target

SIZES = {64: 2000, 128: 300, 256: 30}  # points per dimension: steps, for a few tenths of a second each
SMALL_SIZES = {48: 40}


def teams(build: Path, size: int, steps: int) -> dict[str, list[Contestant]]:
    """The contestants that meet, by the shape of the job. The first of each is what ratios are taken against."""
    programs = build / "bin"
    options = ["--size", str(size), "--steps", str(steps), "--verify", "--json"]

    def mpi(ranks: int, threads: int) -> Contestant:
        command: list[str | Path] = [*harness.mpirun(ranks), programs / "stencil_mpi", *options]
        return Contestant("mpi", command, harness.threads(threads))

    def sms(name: str, ranks: int, threads: int, nodes: int, *extra: str) -> Contestant:
        shape = ["-n", str(ranks), "--nodes", str(nodes), "--threads", str(threads)]
        command: list[str | Path] = [programs / "hirobarun", *shape, programs / "stencil_sms", *options, *extra]
        return Contestant(name, command, harness.threads(threads))

    omp = Contestant("omp", [programs / "stencil_omp", *options], harness.threads(2))
    return {
        "2 ranks x 1 thread": [
            mpi(2, 1),
            omp,
            sms("sms", 2, 1, 1),
            sms("sms, 2 nodes, preload", 2, 1, 2),
            sms("sms, 2 nodes, faults", 2, 1, 2, "--no-preload"),
        ],
        "1 rank x 2 threads": [mpi(1, 2), omp, sms("sms", 1, 2, 1)],
    }


def targets(size: int, shape: str, samples: Samples) -> list[Target]:
    """What must be reached: time of sms / time of MPI+OpenMP. On one node, OpenMP in one process shows what is left of
    MPI's time without halos, messages and barriers between processes: sms cannot win more than that."""
    limits = {"sms": 0.97, "sms, 2 nodes, preload": 1.05, "sms, 2 nodes, faults": 1.3}
    physical = (
        f"one process with OpenMP alone, which copies nothing, takes {samples.ratio('omp', 'mpi'):.3f} of MPI's time"
    )
    steps = samples.runs["sms"][0]["steps"]

    def why_not(name: str) -> str:
        more = 1e6 * (samples.median(name) - samples.median("sms")) / steps
        return f"{more:.0f} us a step more than on one node: taking pages away, fetching and showing them again"

    return [
        Target(
            f"{size}^3, {shape}: {name} / mpi",
            samples.ratio(name, "mpi"),
            limit,
            why_not=physical if name == "sms" else why_not(name),
        )
        for name, limit in limits.items()
        if name in samples.runs
    ]


def show(label: str, samples: Samples) -> None:
    rows = [["", "us/step", "spread", "GLUP/s", "time / mpi", "faults/step", "KiB/step"]]
    for name, runs in samples.runs.items():
        steps = runs[0]["steps"]
        counters = runs[-1]["counters"]
        moved = (counters.get("bytes_fetched", 0) + counters.get("bytes_sent", 0)) / 1024
        rows.append(
            [
                name,
                f"{1e6 * samples.median(name) / steps:.1f}",
                f"{100 * samples.spread(name):.0f} %",
                f"{samples.median(name, 'glups'):.3f}",
                f"{samples.ratio(name, 'mpi'):.3f}",
                f"{counters.get('read_faults', 0) / steps:.1f}",
                f"{moved / steps:.1f}",
            ]
        )
    print(f"\n{label}\n{harness.table(rows)}", flush=True)


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--size", type=int, action="append", help="only these sizes (64, 128, 256)", choices=SIZES)
    options = parser.parse_args()
    sizes = SMALL_SIZES if options.small else {size: SIZES[size] for size in options.size or SIZES}
    rounds = options.rounds or (2 if options.small else 7)

    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    print(f"{rounds} rounds; medians, and the distance of the quartiles as spread")
    samples: dict[str, Samples] = {}
    reached: list[Target] = []
    for size, steps in sizes.items():
        for shape, contestants in teams(options.build, size, steps).items():
            label = f"{size}^3, {shape}"
            samples[label] = harness.compete(contestants, rounds, label)
            show(label, samples[label])
            reached += [] if options.small else targets(size, shape, samples[label])

    print("" if options.small else "\nTargets")
    for target in reached:
        print(target.line())
    panels = {label: {name: part.ratios(name, "mpi") for name in part.runs} for label, part in samples.items()}
    name = "stencil3d_small" if options.small else "stencil3d"
    title = "7-point stencil (lower is better)"
    picture = harness.plot(options.out / f"{name}.png", title, panels, "time / time of MPI+OpenMP", 1.0, columns=2)
    print(f"\nkept in {harness.write(options.out, name, around, samples, reached)} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
