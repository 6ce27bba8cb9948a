#!/usr/bin/env python3
"""Random programs with Hiroba's directives, compared with what the same C prints without them.

    fuzz.py --build BUILD [--seconds S] [--seed N] [--cases N] [--without NAME]...

Each seed is one file of many cases, compiled once and run over several ranks, nodes and options. A wrong result is made
smaller (fewest cases, then fewest pieces, then the simplest job), kept, and printed with the commands that repeat it;
the exit status is then 1."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from arrays import CONSTRUCTS, LEFT_OUT, MOST_RANKS
from cases import Case
from program import draw_cases, text_of

HERE = Path(__file__).resolve().parent
JOB_SECONDS = 300
SHRINK_SECONDS = 90


@dataclass(frozen=True)
class Setup:
    """How a job is started."""

    ranks: int
    nodes: int
    options: tuple[str, ...] = ()  # NAME=VALUE
    openmp: bool = False
    threads: int = 1

    def counts_faults(self) -> bool:
        """A small cache evicts what the loop has fetched ahead."""
        return not any(option.startswith("CACHE") for option in self.options)

    def environment(self) -> dict[str, str]:
        own = {f"HIROBA_{name}": value for name, _, value in (option.partition("=") for option in self.options)}
        return {**({"FUZZ_FAULTS": "1"} if self.counts_faults() else {}), **own}


def draw_setup(dice: random.Random, network: bool) -> Setup:
    ranks = dice.choice([1, 2, 2, 3, 3, 4, 4, MOST_RANKS])
    options = [
        dice.choice(["", "", "CACHE=256K"]),
        dice.choice(["", "", "TRACKING=mprotect", "TRACKING=uffd"]),
        dice.choice(["", f"CHAOS={dice.randint(1, 1 << 20)}"]),
        dice.choice(["", "", "", "READAHEAD=4K"]),
        dice.choice(["", "", "CHECK=yes"]),
        dice.choice(["", "TRANSPORT=ucx" if network else ""]),  # where barriers wait for the next loop
    ]
    if not any(option.startswith("TRACKING") for option in options):
        options.append(dice.choice(["", "TWIN=fetch"]))
    nodes = ranks if dice.random() < 0.6 else dice.randint(1, ranks)
    return Setup(ranks, nodes, tuple(option for option in options if option), threads=dice.choice([1, 1, 2]))


def simpler(setup: Setup) -> Iterator[Setup]:
    if setup.threads > 1:
        yield replace(setup, threads=1)
    for option in setup.options:
        yield replace(setup, options=tuple(o for o in setup.options if o != option))
    for ranks in range(1, setup.ranks):
        for nodes in range(1, min(ranks, setup.nodes) + 1):
            yield replace(setup, ranks=ranks, nodes=nodes)


class Bench:
    """Compiles and runs programs in one folder."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.build, self.folder = build, folder

    def has_network(self) -> bool:
        return (self.build / "lib/hiroba/wire-ucx.so").exists()

    def compile(self, text: str, openmp: bool) -> str:
        """What the compilers complained about."""
        (self.folder / "program.c").write_text(text)
        for command in (self.serial_compile(), self.compile_command(openmp)):
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return f"{' '.join(command)}\n{done.stderr[:3000]}"
        return ""

    def serial_compile(self) -> list[str]:
        return ["cc", "-O1", "-w", "-Dhiroba_serial", f"-I{HERE}", "program.c", "-o", "serial"]

    def compile_command(self, openmp: bool) -> list[str]:
        return [str(self.build / "bin/hirobacc"), "-O1", "-w", *(["-fopenmp"] * openmp), "program.c", "-o", "program"]

    def run_command(self, setup: Setup, cases: list[int]) -> list[str]:
        words = [self.build / "bin/hirobarun", "-n", setup.ranks, "--nodes", setup.nodes, "--threads", setup.threads]
        return [str(word) for word in [*words, "--timeout", 20, "./program", *cases]]

    def serial(self, cases: list[int]) -> str:
        command = ["./serial", *map(str, cases)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True, timeout=JOB_SECONDS)
        return done.stdout

    def wrong(self, setup: Setup, cases: list[int], expected: str) -> str:
        """How the output differs, or nothing."""
        command, environment = self.run_command(setup, cases), {**os.environ, **setup.environment()}
        job = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            out, err = job.communicate(timeout=JOB_SECONDS)
        except subprocess.TimeoutExpired:
            job.terminate()
            out, err = job.communicate()
            err += f"\nnot over after {JOB_SECONDS} s"
        # What computes the serial answer does not race; "perhaps a race" may be said of any program.
        if job.returncode == 0 and out == expected and "check: race on" not in err:
            return ""
        ours, theirs = out.splitlines(), expected.splitlines()
        differ = [f"  {line}" for line in ours if line not in theirs]
        differ += [f"  missing: {line}" for line in theirs if line not in ours]
        return "\n".join([f"exit status {job.returncode}", *differ[:10], err[:2000]])


def cases_in(text: str) -> list[int]:
    words = text.replace(",", " ").split()
    return sorted({int(b) for a, b in zip(words, words[1:], strict=False) if a == "case" and b.isdigit()})


class Failure:
    """Something that goes wrong, made smaller as long as it still does."""

    def __init__(self, bench: Bench, setup: Setup, cases: list[Case], text: str) -> None:
        self.bench, self.setup, self.cases, self.text = bench, setup, cases, text
        self.until = time.monotonic() + SHRINK_SECONDS
        self.keep = {case.number: frozenset(range(len(case.pieces))) for case in cases}

    def fails(self, cases: list[Case], keep: dict[int, frozenset[int]], setup: Setup, tries: int = 3) -> str:
        if time.monotonic() > self.until:
            return ""
        complaint = self.bench.compile(text_of(cases, keep), setup.openmp)
        if complaint:
            return complaint
        expected = self.bench.serial([])
        for _ in range(tries):
            wrong = self.bench.wrong(setup, [], expected)
            if wrong:
                return wrong
        return ""

    def _take(self, cases: list[Case], keep: dict[int, frozenset[int]], setup: Setup) -> bool:
        text = self.fails(cases, keep, setup)
        if text:
            self.cases, self.keep, self.setup, self.text = cases, keep, setup, text
        return bool(text)

    def shrink(self) -> None:
        self._fewer_cases()
        for case in self.cases:
            for piece in sorted(self.keep[case.number]):
                self._take(self.cases, {**self.keep, case.number: self.keep[case.number] - {piece}}, self.setup)
        while any(self._take(self.cases, self.keep, setup) for setup in simpler(self.setup)):
            pass

    def _fewer_cases(self) -> None:
        named = [case for case in self.cases if case.number in cases_in(self.text)]
        for case in named[:3]:
            if self._take([case], self.keep, self.setup):
                return
        while len(self.cases) > 1:
            half = len(self.cases) // 2
            if not any(self._take(part, self.keep, self.setup) for part in (self.cases[:half], self.cases[half:])):
                return

    def report(self) -> str:
        """Writes the smallest program, and says how to repeat it."""
        folder = Path(tempfile.mkdtemp(prefix="hiroba-fuzz-"))
        bench = Bench(self.bench.build, folder)
        (folder / "program.c").write_text(text_of(self.cases, self.keep))
        settings = " ".join(f"{name}={value}" for name, value in self.setup.environment().items())
        return "\n".join([
            f"cd {folder}", " ".join(bench.serial_compile()), " ".join(bench.compile_command(self.setup.openmp)),
            f"./serial; {settings} {' '.join(bench.run_command(self.setup, []))}", self.text,
        ])  # fmt: skip


def try_seed(bench: Bench, seed: int, count: int, left_out: frozenset[str], jobs: int) -> Failure | None:
    dice = random.Random(f"setups {seed}")
    cases, openmp = draw_cases(seed, count, left_out), dice.random() < 0.5
    complaint = bench.compile(text_of(cases), openmp)
    if complaint:
        return Failure(bench, Setup(1, 1, (), openmp), cases, complaint)
    expected = bench.serial([])
    for _ in range(jobs):
        setup = replace(draw_setup(dice, bench.has_network()), openmp=openmp)
        wrong = bench.wrong(setup, [], expected)
        if wrong:
            return Failure(bench, setup, cases, wrong)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="the first one (default: the time)")
    parser.add_argument("--cases", type=int, default=30, help="cases per file")
    parser.add_argument("--jobs", type=int, default=6, help="jobs per file")
    parser.add_argument("--without", action="append", default=[], choices=sorted(CONSTRUCTS))
    parser.add_argument("--on", action="store_true", help="go on after a failure")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else int(time.time())
    left_out = frozenset(LEFT_OUT) | frozenset(options.without)
    print(f"fuzz: --seed {first}, {options.seconds:g} s", flush=True)
    for name in sorted(left_out):
        print(f"fuzz: left out: {CONSTRUCTS[name]} ({LEFT_OUT.get(name, 'as asked')})")
    begun, seed, failures = time.monotonic(), first, 0
    with tempfile.TemporaryDirectory(prefix="hiroba-fuzz-") as folder:
        bench = Bench(options.build.resolve(), Path(folder))
        while time.monotonic() - begun < options.seconds and (options.on or not failures):
            failure = try_seed(bench, seed, options.cases, left_out, options.jobs)
            if failure is not None:
                print(f"fuzz: WRONG with --seed {seed} --cases {options.cases}: {failure.text}", flush=True)
                failure.shrink()
                print(f"fuzz: to repeat:\n{failure.report()}", flush=True)
                failures += 1
            seed += 1
    print(f"fuzz: {seed - first} files of {options.cases} cases, {failures or 'none'} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
