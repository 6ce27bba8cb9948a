"""IS and CG of the NPB with coarrays, and CG in XcalableMP's global view, against the same with MPI, in tables like
the XcalableMP paper's: time, and the share of it that goes into communication, over ranks and layers; "+=" is CG with
put-accumulate.

Every run is verified against the published constants; a wrong one ends the benchmark. `--hosts` adds two test hosts.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "hosts"))
import harness
import layers
from count import code
from harness import BenchmarkError, Contestant, Samples, Target
from hosts import Hosts, Unavailable
from layers import Layer

RIVAL, GLOBAL = "mpi", "global view"
BENCHMARKS = ("is", "cg")
CLASSES = ("A", "B")
RANKS = (1, 2, 4)
FOLDER = harness.ROOT / "apps" / "npb"
SECONDS = 300  # for one run; CG of class B takes half a minute on a busy machine


class Place:
    """Where the programs are, and how they are started."""

    def __init__(self, build: Path, chosen: list[str], hosts: Hosts | None) -> None:
        self.build, self.hosts = build.resolve(), hosts
        self.layers = [layer for layer in layers.known(self.build) if not chosen or layer.name in chosen]

    def program(self, benchmark: str, variant: str, letter: str) -> list[str | Path]:
        return [self.build / "bin" / f"{benchmark}_{variant}", "--class", letter, "--json"]

    def mpi(self, benchmark: str, letter: str, ranks: int) -> Contestant:
        return Contestant(RIVAL, [*harness.mpirun(ranks), *self.program(benchmark, "mpi", letter)], harness.threads(1))

    def ours(
        self,
        benchmark: str,
        letter: str,
        ranks: int,
        nodes: int = 1,
        layer: Layer | None = None,
        put: bool = False,
        variant: str = "xmp",
    ) -> Contestant:
        where = GLOBAL if variant == "global" else "coarrays" if layer is None else layer.name
        name = (f"{where} +=" if put else where) + (f", {nodes} nodes" if nodes > 1 else "")
        command = [*layers.hirobarun(self.build, ranks, nodes, layer), *self.program(benchmark, variant, letter)]
        return Contestant(name, [*command, *(["--accumulate"] if put else [])], harness.threads(1))

    def over_hosts(self, benchmark: str, letter: str) -> list[Contestant]:
        """One rank on each of two hosts: MPI's, and ours on every layer that crosses hosts."""
        assert self.hosts is not None
        found = []
        settings = harness.threads(1)
        words, environment = self.hosts.mpirun("openmpi", [1, 1], self.words(benchmark, "mpi", letter), settings)
        found.append(Contestant(RIVAL, words, environment))
        for layer in self.layers:
            kind = layer.name.partition("-")[2] or "openmpi"
            if layer.name == "shm":
                continue
            choice = {"HIROBA_TRANSPORT": layer.options[1], "HIROBA_PLUGINS": str(self.build / "lib" / "hiroba")}
            words, environment = self.hosts.mpirun(
                kind, [1, 1], self.words(benchmark, "xmp", letter), settings | choice
            )
            found.append(Contestant(f"{layer.name}, 2 hosts", words, environment))
        return found

    def words(self, benchmark: str, variant: str, letter: str) -> list[str]:
        return [str(word) for word in self.program(benchmark, variant, letter)]


def contestants(place: Place, benchmark: str, letter: str, ranks: int, everywhere: bool) -> list[Contestant]:
    """MPI, coarrays and the global view on one node; and, if there are ranks for two nodes, coarrays on all layers."""
    puts = (False, True) if benchmark == "cg" else (False,)
    found = [place.mpi(benchmark, letter, ranks)]
    found += [place.ours(benchmark, letter, ranks, put=put) for put in puts]
    if benchmark == "cg":
        found += [place.ours(benchmark, letter, ranks, n, variant="global") for n in range(1, min(ranks, 2) + 1)]
    if everywhere and ranks > 1:
        found += [place.ours(benchmark, letter, ranks, 2, layer, put) for layer in place.layers for put in puts]
    return found


def run_checked(contestant: Contestant) -> dict[str, Any]:
    result = harness.run_once(contestant, SECONDS)
    if result["verified"] is not True:
        raise BenchmarkError(f"{contestant.name}: not the published answer: {result['detail']}")
    return result | {"share": 100 * result["communication"] / result["seconds"]}


def show(title: str, shapes: dict[str, Samples]) -> None:
    """A row for each contestant; for each shape its seconds, and their ratio to MPI's."""
    rows = [["", *(f"{shape}: {what}" for shape in shapes for what in ("s", f"/ {RIVAL}"))]]
    for name in dict.fromkeys(name for samples in shapes.values() for name in samples.runs):
        row = [name]
        for samples in shapes.values():
            if name not in samples.runs:
                row += ["-", "-"]
                continue
            row += [f"{samples.median(name):.3f}", f"{samples.ratio(name, RIVAL):.3f}"]
        rows.append(row)
    print(f"\n{title}\n{harness.table(rows)}", flush=True)


def show_shares(samples: dict[str, Samples]) -> None:
    """The paper's table 3: communication as a part of the whole time, in per cent, a row for each number of ranks."""
    names = list(dict.fromkeys(name for part in samples.values() for name in part.runs))
    rows = [["communication, % of the time", *names]]
    for label, part in samples.items():
        rows.append([label, *(f"{part.median(name, 'share'):.2f}" if name in part.runs else "-" for name in names)])
    print(f"\n{harness.table(rows)}", flush=True)


def lines() -> dict[str, int]:
    """Lines of code of the programs that differ; what they have in common is in other files."""
    programs = {
        name: FOLDER / name.partition("_")[0] / f"{name}.c" for b in BENCHMARKS for name in (f"{b}_mpi", f"{b}_xmp")
    }
    return {name: len(code(path.read_text())) for name, path in programs.items()}


def targets(samples: dict[str, Samples], counted: dict[str, int], letters: list[str]) -> list[Target]:
    found = []
    for benchmark in BENCHMARKS:
        for letter in letters:
            part = samples[f"{benchmark.upper()} {letter}, 2 ranks"]
            mine, theirs = part.median("coarrays", "communication"), part.median(RIVAL, "communication")
            alone = (part.median(RIVAL) - theirs) / part.median(RIVAL)
            why = (
                f"communication takes {100 * (1 - alone):.1f} % of MPI's time ({theirs:.3f} s; ours {mine:.3f} s):"
                f" without any, MPI's program itself would reach {alone:.3f}"
            )
            what = f"{benchmark.upper()} class {letter}, 2 ranks: coarrays / {RIVAL}"
            found.append(Target(what, part.ratio("coarrays", RIVAL), 0.95, why_not=why))
            if benchmark == "cg":
                over = part.ratio(GLOBAL, RIVAL)
                found.append(Target(f"CG class {letter}, 2 ranks: {GLOBAL} / {RIVAL}", over, 1.05, why_not=why))
        ratio = counted[f"{benchmark}_xmp"] / counted[f"{benchmark}_mpi"]
        found.append(Target(f"lines of {benchmark.upper()}: coarrays / {RIVAL}", ratio, 0.8))
    return found


@contextlib.contextmanager
def hosts_of(wanted: bool) -> Iterator[Hosts | None]:
    if not wanted:
        yield None
        return
    try:
        with Hosts(2) as hosts:
            yield hosts
    except Unavailable as error:
        raise BenchmarkError(f"{error}; leave out --hosts") from error


def compete(place: Place, options: Any, letters: list[str], ranks: tuple[int, ...], rounds: int) -> dict[str, Samples]:
    samples: dict[str, Samples] = {}
    for benchmark in BENCHMARKS:
        for letter in letters:
            # The larger classes on one node, where their target is; elsewhere they take minutes and show nothing else.
            everywhere = options.small or options.everywhere or letter in "SWA"
            shapes: dict[str, Samples] = {}
            for count in ranks if everywhere else (2,):
                label = f"{benchmark.upper()} {letter}, {count} rank{'s' if count > 1 else ''}"
                teams = contestants(place, benchmark, letter, count, everywhere)
                shapes[f"{count} rank{'s' if count > 1 else ''}"] = harness.compete(teams, rounds, label, run_checked)
                samples[label] = next(reversed(shapes.values()))
            if place.hosts is not None and everywhere:
                label = f"{benchmark.upper()} {letter}, 2 hosts"
                shapes["2 hosts"] = harness.compete(place.over_hosts(benchmark, letter), rounds, label, run_checked)
                samples[label] = shapes["2 hosts"]
            show(f"{benchmark.upper()}, class {letter}", shapes)
    return samples


def run() -> int:
    parser = harness.arguments(__doc__ or "")
    parser.add_argument("--class", dest="letter", action="append", choices=list("SWABC"), help="only these classes")
    parser.add_argument("--layer", action="append", default=[], help="only these layers")
    parser.add_argument("--everywhere", action="store_true", help="all classes in all shapes and on all layers")
    parser.add_argument("--hosts", action="store_true", help="over two test hosts, too")
    options = parser.parse_args()
    letters = ["S"] if options.small else options.letter or list(CLASSES)
    rounds = options.rounds or (1 if options.small else 5)

    layers.allow_root()
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    with hosts_of(options.hosts) as hosts:
        place = Place(options.build, options.layer, hosts)
        print(f"layers: {', '.join(layer.name for layer in place.layers)}; {rounds} rounds, medians; one thread a rank")
        samples = compete(place, options, letters, (2,) if options.small else RANKS, rounds)
    show_shares(samples)
    counted = lines()
    print("\nlines of code: " + ", ".join(f"{name} {count}" for name, count in counted.items()))

    reached = targets(samples, counted, letters)
    if options.small:
        reached = [target for target in reached if target.what.startswith("lines")]
    print("" if options.small else "\nTargets")
    for target in reached:
        print(target.line())
    around["lines"] = counted
    panels = {label: {name: part.ratios(name, RIVAL) for name in part.runs} for label, part in samples.items()}
    name = "npb_small" if options.small else "npb"
    picture = harness.plot(options.out / f"{name}.png", "NPB (lower is better)", panels, f"time / time of {RIVAL}", 1.0)
    print(f"\nkept in {harness.write(options.out, name, around, samples, reached)} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
