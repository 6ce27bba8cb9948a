"""Collective operations that block, 8 bytes to 8 MiB, against those of Open MPI and MPICH.

Two ranks on this machine: Hiroba on shared memory (shared) and on memory of malloc (private), and over two virtual
nodes (virtual). --hosts: two test hosts with a rank each, over each MPI and UCX, against the MPIs on that network.
Every program checks the answers before it takes times (collective.h); a figure is the median over rounds of the time
by the best MPI's in the same round.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "hosts"))
import harness
import mpi
from harness import BenchmarkError, Contestant, Samples, Target
from hosts import Hosts, Unavailable

MPIS = ("openmpi", "mpich")
OPERATIONS = ("allreduce", "alltoall", "bcast", "allgather")
SECONDS, SMALL_SECONDS = "0.03", "0.002"  # for each operation and size
MOST, SMALL_MOST = str(1 << 20), str(1 << 12)  # doubles
ON_NODE, BETWEEN_HOSTS = 0.9, 1.05


def programs(build: Path) -> Path:
    return build / "bench" / "collective"


def rivals_here(build: Path, words: list[str], ranks: int) -> list[Contestant]:
    contestants = []
    for kind in MPIS:
        if (program := programs(build) / f"collective_{kind}").exists():
            launch = [mpi.launcher(kind), "-n", str(ranks), *(harness.mpirun(ranks)[3:] if kind == "openmpi" else [])]
            contestants.append(Contestant(kind, [*launch, program, *words]))
    if not contestants:
        raise BenchmarkError("there is no MPI to compare with (Debian: libopenmpi-dev, libmpich-dev)")
    return contestants


def here(build: Path, words: list[str], ranks: int = 2) -> list[Contestant]:
    launch: list[str | Path] = [build / "bin" / "hirobarun", "-n", str(ranks)]
    ours = [
        Contestant("shared", [*launch, programs(build) / "collective_shared", *words]),
        Contestant("private", [*launch, programs(build) / "collective_private", *words]),
        Contestant("virtual", [*launch, "--nodes", "2", programs(build) / "collective_shared", *words]),
    ]
    return [*ours, *rivals_here(build, words, ranks)]


def between(hosts: Hosts, build: Path, words: list[str]) -> list[Contestant]:
    contestants = []
    for kind in (*MPIS, "ucx"):
        launcher = "openmpi" if kind == "ucx" else kind
        settings = {
            "HIROBA_PLUGINS": str(build / "lib" / "hiroba"),
            "HIROBA_TRANSPORT": "ucx" if kind == "ucx" else "mpi",
        }
        if not (build / "lib" / "hiroba" / f"wire-{'ucx' if kind == 'ucx' else f'mpi-{kind}'}.so").exists():
            continue
        ours = [str(programs(build) / "collective_private"), *words]
        command, environment = hosts.mpirun(launcher, [1, 1], ours, settings)
        contestants.append(Contestant(f"hiroba {kind}", command, environment))
        if kind != "ucx":
            command, environment = hosts.mpirun(kind, [1, 1], [str(programs(build) / f"collective_{kind}"), *words], {})
            contestants.append(Contestant(kind, command, environment))
    return contestants


def against_best(samples: Samples, name: str, metric: str) -> list[float]:
    """name / the fastest MPI, round by round."""
    rivals = [samples.values(kind, metric) for kind in MPIS if kind in samples.runs]
    return [a / min(best) for a, best in zip(samples.values(name, metric), zip(*rivals, strict=True), strict=True)]


def sizes(samples: Samples, operation: str) -> list[int]:
    first = next(iter(samples.runs.values()))[0]
    return [int(key.partition("_")[2]) for key in first if key.partition("_")[0] == operation]


def show(samples: Samples, ours: list[str]) -> None:
    rows = [["us", *samples.runs, *(f"{name} / best" for name in ours)]]
    for operation in (*OPERATIONS, "barrier"):
        for size in sizes(samples, operation):
            metric = f"{operation}_{size}"
            times = [f"{1e6 * samples.median(name, metric):.2f}" for name in samples.runs]
            ratios = [f"{statistics.median(against_best(samples, name, metric)):.2f}" for name in ours]
            rows.append([f"{operation} {size} B" if size > 8 or operation != "barrier" else "barrier", *times, *ratios])
    print(harness.table(rows))


def targets_here(samples: Samples) -> list[Target]:
    found = []
    for operation in OPERATIONS:
        for size in sizes(samples, operation):
            ratio = statistics.median(against_best(samples, "shared", f"{operation}_{size}"))
            found.append(Target(f"{operation} {size} B, one node / the best MPI's", ratio, ON_NODE))
    for what, limit in (("allreduce_1048576", 100e-6), ("allreduce_8192", 2.5e-6), ("barrier_8", 0.5e-6)):
        if what in samples.runs["shared"][0]:
            found.append(Target(what.replace("_", " "), 1e6 * samples.median("shared", what), 1e6 * limit, unit=" us"))
    for operation in ("allreduce", "alltoall"):
        metric = f"{operation}_1048576"
        if metric in samples.runs["shared"][0]:
            ratio = statistics.median(
                a / b for a, b in zip(samples.values("virtual", metric), samples.values("shared", metric), strict=True)
            )
            found.append(Target(f"{operation} 1 MiB, 2 virtual nodes / one node", ratio, 1.5))
    return found


def run() -> int:
    parser = harness.arguments(__doc__ or "")
    parser.add_argument("--hosts", action="store_true", help="between two test hosts")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.small else 5)
    words = [SMALL_SECONDS, SMALL_MOST] if options.small else [SECONDS, MOST]
    for consent in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        os.environ.setdefault(consent, "1")
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}")
    if options.hosts:
        try:
            with Hosts(2) as hosts:
                samples = harness.compete(between(hosts, options.build, words), rounds, "two hosts")
        except Unavailable as error:
            raise BenchmarkError(str(error)) from error
        ours = [name for name in samples.runs if name.startswith("hiroba")]
        targets = [
            Target(
                f"{operation} {size} B, two hosts / the best MPI's",
                min(statistics.median(against_best(samples, name, f"{operation}_{size}")) for name in ours),
                BETWEEN_HOSTS,
            )
            for operation in OPERATIONS
            for size in sizes(samples, operation)
        ]
    else:
        samples = harness.compete(here(options.build, words), rounds, "one node")
        ours = ["shared", "private", "virtual"]
        targets = [] if options.small else targets_here(samples)
    show(samples, ours)
    if targets and not options.small:
        print("\nTargets")
        for target in targets:
            print(target.line())
    name = f"collective{'_hosts' if options.hosts else ''}{'_small' if options.small else ''}"
    shown = [size for size in sizes(samples, "allreduce") if size in (8, 8192, 131072, 2097152)]
    panels = {
        f"{operation} {size} B": {one: against_best(samples, one, f"{operation}_{size}") for one in ours}
        for operation in OPERATIONS
        for size in shown
    }
    picture = harness.plot(
        options.out / f"{name}.png", "Collective operations: time / the best MPI's", panels, "", 1.0, columns=len(shown)
    )
    kept = harness.write(options.out, name, around, {"collective": samples}, targets)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
