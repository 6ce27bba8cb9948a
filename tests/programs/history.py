#!/usr/bin/env python3
"""Judges histories of transactions: is there one order of all attempts, also of those that were aborted, that explains
what each has read, and in which none comes before one that had ended when it began?

    history.py [--finds] [--ranks N] [--nodes N] [--threads N] [--transactions N] [--seed N] HIROBARUN PROGRAM

runs PROGRAM (transactions_history.cpp) and judges what it has recorded. --finds: something must be wrong, at the latest
in the tenth run. Long histories have a number in each value, which gives the order of writes, so it suffices that a
graph has no circle. Of small histories all orders are tried.
"""

from __future__ import annotations

import argparse
import array
import collections
import dataclasses
import pathlib
import subprocess
import sys
import tempfile

BEFORE, BEGIN, READ, WRITTEN, COMMITTED, ABORTED, ROUND = range(1, 8)
VERSION_SHIFT = 40
MOST_RUNS = 10


@dataclasses.dataclass
class Attempt:
    """Its begin is not later than the true one, its end not earlier."""

    thread: int
    begin: int
    end: int = 0
    committed: bool = False
    reads: list[tuple[int, int]] = dataclasses.field(default_factory=list)  # variable, value; not of its own writes
    writes: dict[int, int] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        reads = ", ".join(f"{variable}: {value:#x}" for variable, value in self.reads)
        writes = ", ".join(f"{variable}: {value:#x}" for variable, value in self.writes.items())
        end = "commits" if self.committed else "aborts"
        return f"thread {self.thread} reads {{{reads}}}, writes {{{writes}}}, {end}, in {self.begin}..{self.end}"


History = list[Attempt]


class AnomalyError(Exception):
    pass


# ---- records ---------------------------------------------------------------------------------------------------------


def read_thread(thread: int, words: array.array[int], out: dict[int, History]) -> None:
    """Appends the attempts of a thread to those of each round; the long history is round -1."""
    number, attempt, earlier = -1, None, 0
    for at in range(0, len(words), 3):
        tag, one, two = words[at : at + 3]
        if tag == ROUND:
            number = one
        elif tag == BEFORE:
            earlier, attempt = one, None
        elif tag == BEGIN:
            if attempt is not None:
                attempt.end = one
            attempt = Attempt(thread, earlier)
            earlier = one
            out[number].append(attempt)
        elif attempt is None:
            # Aborted before its first step.
            continue
        elif tag == READ:
            if attempt.writes.get(one, two) != two:
                raise AnomalyError(f"a read misses a write of its own transaction: {attempt}, {one}: {two:#x}")
            if one not in attempt.writes:
                attempt.reads.append((one, two))
        elif tag == WRITTEN:
            attempt.writes[one] = two
        else:
            attempt.end, attempt.committed = one, tag == COMMITTED


def read_folder(folder: pathlib.Path) -> dict[int, History]:
    out: dict[int, History] = collections.defaultdict(list)
    for path in sorted(folder.iterdir(), key=lambda path: int(path.name)):
        words = array.array("q")
        words.frombytes(path.read_bytes())
        read_thread(int(path.name), words, out)
    return out


# ---- long histories --------------------------------------------------------------------------------------------------


def writers_of(history: History) -> dict[int, dict[int, int]]:
    """By variable and version: the attempt that wrote it."""
    out: dict[int, dict[int, int]] = collections.defaultdict(dict)
    for number, attempt in enumerate(history):
        for variable, value in attempt.writes.items() if attempt.committed else ():
            # An attempt that writes a variable twice has passed a version.
            for version in range(base_of(attempt, variable) + 1, (value >> VERSION_SHIFT) + 1):
                if version in out[variable]:
                    raise AnomalyError(f"an update is lost: {history[out[variable][version]]} and {attempt}")
                out[variable][version] = number
    return out


def base_of(attempt: Attempt, variable: int) -> int:
    return next(value for read, value in attempt.reads if read == variable) >> VERSION_SHIFT


def graph_of(history: History) -> list[list[int]]:
    """Edges to what must come later. Nodes after the attempts are moments, one for each end."""
    writers = writers_of(history)
    after: list[list[int]] = [[] for _ in range(2 * len(history))]
    for number, attempt in enumerate(history):
        for variable, value in attempt.reads:
            version = value >> VERSION_SHIFT
            if version > 0:
                writer = writers[variable].get(version)
                if writer is None or history[writer].writes[variable] != value:
                    raise AnomalyError(f"no commit has written what this one reads: {attempt}, {variable}: {value:#x}")
                after[writer].append(number)
            later = writers[variable].get(version + 1)
            if later is not None and later != number:
                after[number].append(later)
    ends = sorted(range(len(history)), key=lambda number: history[number].end)
    for place, number in enumerate(ends):
        after[number].append(len(history) + place)
        if place > 0:
            after[len(history) + place - 1].append(len(history) + place)
    ended = 0
    for number in sorted(range(len(history)), key=lambda number: history[number].begin):
        while history[ends[ended]].end < history[number].begin:
            ended += 1
        if ended > 0:
            after[len(history) + ended - 1].append(number)
    return after


def circle_in(after: list[list[int]]) -> list[int]:
    """Returns the nodes of a circle, or nothing."""
    before = [0] * len(after)
    for later in after:
        for node in later:
            before[node] += 1
    ready = [node for node, count in enumerate(before) if count == 0]
    while ready:
        for node in after[ready.pop()]:
            before[node] -= 1
            if before[node] == 0:
                ready.append(node)
    left = next((node for node, count in enumerate(before) if count > 0), None)
    if left is None:
        return []
    # Each node that is left has one before it that is left, too: going back ends in a circle.
    earlier = {to: node for node, later in enumerate(after) if before[node] > 0 for to in later}
    path, place = [left], {left: 0}
    while earlier[path[-1]] not in place:
        path.append(earlier[path[-1]])
        place[path[-1]] = len(path) - 1
    return path[place[earlier[path[-1]]] :][::-1]


def judge_long(history: History) -> None:
    circle = circle_in(graph_of(history))
    if circle:
        shown = "\n  ".join(str(history[node]) for node in circle if node < len(history))
        raise AnomalyError(
            f"nothing orders these, of which each must come before the next, and the last before the first:\n  {shown}"
        )


# ---- small histories -------------------------------------------------------------------------------------------------


def has_order(history: History) -> bool:
    """Tries all orders of the attempts. Variables are 0 at first."""
    earlier = [sum(1 << other for other, o in enumerate(history) if o.end < attempt.begin) for attempt in history]
    seen: set[tuple[int, tuple[tuple[int, int], ...]]] = set()

    def go_on(placed: int, memory: dict[int, int]) -> bool:
        if placed == (1 << len(history)) - 1:
            return True
        key = (placed, tuple(sorted(memory.items())))
        if key in seen:
            return False
        seen.add(key)
        for number, attempt in enumerate(history):
            if placed >> number & 1 or earlier[number] & ~placed:
                continue
            if any(memory.get(variable, 0) != value for variable, value in attempt.reads):
                continue
            after = {**memory, **attempt.writes} if attempt.committed else memory
            if go_on(placed | 1 << number, after):
                return True
        return False

    return go_on(0, {})


def judge_small(history: History) -> None:
    if not has_order(history):
        shown = "\n  ".join(map(str, history))
        raise AnomalyError(f"no order of these explains what they have read:\n  {shown}")


# ---- runs ------------------------------------------------------------------------------------------------------------


def run(options: argparse.Namespace, seed: int) -> str:
    """Returns what is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        job = [options.hirobarun, "-n", str(options.ranks), "--nodes", str(options.nodes), options.program, folder]
        subprocess.run([*job, str(options.transactions), str(options.threads), str(seed)], check=True, timeout=300)
        try:
            histories = read_folder(pathlib.Path(folder))
            for number, history in histories.items():
                (judge_long if number < 0 else judge_small)(history)
        except AnomalyError as anomaly:
            return str(anomaly)
    attempts = [attempt for history in histories.values() for attempt in history]
    commits = sum(attempt.committed for attempt in attempts)
    print(
        f"seed {seed}: an order explains {len(attempts)} attempts, of which {commits} have committed, in "
        f"{len(histories)} histories"
    )
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finds", action="store_true")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--transactions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("hirobarun")
    parser.add_argument("program")
    options = parser.parse_args()
    for seed in range(options.seed, options.seed + (MOST_RUNS if options.finds else 1)):
        wrong = run(options, seed)
        if wrong:
            print(f"seed {seed}: wrong: {wrong}")
            return 0 if options.finds else 1
    return 1 if options.finds else 0


if __name__ == "__main__":
    sys.exit(main())
