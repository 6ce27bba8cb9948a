"""Which tests `./dev test` runs: as few as cover everything once.

What a test covers are its features. Some are features of its subject, the program or script that it runs: the subject
itself, each word of the command (a case, a variant, an option), and each variable of the environment (a way of
tracking). The others are features of its kind, which is the first part of the test's name, or all applications: the
first two parts of the name, the wire, if there are nodes between which it is used, the number of ranks, one node or
several, and several threads. Numbers mean nothing else, such as a seed or a size. A test is left out if others have all
its features: what it tests is tested, and its shape is tried with other programs of its kind.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Feature = tuple[str | int, ...]  # whose, and what

# hiroba-RANKS-THREADS-NODES-TRANSPORT and the others of apps/common/shapes.sh; RANKS-NODES-TRANSPORT of apps/npb.
SHAPE = re.compile(r"([a-z_]*?)-?(\d+(?:-\d+)*)((?:-[a-z]+)?)")
OVER_NODES = ("sms", "smint", "")  # whose second number is that of nodes, not of threads
# What says nothing of what is tested: how a program is started, where something is, when it has hung.
STARTERS = re.compile(r"(.*/)?(bash|python3?|hirobarun|mpirun\.\w+|expect\.sh|must_fail\.sh|bin)|-B")
NOTHING = ("HIROBA_TIMEOUT", "PYTHON")
WIRE = ("CONFORMANCE_TRANSPORT", "HIROBA_TRANSPORT", "HIROBA_MPI")  # one by all of them
NUMBER = re.compile(r"\d+(\.\d+)?[KMG]?")
MANY_RANKS = 5  # from here on all counts are alike


@dataclass
class Shape:
    ranks: int = 1
    nodes: int = 1
    threads: int = 1

    def read(self, variant: str, numbers: list[int]) -> None:
        """Of hiroba-3-2, for example."""
        one, two, three = (*numbers, 1, 1)[:3]
        if variant in OVER_NODES:
            self.ranks, self.nodes = one, two
        elif variant in ("hiroba", "auto"):
            self.ranks, self.threads, self.nodes = one, two, three
        elif variant.startswith("mpi"):
            self.ranks, self.threads = one, two
        else:
            self.threads = one

    def words(self) -> list[str]:
        found = [f"{min(self.ranks, MANY_RANKS)} ranks", f"{min(self.nodes, 2)} nodes"]
        if 1 < self.nodes < self.ranks:
            found.append("several ranks on several nodes")
        if self.threads > 1:
            found.append("threads")
        return found


@dataclass
class Test:
    """A test as ctest lists it."""

    name: str
    command: list[str]
    environment: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)

    @staticmethod
    def of(listed: dict[str, Any]) -> Test:
        properties = {entry["name"]: entry["value"] for entry in listed.get("properties", [])}
        command = listed.get("command", [])
        return Test(listed["name"], command, properties.get("ENVIRONMENT", []), properties.get("LABELS", []))

    def subject(self) -> str:
        """The script or program that it is about: the last path that is not just a way to start it, a script first."""
        paths = [word for word in self.command if word.startswith("/") and not STARTERS.fullmatch(word)]
        scripts = [path for path in paths if path.endswith((".sh", ".py"))]
        return [self.name, *self.command[:1], *paths, *scripts][-1]

    def kind(self) -> str:
        return "apps" if "/apps/" in self.subject() else re.split("[-.]", self.name)[0]

    def covers(self) -> tuple[set[Feature], Shape]:
        """Its features, and its shape."""
        shape, words, last = Shape(), [""], ""
        for word in self.command:
            if last in ("-n", "--nodes", "--threads"):
                setattr(shape, {"-n": "ranks"}.get(last, last[2:]), int(word))
            elif last.endswith("/expect.sh") or STARTERS.fullmatch(word):
                pass
            elif (found := SHAPE.fullmatch(word)) and (found[1] or "/npb/" in self.subject()):
                shape.read(found[1], [int(number) for number in found[2].split("-")])
                words += [found[1], found[3]]
            elif not NUMBER.fullmatch(word):
                words.append(word)
            last = word
        wire = [setting for setting in self.environment if setting.split("=")[0] in WIRE]
        for setting in self.environment:
            name, value = setting.split("=", 1)
            if name == "OMP_NUM_THREADS":
                shape.threads = int(value)
            elif name not in (*WIRE, *NOTHING):
                words.append(f"{name}={'N' if NUMBER.fullmatch(value) else value}")
        common = [".".join(re.split("[-.]", self.name)[:2]), *shape.words()]
        if wire and shape.nodes > 1:
            common.append(" ".join(wire))
        if "timing" in self.labels:
            common.clear()  # it does little else than wait
        return {(self.subject(), word) for word in words} | {(self.kind(), word) for word in common}, shape


def covering(tests: Iterable[Test]) -> set[str]:
    """The names of tests that have all features of all tests: always the one that adds most of them, of these the one
    with the fewest processes, of these the first."""
    kinds: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        kinds[test.kind()].append(test)
    chosen = set()
    for alike in kinds.values():
        features, effort = {}, {}
        for test in alike:
            features[test.name], shape = test.covers()
            effort[test.name] = shape.ranks * min(shape.nodes, 2)
        missing = set().union(*features.values())
        while missing:
            best = max(features, key=lambda name: (len(features[name] & missing), -effort[name]))
            chosen.add(best)
            missing -= features.pop(best)
    return chosen
