#!/usr/bin/env python3
"""Small mistakes on purpose, one at a time, each of which the unit tests must notice.

usage: mutants.py [--sample N] [--seed S] [--seconds T] [FILE...]

Each mutant changes one place of one file: a condition is negated, < becomes <=, + becomes -, && becomes ||, a statement
is dropped. The unit tests of that file (TESTS, below) are built and run, with a time limit. A mutant that no test
notices is a survivor, and is reported with file and line: either a test is missing, or the change makes no difference.

All happens in a copy of the sources, build/mutants, so neither the tree nor its build is touched. Mutants that tests
have noticed are kept in build/mutants/noticed and not tried again; remove that folder to begin anew.
"""

import argparse
import concurrent.futures
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"

# The tests (as gtest names them) of each file that has unit tests of its own.
PARTS = "*NetPartsTest.*"
CACHE = "*CacheTest.*:*CacheBarrierTest.*:NoticesTest.*:HomeWritesTest.*"
HEAP = "Heap*.*:Packs.*:ThreadCache.*"
INTERVALS = "IntervalsTest.*"
TESTS = {
    "src/transport/order/put_ledger.cpp": PARTS,
    "src/transport/order/arrived_puts.hpp": PARTS + ":ArrivedPuts.*",
    "src/transport/net/deferred_gets.hpp": "DeferredGetsTest.*",
    "src/transport/order/split_barrier.cpp": PARTS,
    "src/transport/order/group_barrier.cpp": PARTS,
    "src/transport/wire/transfers.hpp": PARTS + ":TransfersTest.*",
    "src/transport/wire/outbox.cpp": PARTS + ":OutboxTest.*",
    "src/transport/wire/channel.cpp": PARTS + ":OutboxTest.*:*ChannelTest.*:ChannelRoomTest.*",
    "src/transport/session/alive.hpp": "Alive*.*",
    "src/memory/cache/copies.cpp": CACHE,
    "src/memory/cache/fetches.cpp": CACHE,
    "src/memory/cache/writeback.cpp": CACHE,
    "src/memory/notices/notices.hpp": CACHE,
    "src/memory/notices/home_writes.cpp": CACHE,
    "src/memory/homes/home_runs.cpp": "HomeRunsTest.*",
    "src/memory/sync/interval_log.cpp": INTERVALS,
    "src/memory/sync/intervals.cpp": INTERVALS,
    "src/memory/heap/packs.cpp": HEAP,
    "src/memory/heap/returns.cpp": HEAP,
    "src/memory/heap/space.cpp": HEAP,
    "src/memory/heap/thread_cache.cpp": HEAP,
    "src/loops/neighbours.cpp": "Neighbours*.*",
    "src/loops/share.cpp": "Share.*:Neighbours*.*",
}

SWAPS = (
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" != ", " == "),
    (" && ", " || "),
    (" || ", " && "),
    (" + 1", ""),
    (" - 1", ""),
    (" + ", " - "),
    (" - ", " + "),
    (" += ", " -= "),
    (" -= ", " += "),
    ("++", "--"),
    ("true", "false"),
    ("false", "true"),
)
CONDITION = re.compile(r"\b(?:if|while) \(")
STATEMENT = re.compile(r"(?:^\s*|\) |\belse )((?:[\w:.>\[\]()*+-]+(?:\(.*\)| (?:[-+|&^]?=|<<) .*)|break|continue));$")


class Mutant(NamedTuple):
    line: int  # from 1
    before: str
    after: str


def masked(line: str) -> str:
    """The line with text and comments blanked, so that what is found in it is code."""
    line = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', lambda m: "~" * len(m[0]), line)
    return re.sub(r"//.*", lambda m: " " * len(m[0]), line)


def closing(line: str, opening: int) -> int:
    """Where the parenthesis that opens there is closed; -1 if not in this line."""
    depth = 0
    for at in range(opening, len(line)):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        if depth == 0:
            return at
    return -1


def mutations_of(line: str) -> list[str]:
    code = masked(line)
    out = []
    for old, new in SWAPS:
        for at in re.finditer(rf"\b{old}\b" if old.isalpha() else re.escape(old), code):
            if not (old in (" + 1", " - 1") and code[at.end() :][:1].isalnum()):
                out.append(line[: at.start()] + new + line[at.end() :])
    for found in CONDITION.finditer(code):
        end = closing(code, found.end() - 1)
        if end >= 0:
            out.append(f"{line[: found.end()]}!({line[found.end() : end]}){line[end:]}")
    statement = STATEMENT.search(code.rstrip())
    if statement:
        out.append(line[: statement.start(1)] + line[statement.end(1) :])
    return out


def mutants_of(text: str) -> list[Mutant]:
    """All mutants of a source, in order."""
    out = []
    for number, line in enumerate(text.split("\n"), 1):
        if not re.match(r"\s*(//|#|assert\(|static_assert\(|template\b|using\b)", line):
            out += [Mutant(number, line, after) for after in mutations_of(line)]
    return out


class Copy:
    """A copy of the sources, with a build of its own, in which one mutant at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tree, self.build_folder = folder, folder / "tree", folder / "build"
        self.limits: dict[str, float] = {}  # seconds, by tests

    def prepare(self) -> None:
        self.refresh()
        if not (self.build_folder / "build.ninja").exists():
            environment = os.environ | {"VIRTUAL_ENV": str(ROOT / ".venv")}
            command = ["cmake", "-S", str(self.tree), "-B", str(self.build_folder), "-G", "Ninja", "-DHIROBA_TESTS=ON"]
            # Without optimisation: what takes time here is the compiler.
            subprocess.run([*command, "-DCMAKE_CXX_FLAGS=-O0"], check=True, stdout=subprocess.DEVNULL, env=environment)
        if not self.build():
            sys.exit(f"mutants: the unit tests do not build; {self.folder / 'build.log'} says why")

    def refresh(self) -> None:
        """What has not changed keeps its time, so it is not built again."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        for name in filter(None, listed.stdout.decode().split("\0")):
            source, target = ROOT / name, self.tree / name
            if not source.is_file() or (target.exists() and target.read_bytes() == source.read_bytes()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)

    def build(self) -> bool:
        command = ["cmake", "--build", str(self.build_folder), "--target", "unit"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        (self.folder / "build.log").write_bytes(done.stdout)
        return done.returncode == 0

    def passes(self, tests: str, seconds: float) -> bool:
        command = [str(self.build_folder / "tests/unit/unit"), f"--gtest_filter={tests}", "--gtest_fail_fast"]
        try:
            return subprocess.run(command, capture_output=True, timeout=seconds).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def limit(self, tests: str) -> float:
        if tests not in self.limits:
            began = time.monotonic()
            if not (self.build() and self.passes(tests, 300)):
                sys.exit(f"mutants: {tests} fails without any mutant")
            self.limits[tests] = 10 + 5 * (time.monotonic() - began)
        return self.limits[tests]

    def outcome(self, name: str, mutant: Mutant) -> str:
        path, tests = self.tree / name, TESTS[name]
        limit = self.limit(tests)
        original = path.read_text()
        lines = original.split("\n")
        lines[mutant.line - 1] = mutant.after
        try:
            path.write_text("\n".join(lines))
            return "not built" if not self.build() else "survived" if self.passes(tests, limit) else "noticed"
        finally:
            path.write_text(original)


def try_all(chosen: list[tuple[str, Mutant]], seconds: float, workers: int) -> dict[str, int]:
    """Tries them until the time is over; returns how many came to what."""
    WORK.mkdir(parents=True, exist_ok=True)
    noticed = WORK / "noticed"
    known = set(noticed.read_text().split("\0")) if noticed.exists() else set()
    counts = {"noticed": 0, "survived": 0, "not built": 0, "left": 0}
    copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for number in range(workers):
        copy = Copy(WORK / str(number))
        copy.prepare()
        copies.put(copy)
    end = time.monotonic() + seconds
    lock = threading.Lock()

    def try_one(name: str, mutant: Mutant) -> None:
        key = f"{name}\n{mutant.before}\n{mutant.after}"
        result = "noticed" if key in known else "left"
        if result == "left" and time.monotonic() < end:
            copy = copies.get()
            result = copy.outcome(name, mutant)
            copies.put(copy)
        with lock:
            counts[result] += 1
            if result == "survived":
                print(f"{name}:{mutant.line}: {mutant.before.strip()}\n    -> {mutant.after.strip()}", flush=True)
            elif result == "noticed" and key not in known:
                with noticed.open("a") as file:
                    file.write(key + "\0")

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(try_one, name, mutant) for name, mutant in chosen]:
            done.result()
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description="changes sources in small ways and tells what no unit test notices")
    parser.add_argument("files", nargs="*", metavar="FILE", help="default: all with unit tests of their own")
    parser.add_argument("--sample", type=int, default=12, help="mutants of each file, by chance (0: all)")
    parser.add_argument("--seed", type=int, default=1, help="of that chance")
    parser.add_argument("--seconds", type=float, default=3600, help="begins no other mutant after this time")
    parser.add_argument("--workers", type=int, default=2, help="mutants that are tried at once")
    given = parser.parse_args()
    chosen: list[tuple[str, Mutant]] = []
    for name in given.files or TESTS:
        if name not in TESTS:
            sys.exit(f"mutants: {name} has no unit tests that this program knows; it knows: {' '.join(TESTS)}")
        mutants = mutants_of((ROOT / name).read_text())
        if given.sample and given.sample < len(mutants):
            mutants = random.Random(f"{given.seed} {name}").sample(mutants, given.sample)
        chosen += [(name, mutant) for mutant in mutants]
    return 1 if try_all(chosen, given.seconds, given.workers)["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
