"""What OpenMP's constructs cost, as EPCC's microbenchmarks measure it (C, version 3.1; the code is ours): the overhead
of synchronisation, of schedules and of tasks, over threads and over chunk sizes, in libgomp and libomp, and with a rank
in the place of each thread; and of tasks in Hiroba, where its tasks correspond.

An overhead is the median time less the median of the reference. Where the standard deviation is larger than the mean,
or the overhead is negative, the figure is noise, and is marked by "~". Each program's own output, above the JSON, has
EPCC's lines, so that it can be compared with EPCC's.
"""

from __future__ import annotations

import functools
import math
import shutil
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
import workshop
from harness import ROOT, BenchmarkError, Contestant, Curve, Samples, Target

FOLDER = Path(__file__).resolve().parent
COMMON = ROOT / "apps" / "common"
FLAGS = ("-O3", "-march=native", "-falign-loops=32", "-Wall", "-Wextra")
SYNCHRONISATION = ("PARALLEL", "FOR", "PARALLEL FOR", "BARRIER", "SINGLE", "REDUCTION")
EXCLUSION = ("CRITICAL", "LOCK/UNLOCK", "ORDERED", "ATOMIC")
SCHEDULES = ("STATIC", "DYNAMIC", "GUIDED")
TASKS = (
    *("PARALLEL TASK", "MASTER TASK", "MASTER TASK BUSY SLAVES", "CONDITIONAL TASK", "TASK WAIT", "TASK BARRIER"),
    *("NESTED TASK", "NESTED MASTER TASK", "BRANCH TASK TREE", "LEAF TASK TREE"),
)
HIROBA_TASKS = ("MASTER TASK", "TASK WAIT", "NESTED MASTER TASK", "BRANCH TASK TREE", "LEAF TASK TREE")
GROUPS = ("sync", "schedule", "task")
ITERATIONS, SMALL_ITERATIONS = 128, 16
SMALL = ("--outer", "3", "--test-time", "100", "--iterations", str(SMALL_ITERATIONS))
# The gates are judged if nothing else runs, for two threads that sleep where they wait.
IDLE, GATE_THREADS, GATE_US = 0.5, 2, 10
RANKS_TO_THREADS = 1.5  # overhead with ranks to that of libgomp's threads, of constructs whose figures are no noise
WAITS = {"passive": {"OMP_WAIT_POLICY": "passive"}, "active": {"OMP_WAIT_POLICY": "active"}, "default": {}}


@dataclass(frozen=True)
class Program:
    """A contestant: its main and its tables. libgomp and libomp stand for the compilers that have them."""

    name: str
    sources: tuple[str, ...]
    compiler: str
    flags: tuple[str, ...] = ()


OPENMP_SOURCES = ("openmp.c", "sync.c", "schedule.c", "task.c")
PROGRAMS = [Program(library, OPENMP_SOURCES, library, ("-fopenmp",)) for library in workshop.OPENMP]
HIROBA, RANKS = "hiroba", "ranks"
PROGRAMS.append(Program(HIROBA, ("hiroba.c",), "cc"))
PROGRAMS.append(Program(RANKS, OPENMP_SOURCES, "hirobacc", ("-fopenmp-nodes",)))


@dataclass(frozen=True)
class Figures:
    """us, over the rounds: medians, and the least of all."""

    group: str
    kind: str  # the name without its chunk
    chunk: int
    median: float
    mean: float
    min: float
    sd: float
    overhead: float

    @property
    def noise(self) -> bool:
        return self.sd > self.mean or self.overhead < 0

    @staticmethod
    def of(results: Sequence[dict[str, Any]]) -> Figures:
        first = results[0]

        def middle(metric: str) -> float:
            return statistics.median(result[metric] for result in results)

        least = min(result["min"] for result in results)
        figures = (middle("median"), middle("mean"), least, middle("sd"), middle("overhead"))
        return Figures(first["group"], first["kind"], first["chunk"], *figures)


Found = dict[int, dict[str, dict[str, Figures]]]  # by threads, contestant and construct


def compiled(build: Path) -> tuple[dict[str, Path], list[str]]:
    """The programs that can be had here, and what is left out."""
    folder = build.resolve() / "bench" / "epcc"
    folder.mkdir(parents=True, exist_ok=True)
    openmp, left_out = workshop.openmp_compilers(folder)
    found = {}
    for program in PROGRAMS:
        path = str(build.resolve() / "bin") if program.name == RANKS else None
        compiler = openmp.get(program.compiler) or shutil.which(program.compiler, path=path)
        if compiler is None:
            continue  # openmp_compilers has named it
        sources = [FOLDER / name for name in (*program.sources, "epcc.c")]
        sources += [COMMON / "options.c", COMMON / "team.c"]
        found[program.name] = folder / f"epcc_{program.name}"
        harness.show_progress(f"compiling for {program.name}")
        library = workshop.library_flags(build) if program.name == HIROBA else []
        command = [compiler, *FLAGS, *program.flags, *sources, *library, "-lm", "-o", found[program.name]]
        workshop.call_compiler([str(word) for word in command])
    harness.show_progress("")
    return found, left_out


def expected(groups: Sequence[str], threads: int, iterations: int) -> set[str]:
    names: set[str] = set()
    if "sync" in groups:
        names |= {*SYNCHRONISATION, *EXCLUSION}
    if "schedule" in groups:
        names.add("STATIC")
        for schedule in SCHEDULES:
            most = iterations // threads if schedule == "GUIDED" else iterations
            names |= {f"{schedule} {1 << k}" for k in range(most.bit_length())}
    if "task" in groups:
        names |= set(TASKS)
    return names


def groups_of(name: str, groups: Sequence[str]) -> list[str]:
    """Those of the groups that the contestant has."""
    return [group for group in groups if name != HIROBA or group == "task"]


def run_checked(contestant: Contestant, names: set[str]) -> dict[str, Any]:
    """All constructs are there, and all of their figures are finite."""
    result = harness.run_once(contestant)
    if contestant.name == HIROBA:
        names = names & set(HIROBA_TASKS)
    if missing := names - {one["name"] for one in result["results"]}:
        raise BenchmarkError(f"{harness.shown(contestant)}\n  it has not measured {sorted(missing)}")
    for one in result["results"]:
        if not all(math.isfinite(one[metric]) for metric in ("median", "mean", "min", "sd", "overhead")):
            raise BenchmarkError(f"{harness.shown(contestant)}\n  {one['name']} has a figure that is not finite")
    return result


def by_construct(runs: Sequence[dict[str, Any]]) -> dict[str, Figures]:
    results: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        for one in run["results"]:
            results.setdefault(one["name"], []).append(one)
    return {name: Figures.of(some) for name, some in results.items()}


def us(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def show(found: Found) -> None:
    for threads, contestants in found.items():
        titles = [f"{name}: {what}" for name in contestants for what in ("median", "min", "sd", "overhead")]
        rows = [[f"us, {threads} thread{'s' if threads > 1 else ''}", *titles]]
        for construct in dict.fromkeys(name for part in contestants.values() for name in part):
            row = [construct]
            for figures in (part.get(construct) for part in contestants.values()):
                if figures is None:
                    row += ["-"] * 4
                    continue
                mark = "~" if figures.noise else ""
                row += [us(figures.median), us(figures.min), us(figures.sd), mark + us(figures.overhead)]
            rows.append(row)
        print(f"\n{harness.table(rows)}")
    noise = sum(f.noise for contestants in found.values() for part in contestants.values() for f in part.values())
    total = sum(len(part) for contestants in found.values() for part in contestants.values())
    print(f"\n~ noise: sd larger than the mean, or a negative overhead; {noise} of {total} figures", flush=True)


def over_threads(found: Found, name: str, constructs: Sequence[str]) -> dict[str, Curve]:
    """Overheads, without those that are noise."""
    curves = {}
    for construct in constructs:
        points = {
            threads: contestants[name][construct]
            for threads, contestants in found.items()
            if construct in contestants.get(name, {}) and not contestants[name][construct].noise
        }
        if points:
            values = points.values()
            curves[construct] = Curve(list(points), [f.overhead for f in values], [f.sd for f in values])
    return curves


def over_chunks(part: dict[str, Figures]) -> dict[str, Curve]:
    curves = {}
    for schedule in SCHEDULES:
        points = [f for f in part.values() if f.kind == schedule and f.chunk > 0 and not f.noise]
        if points:
            curves[schedule] = Curve([f.chunk for f in points], [f.overhead for f in points], [f.sd for f in points])
    return curves


def pictures(folder: Path, name: str, found: Found) -> list[Path]:
    """Figures 3 to 8 of the paper on ccNUMA machines: what threads wait for, what excludes, what schedules cost; and
    figure 6 of that on tasks: a loop and tasks."""
    most = max(found)
    contestants = list(found[most])
    sync, schedule, task = {}, {}, {}
    for one in contestants:
        sync[f"{one}: synchronisation"] = over_threads(found, one, SYNCHRONISATION)
        sync[f"{one}: mutual exclusion"] = over_threads(found, one, EXCLUSION)
        task[one] = over_threads(found, one, ("FOR", "MASTER TASK"))
        for threads, part in found.items():
            schedule[f"{one}, {threads} thread{'s' if threads > 1 else ''}"] = over_chunks(part.get(one, {}))
    drawn = []
    for kind, panels, x, columns in (
        ("sync", sync, "threads", 2),
        ("schedule", schedule, "chunk", len(found)),
        ("task", task, "threads", len(contestants)),
    ):
        if panels := {label: curves for label, curves in panels.items() if curves}:
            path = folder / f"{name}_{kind}.png"
            names = (x, "overhead, us")
            drawn.append(harness.plot_curves(path, f"EPCC: {kind}", panels, names, columns, log_x=x == "chunk"))
    return drawn


def targets(found: Found, wait: str, load: float) -> list[Target]:
    """The gates; where they cannot be judged, a line says so."""
    if GATE_THREADS not in found or wait != "passive" or load >= IDLE:
        print(
            f"\nBARRIER < {GATE_US} us: not judged (load {load:.2f}, waiting {wait}, threads {list(found)};"
            f" it is with a load below {IDLE}, waiting passive, {GATE_THREADS} threads)"
        )
        return []
    part = found[GATE_THREADS]
    reached = [
        Target(f"{name}: BARRIER, {GATE_THREADS} threads, passive", figures["BARRIER"].overhead, GATE_US, unit=" us")
        for name, figures in part.items()
        if "BARRIER" in figures
    ]
    threads = part.get("libgomp", {})
    for construct, figures in part.get(RANKS, {}).items():
        if figures.chunk <= 1 and construct in threads and not threads[construct].noise:
            name = f"{construct}, {GATE_THREADS} ranks / libgomp's threads"
            reached.append(Target(name, figures.overhead / threads[construct].overhead, RANKS_TO_THREADS))
    return reached


def run() -> int:
    parser = harness.arguments(__doc__ or "")
    parser.add_argument("--threads", type=int, nargs="+", help="numbers of threads (default: 1 2 3 4)")
    parser.add_argument("--group", action="append", default=[], choices=GROUPS, help="only these groups")
    parser.add_argument("--wait", choices=list(WAITS), default="passive", help="OMP_WAIT_POLICY (default: passive)")
    options = parser.parse_args()
    small = options.small
    counts = options.threads or ([1, 2] if small else [1, 2, 3, 4])
    groups = options.group or GROUPS
    rounds = options.rounds or (1 if small else 3)

    around = harness.circumstances()
    programs, left_out = compiled(options.build)
    print(
        f"{around['cores']} cores, {around['cpu']}, load {around['load_before']:.2f}; {rounds} rounds; {options.wait}"
    )
    print(*left_out, sep="\n")
    words = {
        name: [*(SMALL if small else ()), *(word for group in groups_of(name, groups) for word in ("--only", group))]
        for name in programs
    }
    samples: dict[str, Samples] = {}
    found: Found = {}
    for threads in counts:
        names = expected(groups, threads, SMALL_ITERATIONS if small else ITERATIONS)
        settings = WAITS[options.wait] | {"OMP_NUM_THREADS": str(threads)}
        shape = ["-n", "1", "--threads", str(threads)]
        run = options.build.resolve() / "bin" / "hirobarun"
        launch = {HIROBA: [run, *shape], RANKS: [run, "-n", str(threads), "--threads", "1"]}
        contestants = [
            Contestant(name, [*launch.get(name, []), program, *words[name], "--threads", str(threads)], settings)
            for name, program in programs.items()
            if groups_of(name, groups)
        ]
        checked = functools.partial(run_checked, names=names)
        part = harness.compete(contestants, rounds, f"{threads} threads", checked, warm_up=False)
        samples[f"{threads} threads"] = part
        found[threads] = {name: by_construct(runs) for name, runs in part.runs.items()}
    show(found)
    reached = targets(found, options.wait, around["load_before"])
    for target in reached:
        print(target.line())
    name = "epcc_small" if small else "epcc"
    drawn = pictures(options.out, name, found)
    kept = harness.write(options.out, name, around, samples, reached)
    print(f"\nkept in {kept} and {', '.join(str(path) for path in drawn)}")
    return 0


if __name__ == "__main__":
    harness.main(run)
