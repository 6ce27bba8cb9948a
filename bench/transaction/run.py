"""Transactions: a red-black tree with 0 to 100 % of updates, and accounts, by the calls of transaction.h, by
libhiroba_tm, by GCC's libitm (method ml_wt), by TinySTM, and without transactions; the tree, accounts and K-means over
ranks and virtual nodes.

The programs are compiled from one source, in which the contestant's header says how a transaction loads and stores.
Each checks its tree, or its sums, before it prints a figure. TinySTM is not part of the project: --tinystm names a
folder with its source, --fetch gets it by git; without either it is left out.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Samples, Target
from workshop import call_compiler, library_flags

FOLDER = Path(__file__).resolve().parent
TINYSTM = "https://github.com/patrickmarlier/tinystm"
TINYSTM_COMMIT = "02c10cc"
CALLS, TM, ITM, TINY, PLAIN = "calls", "libhiroba_tm", "libitm ml_wt", "TinySTM", "no transactions"
PARTS = ["threads", "ranks", "bank", "kmeans"]
SIZES = {"256": ("256", "512"), "2^16": ("65536", "131072")}
MIXES = [0, 2, 20, 50, 100]
SHAPES = {"1 rank": (1, 1), "2 ranks": (2, 1), "2 virtual nodes": (2, 2)}
BINS = [0, *(1 << i for i in range(15))]  # of the histogram: after_N
# What GCC 12 gets wrong in transactions: docs/transactions.md.
SOUND = ["-fgnu-tm", "-fno-code-hoisting", "-fno-isolate-erroneous-paths-dereference"]


@dataclass
class Work:
    """What each contestant does, in full and as a test."""

    operations: int
    rounds: int


FULL, SMALL = Work(300000, 7), Work(2000, 1)


def tinystm(given: Path | None, fetch: bool, folder: Path) -> Path | None:
    """Returns a folder with a built TinySTM; None if the user has not asked for one, or it cannot be had."""
    if given is None and fetch:
        given = folder / "tinystm"
        try:
            if not given.exists():
                command(["git", "clone", "-q", TINYSTM, given])
                command(["git", "-C", given, "checkout", "-q", TINYSTM_COMMIT])
        except BenchmarkError as error:
            print(f"{TINY} was not found: {error}")
            given = None
    if given is None:
        return None
    if not (given / "lib" / "libstm.a").exists():
        command(["make", "-C", given])
    return given.resolve()


def command(words: Sequence[str | Path]) -> None:
    text = [str(word) for word in words]
    done = subprocess.run(text, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(text)}\n{done.stdout}{done.stderr}")


class Programs:
    """Compiles the program of each contestant."""

    def __init__(self, build: Path, tiny: Path | None) -> None:
        self.folder = build.resolve() / "bench" / "transaction"
        self.left_out: list[str] = []
        self.ways: dict[str, tuple[str, list[str], list[str]]] = {
            CALLS: ("calls.h", [], library_flags(build)),
            PLAIN: ("plain.h", [], []),
        }
        if shutil.which("gcc") is None:
            raise BenchmarkError("there is no gcc (Debian: gcc)")
        if (build / "lib" / "libhiroba_tm.so").exists():
            self.ways[TM] = ("plain.h", ["-DBENCH_GCC", *SOUND], library_flags(build, "hiroba_tm"))
        self.ways[ITM] = ("plain.h", ["-DBENCH_GCC", *SOUND], [])
        if tiny is not None:
            self.ways[TINY] = ("tinystm.h", ["-I", str(tiny / "include")], [str(tiny / "lib" / "libstm.a")])
        else:
            self.left_out.append(f"left out: {TINY}; --tinystm FOLDER or --fetch ({TINYSTM})")
        for name in list(self.ways):
            for program in ("rbtree", "bank"):
                if why := self.compile(program, name):
                    self.left_out.append(f"left out: {name}, which does not compile here: {why}")
                    del self.ways[name]
                    break

    def binary(self, program: str, name: str) -> Path:
        return self.folder / f"{program}_{name.replace(' ', '_')}"

    def compile(self, program: str, name: str) -> str:
        header, flags, libraries = self.ways[name]
        self.folder.mkdir(parents=True, exist_ok=True)
        sources = [FOLDER / f"{program}.c"]
        if program == "rbtree":
            sources.append(harness.ROOT / "apps" / "rbtree" / "set.c")
        words = ["gcc", "-O3", "-march=native", "-fopenmp", *flags, f'-DCONTESTANT="{header}"']
        words += ["-I", str(harness.ROOT / "include"), "-include", str(FOLDER / "work.h"), *map(str, sources)]
        return call_compiler([*words, "-o", self.binary(program, name), *libraries], may_fail=name != CALLS)

    def contestants(self, program: str, words: Sequence[object], without: Sequence[str] = ()) -> list[Contestant]:
        return [
            Contestant(name, [self.binary(program, name), *map(str, words)], {"ITM_DEFAULT_METHOD": "ml_wt"})
            for name in self.ways
            if name not in without
        ]


def launch(build: Path, shape: str, app: str, *words: object) -> Contestant:
    ranks, nodes = SHAPES[shape]
    start: list[str | Path] = [build / "bin" / "hirobarun", "-n", str(ranks), "--nodes", str(nodes), "--threads", "1"]
    return Contestant(shape, [*start, build / "bin" / f"{app}_hiroba", *map(str, words), "--json", "-"])


def counted(contestant: Contestant) -> dict[str, Any]:
    """Runs an application, and returns what its transactions have done, each as often as they have committed."""
    report = harness.run_once(contestant)
    commits = report["commits"]
    found = {"rate": commits / report["seconds"]}
    found |= {name: report[name] / commits for name in ("aborts", "messages")}
    return found | {f"after_{n}": report[f"after_{n}"] / commits for n in BINS if report[f"after_{n}"] > 0 or n == 0}


class Bench:
    def __init__(self, options: Any) -> None:
        self.build, self.small = options.build, options.small
        self.work = SMALL if options.small else FULL
        self.rounds = options.rounds or self.work.rounds
        folder = options.build.resolve() / "bench" / "transaction"
        folder.mkdir(parents=True, exist_ok=True)
        self.programs = Programs(options.build, tinystm(options.tinystm, options.fetch, folder))
        self.samples: dict[str, Samples] = {}
        self.targets: list[Target] = []
        self.panels: dict[str, dict[str, list[float]]] = {}

    def compete(self, label: str, contestants: Sequence[Contestant], run: Any = harness.run_once) -> Samples:
        samples = harness.compete(contestants, self.rounds, label, run, warm_up=False)
        self.samples[label] = samples
        self.panels[label] = {name: [rate / 1e6 for rate in samples.values(name, "rate")] for name in samples.runs}
        rows = [["", "M/s", "spread", *(["aborts"] if CALLS in samples.runs or run is counted else [])]]
        for name, runs in samples.runs.items():
            rate = [name, f"{samples.median(name, 'rate') / 1e6:.3f}", f"{100 * samples.spread(name, 'rate'):.0f} %"]
            aborts = f"{samples.median(name, 'aborts'):.2g}" if "aborts" in runs[0] else ""
            rows.append([*rate, aborts][: len(rows[0])])
        print(f"\n{label}\n{harness.table(rows)}", flush=True)
        return samples

    def require(self, what: str, samples: Samples, name: str, other: str, limit: float, why_not: str = "") -> None:
        if name in samples.runs and other in samples.runs:
            ratio = samples.ratio(name, other, "rate")
            self.targets.append(Target(f"{what}: {name} / {other}", ratio, limit, at_most=False, why_not=why_not))

    def threads(self) -> None:
        privacy = "TinySTM does not wait for readers of memory that a commit has made private"
        for size, words in SIZES.items():
            for mix in MIXES:
                for threads in (1, 2):
                    label = f"tree of {size}, {mix} % updates, {threads} threads"
                    given = [*words, mix, threads, self.work.operations]
                    without = [PLAIN] if mix > 0 and threads > 1 else []
                    samples = self.compete(label, self.programs.contestants("rbtree", given, without))
                    if mix == 0:
                        ratio = samples.ratio(PLAIN, CALLS, "rate")
                        self.targets.append(Target(f"{label}: {PLAIN} / {CALLS}", ratio, 2.5))
                    if (mix, threads) == (20, 2):
                        for ours in (CALLS, TM):
                            self.require(label, samples, ours, TINY, 0.9, privacy)
                            self.require(label, samples, ours, ITM, 1.5)

    def ranks(self) -> None:
        for size, words in SIZES.items():
            for mix in MIXES:
                label = f"tree of {size}, {mix} % updates, ranks"
                given = ["--size", words[0], "--range", words[1], "--updates", mix, "--steps", 4]
                given += ["--operations", self.work.operations // 4]
                samples = self.compete(
                    label, [launch(self.build, shape, "rbtree", *given) for shape in SHAPES], counted
                )  # fmt: skip
                if mix == 0 and size == "2^16":
                    self.require(label, samples, "2 virtual nodes", "1 rank", 0.5)

    def bank(self) -> None:
        for threads in (1, 2):
            given = [1024, 20, threads, self.work.operations // 10]
            without = [PLAIN] if threads > 1 else []
            self.compete(f"accounts, {threads} threads", self.programs.contestants("bank", given, without))
        words = ["--size", 1024, "--steps", 4, "--operations", self.work.operations // 40]
        self.compete("accounts, ranks", [launch(self.build, shape, "bank", *words) for shape in SHAPES], counted)

    def kmeans(self) -> None:
        size = ["--size", 2000, "--dimensions", 8] if self.small else ["--size", 65536, "--dimensions", 32]
        given = [*size, "--clusters", 15, "--threshold", "0.00001", "--chunk", 1024, "--steps", 10]
        sequential = launch(self.build, "1 rank", "kmeans", *given, "--with", "nothing")
        contestants = [Contestant("sequential", sequential.command)]
        for way, words in {"": [], ", gathered": ["--gather"]}.items():
            for shape in SHAPES:
                started = launch(self.build, shape, "kmeans", *given, *words)
                contestants.append(Contestant(f"{shape}{way}", started.command))

        def points(contestant: Contestant) -> dict[str, Any]:
            report = harness.run_once(contestant)
            done = report["passes"] * report["size"]
            return {"rate": done / report["seconds"], "aborts": report["aborts"] / max(report["commits"], 1)}

        samples = self.compete("K-means", contestants, points)
        self.require("K-means", samples, "2 ranks, gathered", "sequential", 1.7)
        self.require("K-means", samples, "2 virtual nodes, gathered", "sequential", 1.5)


def run() -> int:
    parser = harness.arguments(__doc__ or "")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; may be given again")
    parser.add_argument("--tinystm", type=Path, help="folder with the source of TinySTM; it is built there")
    parser.add_argument("--fetch", action="store_true", help=f"get {TINYSTM} by git")
    options = parser.parse_args()
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}")
    bench = Bench(options)
    print("\n".join(bench.programs.left_out))
    for part in options.part or PARTS:
        getattr(bench, part)()
    met = [] if options.small else bench.targets
    print()
    for target in met:
        print(target.line())
    name = "transaction_small" if options.small else "transaction"
    picture = harness.plot(
        options.out / f"{name}.png", "Transactions", bench.panels, "M/s (higher is better)", columns=4, sharey=False
    )
    kept = harness.write(options.out, name, around, bench.samples, met)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
