"""Puts, gets, strided puts and gets, accumulates and ping-pongs of coarrays, from 8 B to 16 MiB: on one node, and over
two virtual nodes on every layer that is here, beside MPI, ARMCI, GASNet and OpenCoarrays.

Every contestant compares every byte that it has moved, and those beside them, before it reports a time (pingpong.h).
With `--hosts`, two test hosts, too: the latency of a put beside that of the layer's own.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "transport"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "hosts"))
import harness
import layers
import perftest
from contestants import ELEMENT, OURS, Cases, Workshop, by_case
from harness import BenchmarkError, Contestant, Samples, Target
from hosts import Hosts, Unavailable
from layers import Layer

KINDS = {
    "put": "put",
    "get": "get",
    "put2": "put of every second double",
    "get2": "get of every second double",
    "accumulate": "accumulate",
    "pingpong": "ping-pong, one way",
    "word": "put of a word that the other side polls, one way",
    "copy": "memcpy in one process",
}
SIZES = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20]
SMALL_SIZES = [8, 4096]
MIB = 1 << 20
FLUSHED, SEEN, POLLED = "put 8", "pingpong 8", "word 8"  # over hosts
ROUNDS = "200"  # of these: whatever runs here, its first tenth of a second is up to half slower
LEAST_PAIRS = 9  # of two seconds each, and their ratios scatter by a tenth


def cases(sizes: Sequence[int], small: bool) -> Cases:
    """Ten rounds; what is strided is limited to 1 MiB, of which OpenCoarrays takes a quarter of a second."""
    found = []
    for kind in KINDS:
        if kind == "copy":  # comes with the puts
            continue
        for size in sizes if kind != "word" else [8]:
            strided = kind.endswith("2")
            if strided and size > MIB:
                continue
            found.append((kind, size, 1 if small else 10))
    return found


def run_cases(contestant: Contestant) -> dict[str, Any]:
    return harness.run_once(contestant)


def medians(samples: Samples) -> dict[str, dict[tuple[str, int], float]]:
    """Per contestant: seconds by case and bytes."""
    table = {}
    for name, runs in samples.runs.items():
        parts = [by_case(run) for run in runs]
        table[name] = {key: statistics.median(part[key] for part in parts) for key in parts[0]}
    return table


def size_text(size: float) -> str:
    for unit, scale in (("MiB", MIB), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} B"


def half_bandwidth(seconds: dict[tuple[str, int], float], kind: str) -> float:
    """The bytes at which half of the greatest bandwidth is first reached, on a straight line between two sizes."""
    points = sorted((size, size / value) for (name, size), value in seconds.items() if name == kind)
    half = max(speed for _, speed in points) / 2
    for (small, slow), (large, fast) in zip(points, points[1:], strict=False):
        if slow < half <= fast:
            return small + (half - slow) / (fast - slow) * (large - small)
    return points[0][0]


def show(found: dict[str, dict[tuple[str, int], float]]) -> None:
    for kind, title in KINDS.items():
        names = [name for name, part in found.items() if any(key[0] == kind for key in part)]
        sizes = sorted({size for part in found.values() for name, size in part if name == kind})
        rows = [[f"{title}: us", *names]]
        for size in sizes:
            values = (found[name].get((kind, size)) for name in names)
            rows.append([size_text(size), *("-" if v is None else f"{1e6 * v:.4g}" for v in values)])
        best = [max(size / v for (k, size), v in found[name].items() if k == kind) for name in names]
        rows.append(["best GB/s", *(f"{1e-9 * speed:.3g}" for speed in best)])
        if kind in ("put", "get", "pingpong"):
            rows.append(["half of it at", *(size_text(half_bandwidth(found[name], kind)) for name in names)])
        print(f"\n{harness.table(rows)}", flush=True)


def targets(samples: Samples, element: Samples) -> list[Target]:
    """What one node must reach."""

    def ratio(of: str, case: str, to: str, other: str) -> float:
        pairs = zip(samples.runs[of], samples.runs[to], strict=True)
        return statistics.median(a[case] / b[other] for a, b in pairs)

    strided, put, add = f"put2 {MIB}", f"put {16 * MIB}", f"accumulate {MIB}"
    reached = [
        Target("put of an element, image on the node", element.median(ELEMENT, "put ns"), 5, unit=" ns"),
        Target("get of an element, image on the node", element.median(ELEMENT, "get ns"), 5, unit=" ns"),
        Target(
            "put of 16 MiB, one node: bandwidth / memcpy",
            ratio(OURS, f"copy {16 * MIB}", OURS, put),
            0.95,
            at_most=False,
        ),
    ]
    if "caf" in samples.runs:
        case = f"get2 {MIB}"
        times = ratio("caf", case, OURS, case)
        reached.append(Target("get of every second double, 1 MiB: OpenCoarrays / ours", times, 40, at_most=False))
    rivals = [name for name in samples.runs if name != OURS and "nodes" not in name]
    if rivals:
        best = min(rivals, key=lambda name: samples.median(name, strided))
        what = f"put of every second double, 1 MiB: ours / {best}, the best of {', '.join(rivals)}"
        reached.append(Target(what, ratio(OURS, strided, best, strided), 0.9))
    reached.append(Target("accumulate / put, 1 MiB of doubles", ratio(OURS, add, OURS, f"put {MIB}"), 2))
    return reached


# ---- over hosts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Own:
    """What a layer itself needs for 8 bytes, and which of our cases is the same."""

    layer: str
    mpi: str  # starts both
    rival: str
    case: str
    what: str


# A put that the target sees: as ucp_put_lat, by a post behind it. A put that is complete for its origin: sync_memory,
# MPI_Win_flush, ARMCI_Fence, a blocking put. Open MPI has no puts over TCP, so its messages stand in for them.
OWN = [
    Own("ucx", "openmpi", perftest.PROGRAM, SEEN, "ucp_put_lat, one way"),
    Own("mpi-mpich", "mpich", "mpi, mpich", FLUSHED, "MPI_Put and flush"),
    Own("gasnet-openmpi", "openmpi", "gasnet", FLUSHED, "gex_RMA_PutBlocking"),
    Own("armci-mpich", "mpich", "armci, mpich", FLUSHED, "ARMCI_Put and fence"),
    Own("mpi-openmpi", "openmpi", "mpi", SEEN, "a message, for it has no puts over TCP"),
]


def over_hosts(workshop: Workshop, hosts: Hosts, layer: Layer, own: Own, rounds: int) -> Samples | None:
    """8 bytes between two hosts, ours beside the layer's own; None if the rival could not be compiled."""
    rival: Contestant
    if own.rival == perftest.PROGRAM:
        rival = perftest.rivals(hosts, False)["put"]
    elif own.rival in workshop.programs:
        binary = str(workshop.binary(workshop.programs[own.rival]))
        rival = Contestant(own.rival, *hosts.mpirun(own.mpi, [1, 1], [binary, *own.case.split(), ROUNDS]))
    else:
        return None
    settings = {"HIROBA_TRANSPORT": layer.options[1], "HIROBA_PLUGINS": str(workshop.build / "lib" / "hiroba")}
    binary = str(workshop.binary(workshop.programs[OURS]))
    words = [word for case in (FLUSHED, SEEN, POLLED) for word in (*case.split(), ROUNDS)]
    ours = Contestant(OURS, *hosts.mpirun(own.mpi, [1, 1], [binary, *words], harness.threads(1) | settings))

    def run(contestant: Contestant) -> dict[str, Any]:
        result = perftest.run(contestant, harness.CONTESTANT_SECONDS)
        one_way = result.get("one way us")
        return {own.case: 1e-6 * one_way} if one_way is not None else result

    return harness.compete([ours, rival], max(rounds, LEAST_PAIRS), f"{layer.name}, 2 hosts", run)


def hosts_targets(workshop: Workshop, chosen: list[Layer], rounds: int, kept: dict[str, Samples]) -> list[Target]:
    reached = []
    rows = [["8 B between 2 hosts: us", "put, sync_memory", "put, post", "put, polled", "the layer's own", ""]]
    with contextlib.ExitStack() as stack:
        try:
            hosts = stack.enter_context(Hosts(2))
        except Unavailable as error:
            raise BenchmarkError(f"{error}; leave out --hosts") from error
        by_name = {layer.name: layer for layer in chosen}
        for own in OWN:
            if (layer := by_name.get(own.layer)) is None:
                continue
            if (part := over_hosts(workshop, hosts, layer, own, rounds)) is None:
                continue
            kept[f"{layer.name}, 2 hosts"] = part
            ours, theirs = 1e6 * part.median(OURS, own.case), 1e6 * part.median(own.rival, own.case)
            times = [f"{1e6 * part.median(OURS, case):.3g}" for case in (FLUSHED, SEEN, POLLED)]
            rows.append([layer.name, *times, f"{theirs:.3g}", own.what])
            what = f"{layer.name}, 2 hosts: put of 8 B ({ours:.1f} us) / {own.what} ({theirs:.1f} us)"
            reached.append(Target(what, part.ratio(OURS, own.rival, own.case), 1.1))
    print(f"\n{harness.table(rows)}", flush=True)
    return reached


# ---- the picture, and the whole --------------------------------------------------------------------------------------


def picture(path: Path, samples: Samples, kinds: Sequence[str]) -> Path:
    """Time above, bandwidth below, over the size; bands are the quartiles of the rounds."""
    from matplotlib.figure import Figure  # here, for it takes a second and not every caller draws

    figure = Figure(figsize=(1 + 4.6 * len(kinds), 8.4), layout="constrained")
    grid = figure.subplots(2, len(kinds), squeeze=False)
    for column, kind in enumerate(kinds):
        for place, (name, runs) in enumerate(samples.runs.items()):
            parts = [by_case(run) for run in runs]
            sizes = sorted(size for case, size in parts[0] if case == kind)
            if not sizes:
                continue
            colour = harness.COLOURS[place % len(harness.COLOURS)]
            dash = "--" if "nodes" in name else "-"
            bands = [harness.quartiles([part[kind, size] for part in parts]) for size in sizes]
            middle = [statistics.median(part[kind, size] for part in parts) for size in sizes]
            for row, scale in ((0, lambda size, value: 1e6 * value), (1, lambda size, value: 1e-9 * size / value)):
                axes = grid[row][column]
                axes.plot(sizes, list(map(scale, sizes, middle)), dash, color=colour, marker=".", label=name)
                low, high = ([band[end] for band in bands] for end in (0, 1))
                axes.fill_between(
                    sizes, list(map(scale, sizes, low)), list(map(scale, sizes, high)), color=colour, alpha=0.2
                )
        grid[0][column].set_title(KINDS[kind], fontsize=10)
    for row, text in enumerate(("us", "GB/s")):
        grid[row][0].set_ylabel(text)
        for axes in grid[row]:
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.spines[["top", "right"]].set_visible(False)
    for axes in grid[1]:
        axes.set_xlabel("bytes")
    grid[0][0].legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140)
    return path


def run() -> int:
    parser = harness.arguments(__doc__ or "")
    parser.add_argument("--layer", action="append", default=[], help="only these layers")
    parser.add_argument("--hosts", action="store_true", help="over two test hosts, too")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.small else 5)

    layers.allow_root()
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    workshop = Workshop(options.build)
    for line in workshop.left_out:
        print(line)
    chosen = [layer for layer in layers.known(workshop.build) if not options.layer or layer.name in options.layer]
    print(f"layers: {', '.join(layer.name for layer in chosen)}; {rounds} rounds, medians")

    wanted = cases(SMALL_SIZES if options.small else SIZES, options.small)
    teams = [workshop.ours(wanted), *workshop.rivals(wanted), *(workshop.ours(wanted, layer) for layer in chosen)]
    samples = harness.compete(teams, rounds, "moving", run_cases)
    element = harness.compete([workshop.element()], rounds, "elements", run_cases)
    show(medians(samples))

    kept = {"moving": samples, "elements": element}
    reached = [] if options.small else targets(samples, element)
    if options.hosts:
        reached += hosts_targets(workshop, chosen, rounds, kept)
    print("" if options.small else "\nTargets")
    for target in reached:
        print(target.line())
    around["left_out"] = workshop.left_out
    name = "pingpong_small" if options.small else "pingpong"
    shown = picture(options.out / f"{name}.png", samples, ["put", "get", "put2", "accumulate"])
    print(f"\nkept in {harness.write(options.out, name, around, kept, reached)} and {shown}")
    return 0


if __name__ == "__main__":
    harness.main(run)
