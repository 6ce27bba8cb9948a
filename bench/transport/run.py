"""The transport over a network, and what stands on it, against what an MPI program gets from the same network.

Two test hosts (tests/hosts), one rank on each; --virtual, and --small, take two virtual nodes on this machine instead,
where MPI moves everything through shared memory. Done for each MPI found, and for UCX if its plug-in is there.
Programs: ours.cpp (Hiroba) and mpi.c (the rival); their source says what each case measures and checks.
"""

from __future__ import annotations

import contextlib
import os
import signal
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "hosts"))
import harness
import mpi
import perftest
from harness import BenchmarkError, Contestant, Samples, Target
from hosts import Hosts, Unavailable

MPIS = ("openmpi", "mpich")
# Cases with count and rounds, for a second or so each. Small: the same, hardly more than once.
Cases = dict[str, tuple[int, int]]
# Half a second: whatever runs over hosts, its first tenth of a second is up to half slower.
LATENCY: Cases = {"put": (500, 100), "get": (500, 100)}
LATENCY_8K: Cases = {"put-8k": (500, 20)}
DEPENDENCE: Cases = {"": (100, 100)}  # trips of a round fit into the tasks that may be under way (option task-window)
BANDWIDTH: Cases = {"put-bandwidth": (16, 5), "get-bandwidth": (16, 5)}
BANDWIDTH_AGAIN: Cases = {"put-again": (100, 5), "get-again": (100, 5)}  # as ucx_perftest: always the same 4 MiB
FAULTS: Cases = {"faults": (1024, 5)}
SEQUENTIAL: Cases = {"sequential": (64, 5)}
BARRIERS: Cases = {"empty-barrier": (500, 5), "dirty-barrier": (10000, 5), "notices-barrier": (10000, 5)}
IDLE_SECONDS, SMALL_IDLE_SECONDS = 10, 2
SIZES, SMALL_SIZES = {64: 2000, 128: 500, 256: 100, 400: 40}, {48: 40}  # of the stencil: steps
STARTING_RANKS = 32
TRIES, TRY_SECONDS = 4, 30


def shrunk(cases: Cases) -> Cases:
    return {name: (max(4, count // 16), 1) for name, (count, _) in cases.items()}


@dataclass
class Place:
    """Where jobs of two ranks run, and how they are started there."""

    build: Path
    hosts: Hosts | None  # none: virtual nodes
    small: bool

    def program(self, name: str) -> Path:
        return self.build / "bench" / "transport" / name

    def start(self, kind: str, name: str, command: list[str | Path], settings: dict[str, str]) -> Contestant:
        """A program that needs no more than the MPI's own launcher; so does ours, between hosts."""
        if self.hosts is None:
            launch = mpirun(kind, 2)
            return Contestant(name, [*launch, *command], settings)
        words, environment = self.hosts.mpirun(kind, [1, 1], [str(word) for word in command], settings)
        return Contestant(name, words, environment)

    def ours(
        self, transport: str, name: str, command: list[str | Path], settings: dict[str, str], nodes: int = 2
    ) -> Contestant:
        """`transport`: an MPI, or ucx, or shm, which is for ranks of one machine."""
        settings = {"HIROBA_PLUGINS": str(self.build / "lib" / "hiroba"), **settings}
        if self.hosts is None or transport == "shm":
            choice = ["--transport", "mpi", "--mpi", transport] if transport in MPIS else ["--transport", transport]
            launch: list[str | Path] = [self.build / "bin" / "hirobarun", "-n", "2", "--nodes", str(nodes), *choice]
            return Contestant(name, [*launch, *command], settings)
        settings["HIROBA_TRANSPORT"] = "mpi" if transport in MPIS else transport
        return self.start(transport if transport in MPIS else "openmpi", name, command, settings)

    def our_cases(
        self, transport: str, cases: Cases, settings: dict[str, str] | None = None, nodes: int = 2
    ) -> Contestant:
        command = [self.program("transport_ours"), *words(cases, self.small)]
        return self.ours(transport, "hiroba", command, settings or {}, nodes)

    def rival(self, kind: str, cases: Cases) -> Contestant:
        return self.start(kind, kind, [self.program(f"transport_{kind}"), *words(cases, self.small)], {})


def words(cases: Cases, small: bool) -> list[str | Path]:
    chosen = shrunk(cases) if small else cases
    return [str(word) for name, (count, rounds) in chosen.items() for word in (name, count, rounds)]


def mpirun(kind: str, ranks: int) -> list[str]:
    """On this machine; ranks that wait leave the core to others where the MPI can."""
    command = [mpi.launcher(kind), "-n", str(ranks)]
    if kind != "openmpi":
        return command
    return [*command, *harness.mpirun(ranks)[3:]]


@dataclass
class Row:
    """One figure to reach: what, of which samples, and how it is found in a round."""

    what: str
    ours: list[float]
    rival: list[float]
    unit: str
    limit: float
    at_most: bool = True
    values: list[float] = field(default_factory=list)  # what is compared with the limit; ours / rival unless given

    def __post_init__(self) -> None:
        self.values = self.values or [a / b for a, b in zip(self.ours, self.rival, strict=True)]


@dataclass
class Results:
    place: Place
    samples: dict[str, Samples] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)

    def compete(self, label: str, contestants: list[Contestant], rounds: int, timed: bool = False) -> Samples:
        self.samples[label] = harness.compete(contestants, rounds, label, run_timed if timed else self.run)
        return self.samples[label]

    def run(self, contestant: Contestant) -> dict[str, Any]:
        """Debian's MPICH 4.0.2 sometimes hangs in MPI_Finalize over TCP, whatever the program; so what takes for ever
        is run again, and counted."""
        for _ in range(TRIES - 1):
            try:
                return perftest.run(contestant, TRY_SECONDS)
            except BenchmarkError as error:
                hangs = f"not finished after {TRY_SECONDS}" in str(error) and "mpich" in str(contestant.command)
                if self.place.hosts is None or not hangs:
                    raise
                self.hangs.append(contestant.name)
                for host in self.place.hosts.names:
                    for pid in self.place.hosts.processes(host):
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
        return perftest.run(contestant, TRY_SECONDS)


def run_timed(contestant: Contestant) -> dict[str, Any]:
    """A run whose whole duration, as the user sees it, is what counts."""
    start = time.monotonic()
    result = harness.run_once(contestant)
    return result | {"seconds": time.monotonic() - start}


# ---- the rows --------------------------------------------------------------------------------------------------------


def moving(place: Place, transport: str, rounds: int, results: Results) -> None:
    """Puts and gets, small and big, beside the network's own."""
    latency: Contestant
    bandwidth: Contestant
    if transport == "ucx":
        rivals = perftest.rivals(place.hosts, place.small)
        latency, bandwidth = rivals["latency"], rivals["bandwidth"]
    else:
        latency = place.rival(transport, {"pingpong": LATENCY["put"]})
        bandwidth = place.rival(transport, {"bandwidth": BANDWIDTH["put-bandwidth"]})
    part = results.compete(f"{transport}: 8 bytes", [place.our_cases(transport, LATENCY), latency], rounds)
    trip = part.values(latency.name, "round trip us")
    half = [us / 2 for us in trip]
    results.rows += [
        Row(f"{transport}: put 8 B / ping-pong / 2", part.values("hiroba", "put us"), half, "us", 1.15),
        Row(f"{transport}: get 8 B / ping-pong", part.values("hiroba", "get us"), trip, "us", 1.15),
    ]
    cases = BANDWIDTH_AGAIN if transport == "ucx" else BANDWIDTH
    part = results.compete(f"{transport}: bandwidth", [place.our_cases(transport, cases), bandwidth], rounds)
    for way in ("put", "get"):
        ours = part.values("hiroba", f"{way} GB/s")
        results.rows.append(
            Row(f"{transport}: {way} 4 MiB", ours, part.values(bandwidth.name, "GB/s"), "GB/s", 0.95, False)
        )


def dependence(place: Place, transport: str, rounds: int, results: Results) -> None:
    """From the end of a task to the start of one of the other rank that reads what it has written. Between two test
    hosts it has a limit."""
    tasks: list[str | Path] = [place.program("transport_dependence"), *words(DEPENDENCE, place.small)[1:]]
    for nodes in (1, 2) if transport == "shm" else (2,):
        label = f"{transport}{', one node' if nodes == 1 else ''}: dependence"
        contestants = [
            place.ours(transport, "tasks", tasks, harness.threads(1), nodes),
            place.our_cases(transport, LATENCY_8K, None, nodes),
        ]
        part = results.compete(label, contestants, rounds)
        mine, puts = part.values("tasks", "dependence us"), part.values("hiroba", "put 8 KiB us")
        limit = float("inf") if place.hosts is None or transport == "shm" else 1.5
        results.rows.append(Row(f"{label} of 8 KiB / put", mine, puts, "us", limit))


def paging(place: Place, transport: str, rounds: int, results: Results) -> None:
    """What comes by page faults and preloads, beside gets of the same bytes in the same process."""
    alone = place.our_cases(transport, FAULTS, {"HIROBA_READAHEAD": "4K"})
    runs = results.compete(f"{transport}: lone pages", [alone], rounds).runs["hiroba"]

    def row(what: str, ours: str, rival: str, ratio: str, unit: str, limit: float, at_most: bool) -> Row:
        columns = ([run[key] for run in runs] for key in (ours, rival, ratio))
        return Row(f"{transport}: {what}", next(columns), next(columns), unit, limit, at_most, next(columns))

    results.rows.append(row("lone page fault / get 4 KiB", "fault us", "4K get us", "fault / get", "us", 1.3, True))
    runs = results.compete(f"{transport}: many pages", [place.our_cases(transport, SEQUENTIAL)], rounds).runs["hiroba"]
    for what, figure, limit in (("sequential faults", "sequential", 0.7), ("preload", "preload", 0.9)):
        figures = (f"{figure} GB/s", "raw GB/s", f"{figure} / raw")
        results.rows.append(row(f"{what} 64 MiB / get", *figures, "GB/s", limit, False))


def barriers(place: Place, transport: str, rounds: int, results: Results) -> None:
    """Barriers with changed pages, beside a barrier and as many bytes as the changes are (as the counters say)."""
    ours = place.our_cases(transport, BARRIERS)
    sent = int(results.run(ours)["dirty bytes"])
    kind = transport if transport in MPIS else "openmpi"
    empty = words({"empty-barrier": BARRIERS["empty-barrier"]}, place.small)
    program = place.program(f"transport_{kind}")
    rival = place.start(kind, kind, [program, *empty, "bytes-barrier", str(sent), "1" if place.small else "5"], {})
    part = results.compete(f"{transport}: barriers", [ours, rival], rounds)
    pages = words({"": BARRIERS["dirty-barrier"]}, place.small)[1]
    dirty, plain = part.values("hiroba", "dirty ms"), part.values(kind, "ms")
    results.rows.append(Row(f"{transport}: barrier, {pages} changed pages / MPI", dirty, plain, "ms", 1.3))
    for what, figure, scale in (("empty", "empty us", 1e-3), (f"{pages} pages noticed", "notices ms", 1)):
        mine = [scale * value for value in part.values("hiroba", figure)]
        bare = [1e-3 * value for value in part.values(kind, "empty us")]
        results.rows.append(Row(f"{transport}: barrier, {what} / empty MPI_Barrier", mine, bare, "ms", float("inf")))


def waiting(place: Place, transport: str, rounds: int, results: Results) -> None:
    """Processor time that is burnt by ranks with nothing to do."""
    seconds = SMALL_IDLE_SECONDS if place.small else IDLE_SECONDS
    command: list[str | Path] = [place.program("transport_ours"), "idle", str(seconds), "1"]
    part = results.compete(f"{transport}: idle", [place.ours(transport, "hiroba", command, {})], rounds)
    for state, where, limit in (("waiting", " in a barrier", 2.0), ("sleeping", " itself", float("inf"))):
        used = part.values("hiroba", f"{state} %")
        what = f"{transport}: % of a core used by a rank {state}{where}"
        results.rows.append(Row(what, used, [], "%", limit, values=used))


def stencils(place: Place, transport: str, rounds: int, results: Results) -> None:
    """The program of bench/stencil3d, one thread a rank, against the one with MPI."""
    kind = transport if transport in MPIS else "openmpi"
    for size, steps in (SMALL_SIZES if place.small else SIZES).items():
        options = ["--size", str(size), "--steps", str(steps), "--verify", "--json"]
        sms: list[str | Path] = [place.build / "bin" / "stencil_sms", *options]
        rival: list[str | Path] = [place.program(f"transport_stencil_{kind}"), *options]
        contestants = [
            place.ours(transport, "hiroba", sms, harness.threads(1)),
            place.start(kind, kind, rival, harness.threads(1)),
        ]
        part = results.compete(f"{transport}: stencil {size}^3", contestants, rounds)
        ours, theirs = ([1e6 * value / steps for value in part.values(name)] for name in ("hiroba", kind))
        results.rows.append(Row(f"{transport}: stencil {size}^3 / MPI+OpenMP", ours, theirs, "us/step", 1.0))


def starting(place: Place, transport: str, rounds: int, results: Results) -> None:
    """All ranks on this machine, however the others are placed; until the last process has ended."""
    choice = ["--transport", "mpi", "--mpi", transport] if transport in MPIS else ["--transport", transport]
    launch: list[str | Path] = [place.build / "bin" / "hirobarun", "-n", str(STARTING_RANKS), *choice]
    command = [*launch, place.program("transport_ours"), "startup", str(STARTING_RANKS), "1"]
    settings = {"HIROBA_PLUGINS": str(place.build / "lib" / "hiroba")}
    part = results.compete(f"{transport}: start", [Contestant("hiroba", command, settings)], rounds, timed=True)
    seconds = part.values("hiroba")
    what = f"{transport}: start and end of {STARTING_RANKS} ranks"
    results.rows.append(Row(what, seconds, [], "s", 2, values=seconds))


PARTS = {
    "moving": moving,
    "dependence": dependence,
    "paging": paging,
    "barriers": barriers,
    "waiting": waiting,
    "stencils": stencils,
    "starting": starting,
}


# ---- which, where, and what is shown ---------------------------------------------------------------------------------


def transports(place: Place) -> list[str]:
    """The MPIs that are installed and built for, and ucx; of these, in the small version, the first."""
    plugins = place.build / "lib" / "hiroba"
    found = [kind for kind in MPIS if (plugins / f"wire-mpi-{kind}.so").exists() and has(kind)]
    if not found:
        raise BenchmarkError("no MPI is installed for which there is a plug-in: install openmpi-bin libopenmpi-dev")
    if (plugins / "wire-ucx.so").exists() and "openmpi" in found and place.hosts is not None:
        found.append("ucx")
    return found[:1] if place.small else found


def has(kind: str) -> bool:
    try:
        mpi.launcher(kind)
    except FileNotFoundError:
        return False
    return True


@contextlib.contextmanager
def place_of(build: Path, small: bool, virtual: bool) -> Iterator[Place]:
    if virtual or small:
        yield Place(build, None, small)
        return
    try:
        with Hosts(2) as hosts:
            yield Place(build, hosts, small)
    except Unavailable as error:
        raise BenchmarkError(f"{error}; --virtual takes virtual nodes on this machine") from error


def median_and_spread(values: list[float]) -> tuple[str, str]:
    if not values:
        return "", ""
    low, high = harness.quartiles(values)
    middle = statistics.median(values)
    return f"{middle:.4g}", f"{100 * (high - low) / middle:.0f} %"


def show(rows: list[Row]) -> None:
    lines = [["", "hiroba", "spread", "rival", "spread", "unit", "compared", "limit"]]
    for row in rows:
        cells = [cell for values in (row.ours, row.rival) for cell in median_and_spread(values)]
        limit = "" if row.limit == float("inf") else f"{'<=' if row.at_most else '>='} {row.limit:g}"
        lines.append([row.what, *cells, row.unit, f"{statistics.median(row.values):.3f}", limit])
    print(harness.table(lines))


def panels_of(rows: list[Row], at_most: bool) -> dict[str, dict[str, list[float]]]:
    """A panel for each transport, with what is compared as a part of its limit: one line for all."""
    panels: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row.limit != float("inf") and row.at_most == at_most:
            transport, _, what = row.what.partition(": ")
            panels.setdefault(transport, {})[what] = [value / row.limit for value in row.values]
    return panels


def run() -> int:
    parser = harness.arguments(__doc__ or "")
    parser.add_argument("--virtual", action="store_true", help="virtual nodes on this machine in place of hosts")
    parser.add_argument("--transport", action="append", choices=[*MPIS, "ucx", "shm"], help="only these")
    parser.add_argument("--part", action="append", choices=PARTS, help="only these")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.small else 5)
    for consent in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        os.environ.setdefault(consent, "1")  # test hosts need root
    around: dict[str, Any] = harness.circumstances()
    with place_of(options.build, options.small, options.virtual) as place:
        results = Results(place)
        where = "two hosts" if place.hosts else "two virtual nodes"
        print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}")
        print(f"{where}, one rank each; TCP's congestion control is {around['tcp']}")
        print(f"medians of {rounds} rounds, and the distance of the quartiles as spread\n")
        found = transports(place)
        for transport in [*found, "shm"]:
            if options.transport and transport not in options.transport:
                continue
            for name in options.part or PARTS:
                if transport != "shm" or name in ("dependence", "starting"):
                    PARTS[name](place, transport, rounds, results)
    show(results.rows)
    if results.hangs:
        print(f"\nnot finished after {TRY_SECONDS} s, and run again: {', '.join(results.hangs)}")
    targets = [
        Target(row.what, statistics.median(row.values), row.limit, row.at_most)
        for row in results.rows
        if row.limit != float("inf")
    ]
    if not options.small:
        print("\nTargets")
        for target in targets:
            print(target.line())
    name = "transport_small" if options.small else "transport"
    panels = {f"{t}, to be below 1": bars for t, bars in panels_of(results.rows, True).items()}
    panels |= {f"{t}, to be above 1": bars for t, bars in panels_of(results.rows, False).items()}
    title = f"Transport over {where}: what is compared / limit"
    kept = [harness.write(options.out, name, around, results.samples, [] if options.small else targets)]
    if panels:
        kept.append(harness.plot(options.out / f"{name}.png", title, panels, "", 1.0, columns=2, sharey=False))
    print(f"\nkept in {' and '.join(str(path) for path in kept)}")
    return 0


if __name__ == "__main__":
    harness.main(run)
