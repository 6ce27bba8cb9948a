"""The protocol of transactions (src/transaction/README.md) in all orders in which two threads can take steps.

Two threads run a transaction each on two variables, which have words of their own, on one node or on one each: for
protocols of this kind that decides opacity. The loads of each attempt, also of one that restarts, must be those of one
moment; what has committed must have an order that explains all loads and the end. The mutants are what one would get
wrong. The search is that of test_task_models.py.
"""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Callable
from types import SimpleNamespace as State
from typing import Any

from test_task_models import Model, Thread, WrongError, explore, must

Program = tuple[str, ...]  # of "rx", "wx", "ry", "wy"
FIRST = {"x": 0, "y": 0}
LOCK = 1000  # a locked word is LOCK + the thread


def serial(program: Program, thread: int, memory: dict[str, object]) -> tuple[list[object], dict[str, object]]:
    """Returns the loads of the program if it runs alone from this memory, and the memory after it."""
    after, loads = dict(memory), []
    for access in program:
        variable = access[1]
        if access[0] == "r":
            loads.append(after[variable])
        else:
            after[variable] = (thread, len(loads), *loads)
    return loads, after


class Attempt:
    """One attempt of a thread: the steps of snapshot.cpp and commit.cpp."""

    def __init__(self, s: State, thread: int, mutant: str) -> None:
        self.s, self.thread, self.mutant = s, thread, mutant
        self.snapshot: dict[int, int] = {}
        self.reads: dict[str, int] = {}
        self.writes: dict[str, object] = {}
        self.loads: list[object] = []
        self.locked: dict[str, int] = {}

    def __repr__(self) -> str:
        return repr((self.snapshot, self.reads, self.writes, self.loads, self.locked))

    def valid(self) -> Thread:
        for variable, version in self.reads.items():
            yield
            now = self.s.word[variable]
            if now != version and not (now == LOCK + self.thread and self.locked.get(variable) == version):
                return False
        return True

    def extend(self, node: int) -> Thread:
        yield
        now = self.s.clock[node]
        if self.mutant != "the snapshot moves without validation" and not (yield from self.valid()):
            return False
        self.snapshot[node] = now
        return True

    def load(self, variable: str) -> Thread:
        if variable in self.writes:
            self.loads.append(self.writes[variable])
            return True
        node = self.s.node[variable]
        if node not in self.snapshot:
            if self.mutant == "the first load from a node does not validate":
                yield
                self.snapshot[node] = self.s.clock[node]
            elif not (yield from self.extend(node)):
                return False
        for _ in range(2):
            yield
            before = self.s.word[variable]
            yield
            value = self.s.data[variable]
            yield
            after = self.s.word[variable]
            if self.mutant == "only a look at the word before the data":
                after = before
            if self.mutant == "only a look at the word after the data":
                before = after
            if before >= LOCK:
                return False
            if before != after:
                continue
            if before > self.snapshot[node]:
                if not (yield from self.extend(node)):
                    return False
                if self.mutant != "only a look at the word after the data":
                    continue
            self.reads[variable] = before
            self.loads.append(value)
            return True
        return False

    def unlock(self) -> Thread:
        for variable, version in self.locked.items():
            yield
            self.s.word[variable] = version

    def write(self) -> Thread:
        for variable, value in self.writes.items():
            yield
            self.s.data[variable] = value

    def take_versions(self) -> Thread:
        """Of all nodes that are written."""
        versions: dict[int, int] = {}
        for node in sorted({self.s.node[variable] for variable in self.writes}):
            yield
            self.s.clock[node] += 1
            versions[node] = self.s.clock[node]
        return versions

    def commit(self) -> Thread:
        if not self.writes:
            return True
        early = (yield from self.take_versions()) if self.mutant == "versions before the locks" else None
        for variable in self.writes:
            yield
            if self.s.word[variable] >= LOCK:
                yield from self.unlock()
                return False
            self.locked[variable] = self.s.word[variable]
            self.s.word[variable] = LOCK + self.thread
        if self.mutant == "stores before the validation":
            yield from self.write()
        one_node = len(set(self.s.node.values())) == 1
        versions: Any = (yield from self.take_versions()) if one_node and early is None else early
        alone = one_node and versions[0] == self.snapshot.get(0, -2) + 1
        if self.mutant == "two commits skip the validation":
            alone = one_node and versions[0] <= self.snapshot.get(0, -2) + 2
        if self.mutant != "no validation" and not alone and not (yield from self.valid()):
            yield from self.unlock()
            return False
        if self.mutant != "stores before the validation":
            yield from self.write()
        if versions is None:
            versions = yield from self.take_versions()
        for variable in self.writes:
            yield
            self.s.word[variable] = versions[self.s.node[variable]]
        return True


def transact(s: State, thread: int, program: Program, mutant: str) -> Thread:
    for _ in range(2):  # a second attempt that fails gives up
        attempt = Attempt(s, thread, mutant)
        yield
        attempt.snapshot[0] = s.clock[0]
        going = True
        for access in program:
            if access[0] == "w":
                attempt.writes[access[1]] = (thread, len(attempt.loads), *attempt.loads)
            else:
                going = yield from attempt.load(access[1])
            if not going:
                break
        committed = going and (yield from attempt.commit())
        s.attempts[thread].append((committed, list(attempt.loads)))
        if committed:
            return


def explains(s: State, programs: tuple[Program, Program], order: tuple[int, ...]) -> bool:
    """True if the commits in this order, with each other attempt somewhere between, give all loads and the end."""
    moments: list[dict[str, object]] = [dict(FIRST)]
    for thread in order:
        loads, after = serial(programs[thread], thread, moments[-1])
        if loads != s.attempts[thread][-1][1]:
            return False
        moments.append(after)
    if moments[-1] != s.data:
        return False
    for thread in (0, 1):
        for committed, loads in s.attempts[thread]:
            if not committed and not any(
                serial(programs[thread], thread, moment)[0][: len(loads)] == loads for moment in moments
            ):
                return False
    return True


def protocol(programs: tuple[Program, Program], nodes: int, mutant: str = "") -> Callable[[], Model]:
    def make() -> Model:
        node = {"x": 0, "y": nodes - 1}
        words = {"x": 0, "y": 0}
        s = State(clock=[0] * nodes, node=node, word=words, data=dict(FIRST), attempts=[[], []])

        def check() -> None:
            done = [thread for thread in (0, 1) if s.attempts[thread] and s.attempts[thread][-1][0]]
            must(all(word < LOCK for word in s.word.values()), "a lock stays")
            orders = itertools.permutations(done)
            must(any(explains(s, programs, order) for order in orders), f"no order explains {vars(s)} of {programs}")

        return s, [transact(s, thread, programs[thread], mutant) for thread in (0, 1)], check

    return make


# Reads and writes in all ways of sharing: write skew, lost updates, halves of two stores, loads after a change.
PROGRAMS: list[tuple[Program, Program]] = [
    (("rx", "wy"), ("ry", "wx")),
    (("rx", "wx"), ("rx", "wx")),
    (("wx", "wy"), ("rx", "ry")),
    (("wx", "wy"), ("ry", "rx")),
    (("wx", "wy"), ("wy", "wx")),
    (("rx", "wx", "wy"), ("rx", "ry")),
    (("rx", "wy"), ("wx", "wy")),
    (("rx", "ry", "wx"), ("rx", "ry", "wy")),
]
MUTANTS = {
    "no validation": 1,
    "only a look at the word before the data": 1,
    "only a look at the word after the data": 1,
    "stores before the validation": 1,
    "the snapshot moves without validation": 1,
    "two commits skip the validation": 1,
    "the first load from a node does not validate": 2,
    "versions before the locks": 2,
}


class Transactions(unittest.TestCase):
    def test_one_node_is_opaque(self) -> None:
        for programs in PROGRAMS:
            explore(protocol(programs, 1))

    def test_two_nodes_are_opaque(self) -> None:
        for programs in PROGRAMS[:6]:
            explore(protocol(programs, 2))

    def test_the_search_finds_each_mutant(self) -> None:
        for mutant, nodes in MUTANTS.items():
            with self.subTest(mutant), self.assertRaises(WrongError):
                for programs in PROGRAMS:
                    explore(protocol(programs, nodes, mutant))


if __name__ == "__main__":
    unittest.main()
