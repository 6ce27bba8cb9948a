"""What a task costs: ns per task and the smallest useful task (METG), of runtimes on this machine.

Parts: `costs`, empty bodies; `metg`, the body with which threads compute for half of the time; `patterns`, the same
for the patterns of Task Bench, with bodies that compute and bodies that go through memory, and with MPI, which has no
tasks; `halo`, blocks in a row on two ranks, which read their neighbours' edges: the time above the sequential
program's; `alone`, one thread that creates and runs all; `memory`, by how much a process grows with a million tasks.
Every contestant compares its answer with the sequential program's after every run (taskgraph.h). Those that are
"replayed" have built the graph before the clock starts; the flow graph of oneTBB and "taskflow graph" build it within
the time. Hiroba replays a recorded iteration as often as the graph repeats. oneTBB and Taskflow are told the edges;
OpenMP, StarPU and Hiroba find them from the data that the tasks name.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from contestants import NO_MESSAGES, PLACES, PROGRAMS, REPLAYED, Workshop
from harness import BenchmarkError, Samples, Target

COSTS = ("independent", "independent_inout", "stencil", "cholesky")
METG = ("stencil", "cholesky")
PATTERNS = ("stencil", "fft", "tree", "random", "all")
PARTS = ("costs", "metg", "patterns", "halo", "alone", "memory")
RANKS = (1, 2, 4)
# Of METG: a column is shorter, for its runs are many.
METG_STEPS, METG_TILES, PATTERN_STEPS = "500", "32", "200"
# Blocks of a rank in the part halo, with steps for half a second; and what they compute, in ns.
HALO_STEPS, HALO_BODY = {1: 50000, 4: 20000, 16: 10000, 64: 2500}, 1400
MILLION_STEPS = "31250"  # of 32 columns
# Find dependences at run time, as Hiroba does.
DISCOVERING = ("libgomp", "libomp", "starpu", "taskflow")
BODIES = {"computing": [], "going through memory": ["--memory"]}
SMALL = ["--width", "8", "--steps", "20", "--repeats", "1"]


class Costs:
    """What is measured, and where it is kept."""

    def __init__(self, workshop: Workshop, options: Any) -> None:
        self.workshop, self.small = workshop, options.small
        self.threads, self.ranks = options.threads, [3] if options.small else options.ranks
        self.rounds = options.rounds
        self.graphs: list[str] = options.graph
        self.samples: dict[str, Samples] = {}

    def chosen(self, graphs: Sequence[str]) -> list[str]:
        return [graph for graph in graphs if not self.graphs or graph in self.graphs]

    def compete(self, label: str, graph: str, words: Sequence[str], ranks: Sequence[int], rounds: int) -> Samples:
        words = [*words, *SMALL] if self.small else words
        contestants = self.workshop.all(graph, words, self.threads, ranks)
        samples = harness.compete(contestants, rounds, label, warm_up=False)
        self.samples[label] = samples
        return samples

    def costs(self) -> None:
        found = {
            graph: self.compete(f"costs: {graph}", graph, [], (), self.rounds or (1 if self.small else 5))
            for graph in self.chosen(COSTS)
        }
        show(f"ns per task, {self.threads} threads, empty bodies", found, "ns")

    def metg(self) -> None:
        words = {"stencil": ["--steps", METG_STEPS], "cholesky": ["--width", METG_TILES]}
        found = {
            graph: self.compete(f"METG: {graph}", graph, ["--metg", *words[graph]], (), self.some_rounds())
            for graph in self.chosen(METG)
        }
        show(f"METG(50%): ns, {self.threads} threads", found, "metg")

    def patterns(self) -> None:
        for kind, more in list(BODIES.items())[: 1 if self.small else None]:
            found = {}
            for graph in self.chosen(PATTERNS):
                words = ["--body", "1000"] if self.small else ["--metg", "--steps", PATTERN_STEPS, "--repeats", "3"]
                label = f"{kind}: {graph}"
                found[graph] = self.compete(label, graph, [*words, *more], self.ranks, self.some_rounds())
            what = "ns, bodies of 1000" if self.small else "METG(50%): ns"
            show(f"{what}, {kind}, {self.threads} threads", found, "ns" if self.small else "metg")

    def halo(self) -> None:
        if "serial" not in (one.name for one in self.workshop.programs):
            raise BenchmarkError("part halo compares with the contestant serial: name it in --only, too")
        found = {}
        for blocks, steps in list(HALO_STEPS.items())[: 1 if self.small else None]:
            label = f"halo: {blocks} blocks"
            words = ["--graph", "stencil", "--width", str(2 * blocks), "--steps", str(steps), "--body", str(HALO_BODY)]
            words = [*words, "--steps", "20", "--repeats", "1"] if self.small else words
            samples = harness.compete(self.workshop.halo(words), self.some_rounds(), label, warm_up=False)
            for runs in samples.runs.values():
                for report, alone in zip(runs, samples.runs["serial"], strict=True):
                    report["above"] = report["ns"] * report["ranks"] - alone["ns"]
            self.samples[label] = found[f"{blocks} a rank"] = samples
        show(
            f"ns above the sequential program, per block of {HALO_BODY} ns and step, 2 ranks of 1 thread",
            found,
            "above",
        )

    def alone(self) -> None:
        """In libgomp 12 a run takes 18 s, so there is one."""
        label = "alone: stencil"
        words = ["--graph", "stencil", "--repeats", "1", *(SMALL if self.small else [])]
        ours = [one for one in self.workshop.programs if "stencil" not in one.lacks and one.name != "mpi"]
        contestants = [self.workshop.start(one, words, 1) for one in ours]
        self.samples[label] = harness.compete(contestants, 1, label, warm_up=False)
        show("ns per task, 1 thread, empty bodies", {"stencil": self.samples[label]}, "ns")

    def memory(self) -> None:
        label = "memory: stencil"
        words = ["--graph", "stencil", "--steps", MILLION_STEPS, "--repeats", "1", *(SMALL if self.small else [])]
        ours = [one for one in self.workshop.programs if "stencil" not in one.lacks and one.name != "mpi"]
        contestants = [self.workshop.start(one, words, self.threads) for one in ours]
        self.samples[label] = harness.compete(contestants, 1, label, warm_up=False)
        show(f"MB that a million tasks take, {self.threads} threads", {"stencil": self.samples[label]}, "grown_mb")

    def some_rounds(self) -> int:
        return self.rounds or (1 if self.small else 3)


def value(samples: Samples, name: str, metric: str) -> float:
    """The median; infinite where a body has not been long enough in most of the rounds."""
    return statistics.median(math.inf if run[metric] is None else run[metric] for run in samples.runs[name])


def targets(samples: dict[str, Samples]) -> list[Target]:
    """What Hiroba must reach, of what has been measured."""
    found = []

    def add(
        label: str, what: str, metric: str, limit: float, unit: str, scale: float = 1, name: str = "hiroba"
    ) -> None:
        if label in samples and name in samples[label].runs:
            found.append(Target(what, scale * value(samples[label], name, metric), limit, unit=unit))

    for graph, limit in (("independent", 150), ("stencil", 220), ("cholesky", 150)):
        label = f"costs: {graph}"
        add(label, f"hiroba, {graph}, per task", "ns", limit, " ns")
        peers = [one for one in DISCOVERING if label in samples and one in samples[label].runs]
        if graph != "independent" and peers and "hiroba" in samples[label].runs:
            best = min(value(samples[label], one, "ns") for one in peers)
            what = f"hiroba, {graph} / the best that discovers at run time"
            found.append(Target(what, value(samples[label], "hiroba", "ns") / best, 0.6))
    add("METG: stencil", "hiroba, METG(50%) of the stencil", "metg", 350, " ns")
    again = f"hiroba{REPLAYED}"
    add("costs: stencil", f"{again}, stencil, per task", "ns", 60, " ns", name=again)
    add("METG: stencil", f"{again}, METG(50%) of the stencil", "metg", 100, " ns", name=again)
    for blocks in HALO_STEPS:
        for place in PLACES:
            limit = 150 if place in NO_MESSAGES else 400
            what = f"halo exchange, {blocks} blocks a rank, {place}, above the work"
            add(f"halo: {blocks} blocks", what, "above", limit, " ns", name=f"hiroba, {place}")
    add("alone: stencil", "hiroba, 64,000 stencil tasks by 1 thread", "seconds", 10, " ms", 1e3)
    add("memory: stencil", "hiroba, memory of 10^6 tasks", "grown_mb", 200, " MB")
    return found


def show(title: str, found: dict[str, Samples], metric: str) -> None:
    if not found:
        return
    names = list(dict.fromkeys(name for samples in found.values() for name in samples.runs))
    rows = [["", *found]]
    for name in names:
        cells = (f"{value(s, name, metric):.0f}" if name in s.runs else "-" for s in found.values())
        rows.append([name, *cells])
    print(f"\n{title}\n{harness.table(rows)}", flush=True)


def pictures(folder: Path, name: str, samples: dict[str, Samples]) -> list[Path]:
    """Bars of what each part has measured, in panels for its graphs."""
    panels: dict[str, dict[str, dict[str, list[float]]]] = {}
    for label, part in samples.items():
        metric = next(m for m in ("metg", "above", "ns") if m in next(iter(part.runs.values()))[0])
        if label.startswith("memory"):
            continue  # a table says it
        bars = {one: [run[metric] for run in runs if run[metric] is not None] for one, runs in part.runs.items()}
        kind, _, graph = label.partition(": ")
        panels.setdefault(kind, {})[graph] = {one: values for one, values in bars.items() if values}
    return [
        harness.plot(
            folder / f"{name}_{kind.split()[0].lower()}.png",
            f"Tasks: {kind} (lower is better)",
            graphs,
            "ns",
            columns=2,
            log=kind != "halo",  # what is above the work may be less than nothing
        )
        for kind, graphs in panels.items()
    ]


def around(workshop: Workshop) -> dict[str, Any]:
    found = harness.circumstances()
    found |= {library: harness.first_line(compiler, "--version") for library, compiler in workshop.openmp.items()}
    found |= {name: harness.first_line("pkg-config", "--modversion", name) for name in ("tbb", "starpu-1.3")}
    return found


def run() -> int:
    parser = harness.arguments(__doc__ or "")
    parser.add_argument("--part", action="append", default=[], choices=PARTS, help="only these parts")
    parser.add_argument("--graph", action="append", default=[], help="only these graphs")
    names = ", ".join(one.name for one in PROGRAMS)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help=f"only these of {names}")
    parser.add_argument("--threads", type=int, default=2, help="threads of each contestant (default: 2)")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS, help="processes of MPI (default: 1 2 4)")
    parser.add_argument("--taskflow", type=Path, help="folder that has taskflow/taskflow.hpp")
    options = parser.parse_args()

    workshop = Workshop(options.build, options.only, options.taskflow)
    circumstances = around(workshop)
    print(f"{circumstances['cores']} cores, {circumstances['cpu']}, load {circumstances['load_before']:.2f}")
    print(*workshop.left_out, sep="\n")
    costs = Costs(workshop, options)
    for part in options.part or PARTS:
        getattr(costs, part)()
    name = "taskgraph_small" if options.small else "taskgraph"
    drawn = pictures(options.out, name, costs.samples)
    reached = [] if options.small else targets(costs.samples)
    for target in reached:
        print(target.line())
    kept = harness.write(options.out, name, circumstances, costs.samples, reached)
    print(f"\nkept in {kept} and {', '.join(str(path) for path in drawn)}")
    return 0


if __name__ == "__main__":
    harness.main(run)
