"""Does it pay to start a collective, compute, and wait for it, instead of doing one after the other? The benchmark of
Nanri, Ohshima and Ono for every MPI that is here, with and without its progress threads, and for Hiroba, side by side.

README.md says what the figures mean. `hiroba overlap` starts this program; examples:
  hiroba overlap                                     alltoall and allreduce, 128 B to 8 MiB
  hiroba overlap --paper                             the paper's point: M=131072, N=512 and 1024
  hiroba overlap --collectives all -M 8192 -N 256    what you name
  hiroba overlap --like app.json                     what a program with these calls would gain
  hiroba overlap --mpi 'intel:mpiicc:mpiexec -n {ranks} -ppn {per_node}:I_MPI_ASYNC_PROGRESS=1'
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - whatever python3 is there starts it
    sys.exit(f"hiroba overlap needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}")

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import advice
import figures
import harness
from check_dgemm import wrong_elements
from contestants import FULL, MODES, NORMAL, PLACEMENTS, SPARE, Programs, Team, described, known
from figures import Case, Figures, Found, Line, ranks_text
from harness import ROOT, BenchmarkError, Contestant, Samples

ALL = ["alltoall", "allreduce", "bcast", "reduce", "allgather", "gather", "scatter"]
ALL += ["reduce_scatter", "scan", "barrier"]
SIZES = [16, 1024, 16384, 131072, 1048576]
BALANCED = "balanced"
VARIABLES = ("HIROBA", "MPICH", "MPIR", "OMPI", "I_MPI", "MV2", "FI_", "UCX", "HCOLL", "SHARP", "OMP", "GOMP", "KMP")


def run_lines(contestant: Contestant) -> dict[str, Line]:
    """Its lines of JSON by configuration."""
    remedy = "choose less (-M, -N), or leave it out (--libraries, --modes)"
    done = harness.run_to_end(contestant, harness.CONTESTANT_SECONDS, remedy)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise BenchmarkError(
            f"{harness.shown(contestant)}\n  exit status {done.returncode}\n{done.stdout}{done.stderr}"
        )
    return {f"{line['collective']}:{line['m']}:{line['n']}:{line['schedule']}": line for line in lines}


@dataclass
class Plan:
    """What is measured, as the command line says."""

    collectives: list[str]
    ms: list[int]
    ns: list[str]
    teams: list[Team]
    placements: list[str]
    modes: list[str]
    rounds: int
    words: list[str]  # options of the program
    statistic: str
    small: bool


class Benchmark:
    def __init__(self, plan: Plan, programs: Programs) -> None:
        self.plan = plan
        self.programs = programs
        self.samples: dict[str, Samples] = {}
        self.found: Found = {}
        self.notes: dict[tuple[Team, str], str] = {}  # what a placement means here

    def check(self) -> None:
        """Every library, in every mode, brings the right answers for all collectives; and C is what a BLAS computes."""
        team = self.plan.teams[0]
        points = [f"{name}:{0 if name == 'barrier' else 37}:{8 * team.ranks}" for name in ALL]
        words = ["--repetitions", "2", "--warm-up", "1", "--schedule", "static", *points]
        differ: dict[str, list[str]] = {}
        for contestant in self.programs.all_modes(team, FULL, words, self.plan.modes):
            harness.show_progress(f"checking {contestant.name}")
            for line in run_lines(contestant).values():
                if not line["same_bits"]:
                    differ.setdefault(contestant.name, []).append(line["collective"])
        harness.show_progress("")
        print(f"answers: right for {', '.join(ALL)}, with {ranks_text(team.ranks)}; C: {self.check_product(team)}")
        for name, collectives in differ.items():
            print(f"  {name}: started and blocking differ in their last bits: {', '.join(collectives)}")

    def check_product(self, team: Team) -> str:
        try:
            import numpy  # noqa: F401
        except ModuleNotFoundError:
            return "checked by the program (no numpy here, whose BLAS would check it again)"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "matrices"
            words = ["--repetitions", "2", "--matrices", str(path), f"alltoall:8:{32 * team.ranks}"]
            for contestant in self.programs.all_modes(team, FULL, words, [NORMAL]):
                run_lines(contestant)
                if wrong := wrong_elements(path):
                    raise BenchmarkError(f"{contestant.name}: {wrong} elements of C differ from dgemm's")
        return "every bit as dgemm's"

    def points(self, team: Team) -> list[tuple[str, int, int]]:
        """Collective, M and N. A balanced N is chosen once, so that all libraries compute the same: the computation
        takes about as long as the collective does in the first library."""
        pairs = [(name, m) for name in self.plan.collectives for m in ([0] if name == "barrier" else self.plan.ms)]
        balanced = {}
        if BALANCED in self.plan.ns:
            trial = 64 * -(-128 // (64 * team.ranks)) * team.ranks
            words = ["--repetitions", "10", "--schedule", "static", *(f"{name}:{m}:{trial}" for name, m in pairs)]
            first = self.programs.start(self.programs.libraries[0], NORMAL, team, FULL, words)
            for line in run_lines(first).values():
                wish = trial * (line["comm"]["median"] / line["comp"]["median"]) ** (1 / 3)
                steps = min(max(round(wish / team.ranks), 8 // team.ranks, 1), -(-2048 // team.ranks))
                balanced[line["collective"], line["m"]] = steps * team.ranks
        return [
            (name, m, balanced[name, m] if n == BALANCED else int(n)) for name, m in pairs for n in self.plan.ns
        ]  # fmt: skip

    def measure(self) -> None:
        for team in self.plan.teams:
            points = self.points(team)
            for placement in self.plan.placements:
                names = [self.plan.collectives] if self.plan.small else [[name] for name in self.plan.collectives]
                for chosen in names:
                    words = [f"{name}:{m}:{n}" for name, m, n in points if name in chosen]
                    self.compete(team, placement, words, ", ".join(chosen))

    def compete(self, team: Team, placement: str, points: Sequence[str], what: str) -> None:
        words = [*self.plan.words, *points]
        contestants = self.programs.all_modes(team, placement, words, self.plan.modes)
        label = f"{what}, {ranks_text(team.ranks)}, {placement}"
        self.samples[label] = harness.compete(contestants, self.plan.rounds, label, run_lines)
        here: Found = {}
        for name, runs in self.samples[label].runs.items():
            library, mode = name.split(", ")
            for point, line in runs[0].items():
                case = Case(
                    *(library, mode, placement, line["schedule"], line["ranks"]),
                    *(line["collective"], line["bytes"], line["m"], line["n"]),
                )
                here[case] = Figures.of([run[point] for run in runs], self.plan.statistic)
                self.notes[team, placement] = placement_text(line, placement)
        print(f"\n{label}: {self.notes[team, placement]}\n{figures.table(here)}", flush=True)
        self.found |= here

    def draw(self, folder: Path, name: str) -> list[Path]:
        try:
            import matplotlib  # noqa: F401
        except ModuleNotFoundError:
            print(f"\nno pictures, for {sys.executable} has no matplotlib (pip install matplotlib)")
            return []
        shown: list[Path | None] = []
        for team in self.plan.teams:
            here = {case: f for case, f in self.found.items() if case.ranks == team.ranks}
            notes = {placement: text for (of, placement), text in self.notes.items() if of == team}
            for collective in self.plan.collectives:
                part = {case: f for case, f in here.items() if case.collective == collective}
                m, n = max(((case.m, case.n) for case in part), default=(0, 0))
                point = {case: f for case, f in part.items() if (case.m, case.n) == (m, n)}
                shown.append(figures.bars(folder / f"{name}_{collective}_{team.per_node}.png", point, notes))
            shown.append(figures.efficiency(folder / f"{name}_efficiency_{team.per_node}.png", here))
        return [path for path in shown if path is not None]


def placement_text(line: Line, placement: str) -> str:
    """What the placement means on this machine, from what the program says that it has done."""
    cpus, computing, threads, ranks = line["cpus"], line["computing_cpus"], line["threads"], line["per_machine"]
    who = f"{ranks_text(ranks)} x {threads} thread{'s' if threads > 1 else ''}"
    text = f"{who} on {computing} of {cpus} CPUs"
    if ranks * threads > computing:
        text += ", which they share"
    if line["ranks"] == 1:
        text += " (a collective of one rank only copies)"
    if placement == SPARE:
        return f"{text}; {'no CPU is spare' if cpus == computing else f'spare: {cpus - computing}'}"
    return f"{text}; progress threads share them"


def printed(*command: str) -> str:
    """What a command prints; "" if there is none such."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def offload_table(programs: Programs, team: Team) -> str:
    """The paper's table 4, where hardware carries collectives on: allreduce of 16 doubles, mean of 1000, us."""
    devices = Path("/sys/class/infiniband")
    library = next((library for library in programs.libraries if library.name == "openmpi"), None)
    why = ""
    if not (devices.is_dir() and any(devices.iterdir())):
        why = "no InfiniBand device"
    elif library is None:
        why = "no Open MPI"
    elif "coll:hcoll" not in printed("ompi_info", "--parsable"):
        why = "Open MPI has no component hcoll"
    if why or library is None:
        return f"Offload to hardware (allreduce of 16 doubles): not available here ({why})"
    words = ["--repetitions", "1000", "--additions", "150", "--schedule", "static", "allreduce:16:1"]
    switches = {"with SHArP": ("1", "2"), "without": ("0", "0")}
    rows = [["allreduce of 16 doubles, mean of 1000: us", "comm", "nbcomm", "comp", "ovlp"]]
    for name, (enabled, sharp) in switches.items():
        contestant = programs.start(library, NORMAL, team, FULL, words)
        contestant.environment |= {
            "OMPI_MCA_coll_hcoll_enable": enabled,
            "HCOLL_ENABLE_SHARP": sharp,
            "HCOLL_ENABLE_NBC": enabled,
        }
        (line,) = run_lines(contestant).values()
        rows.append([name, *(f"{1e6 * line[phase]['mean']:.3g}" for phase in ("comm", "nbcomm", "comp", "ovlp"))])
    return harness.table(rows)


# ---- the command line ------------------------------------------------------------------------------------------------


def list_of_numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def parse() -> argparse.Namespace:
    parser = harness.arguments(__doc__ or "", "overlap")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.prog = "hiroba overlap"
    add = parser.add_argument
    add("-M", type=list_of_numbers, help="doubles for each destination, a list (default: 16 to 1048576)")
    add("-N", default=BALANCED, help="sizes of the matrices, a list; balanced: computation as long as the collective")
    add("--paper", action="store_true", help="the paper's point: -M 131072 -N 512,1024")
    add("--collectives", help=f"a list of {', '.join(ALL)}; or all (default: alltoall,allreduce)")
    add("--per-node", type=list_of_numbers, help="ranks on a node, a list (default: those of 1, 2, 4 that cores allow)")
    add("--hosts", default="", help="names of nodes that see the folder of results, a list (default: this one)")
    add("--placement", default="spare,full", help="of threads: spare, full (default: both)")
    add("--modes", default=",".join(MODES), help=f"of progress (default: {','.join(MODES)})")
    add("--libraries", help="only these: openmpi, mpich, hiroba, and those of --mpi")
    add(
        "--mpi",
        action="append",
        default=[],
        metavar="NAME:MPICC:MPIRUN[:VARS[:VARS]]",
        help="another MPI: its compiler, its launcher with {ranks} and {per_node}, the variables VARIABLE=VALUE,... "
        "that switch on its progress threads, and those that put them on CPU {cpu}, too",
    )
    add("--repetitions", type=int, help="of which a run takes the mean (default: 20)")
    add("--test-calls", type=int, default=0, help="calls of MPI_Test in the computation (default: 0)")
    add("--statistic", default="mean", choices=("mean", "median", "min"), help="of the repetitions (default: mean)")
    add(
        "--like",
        type=Path,
        help="report of a program (hirobarun --report FILE.json), or list of its calls (README.md): what it would gain",
    )
    add("--measured", type=Path, help="with --like: take the figures of this earlier run, and measure nothing")
    if not (ROOT / "bench" / "overlap").is_dir():  # an installation
        parser.set_defaults(out=Path("overlap"))
    return parser.parse_args()


def chosen(text: str, names: Sequence[str], option: str) -> list[str]:
    words = list(names) if text == "all" else text.split(",")
    if bad := [word for word in words if word not in names]:
        raise BenchmarkError(f"{option}: {bad[0]} is none of {', '.join(names)}")
    return words


def make_plan(options: argparse.Namespace, uses: Sequence[advice.Use]) -> Plan:
    cores = len(os.sched_getaffinity(0))
    hosts = tuple(options.hosts.split(",")) if options.hosts else ()
    per_node = options.per_node or [n for n in (1, 2, 4) if n <= cores and n * max(1, len(hosts)) > 1] or [2]
    collectives = chosen(options.collectives or "alltoall,allreduce", ALL, "--collectives")
    ms, ns = options.M or ([16, 1024] if options.small else SIZES), options.N.split(",")
    if options.paper:
        ms, ns = [131072], ["512", "1024"]
    if uses and not options.collectives:
        collectives = chosen(",".join(dict.fromkeys(use.collective for use in uses)), ALL, "--like")
    if uses and not options.M:
        ms = sorted({max(1, round(use.bytes / 8)) for use in uses})
    if bad := [n for n in ns if n != BALANCED and not n.isdecimal()]:
        raise BenchmarkError(f"-N: {bad[0]} is neither a number nor {BALANCED}")
    repetitions = options.repetitions or (2 if options.small else 20)
    words = ["--repetitions", str(repetitions), "--test-calls", str(options.test_calls)]
    words += ["--warm-up", "1"] if options.small else []
    return Plan(
        collectives,
        ms,
        ns,
        [Team(count, hosts) for count in per_node],
        chosen(options.placement, PLACEMENTS, "--placement"),
        chosen(options.modes, MODES, "--modes"),
        options.rounds or (1 if options.small else 5),
        words,
        options.statistic,
        options.small,
    )


def read_measured(path: Path) -> Found:
    try:
        return figures.from_json(json.loads(path.read_text())["figures"])
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise BenchmarkError(f"--measured {path} is no result of this benchmark: {error!r}") from error


def circumstances(programs: Programs, plan: Plan) -> dict[str, Any]:
    around: dict[str, Any] = harness.circumstances()
    around["left_out"] = programs.left_out
    around["environment"] = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)}
    contestants = programs.all_modes(plan.teams[0], FULL, [], plan.modes)
    around["commands"] = {
        c.name: {"command": list(map(str, c.command)), "environment": c.environment} for c in contestants
    }
    return around


def run() -> int:
    options = parse()
    uses = advice.read_uses(options.like) if options.like else []
    if options.measured:
        if not uses:
            raise BenchmarkError("--measured goes with --like")
        print(advice.like(read_measured(options.measured), uses)[0])
        return 0
    plan = make_plan(options, uses)
    libraries = [*known(plan.teams[0].hosts, options.build.resolve()), *map(described, options.mpi)]
    if options.libraries:
        names = chosen(options.libraries, [library.name for library in libraries], "--libraries")
        libraries = [library for library in libraries if library.name in names]
    programs = Programs(libraries, options.build, options.out / "programs")
    around = circumstances(programs, plan)
    print(
        f"{around['cores']} cores, {around['cpu']}, load {around['load_before']:.2f}; {plan.rounds} rounds, medians of"
    )
    print(f"the {plan.statistic} of the repetitions; the slowest rank counts")
    for line in programs.left_out:
        print(line)
    benchmark = Benchmark(plan, programs)
    benchmark.check()
    benchmark.measure()
    found = benchmark.found
    prospects: list[dict[str, Any]] = []
    if uses:
        text, prospects = advice.like(found, uses)
        print(f"\n{text}")
    print(f"\n{offload_table(programs, plan.teams[0])}")
    reached = [] if options.small else advice.targets(found)
    for target in reached:
        print(target.line())
    name = "overlap_small" if options.small else "overlap"
    pictures = benchmark.draw(options.out, name)
    around["placements"] = {f"{team.per_node}, {place}": text for (team, place), text in benchmark.notes.items()}
    more = {"figures": figures.as_json(found), "like": prospects, "advice": advice.advice(found)}
    kept = harness.write(options.out, name, around, benchmark.samples, reached, more)
    print(f"\n{advice.advice(found)}\n\nkept in {kept}" + "".join(f", {path.name}" for path in pictures))
    return 0


if __name__ == "__main__":
    harness.main(run)
