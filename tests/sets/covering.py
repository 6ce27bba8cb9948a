"""Which tests `./dev test` runs: as few as cover everything once.

What a test covers are its features: the program or script that it runs together with the first two parts of the test's
name, with each word of its command (a case, a variant, an option), with each variable of its environment (a wire, a way
of tracking), with the number of ranks, with one node or several, and with several threads. Numbers mean nothing else,
such as a seed or a size. A test is left out if others of the same program or script have all its features: it is the
same in another shape.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Feature = tuple[str | int, ...]

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

    def features(self) -> list[Feature]:
        found: list[Feature] = [("ranks", min(self.ranks, MANY_RANKS)), ("nodes", min(self.nodes, 2))]
        if 1 < self.nodes < self.ranks:
            found.append(("several ranks on several nodes",))
        if self.threads > 1:
            found.append(("threads",))
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

    def covers(self) -> tuple[set[Feature], Shape]:
        """Its features, without the subject, and its shape."""
        shape, words, last = Shape(), [".".join(re.split("[-.]", self.name)[:2])], ""
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
        words += [" ".join(wire)] if wire else []
        for setting in self.environment:
            name, value = setting.split("=", 1)
            if name == "OMP_NUM_THREADS":
                shape.threads = int(value)
            elif name not in (*WIRE, *NOTHING):
                words.append(f"{name}={'N' if NUMBER.fullmatch(value) else value}")
        return {("word", word) for word in words} | set(shape.features()), shape


def covering(tests: Iterable[Test]) -> set[str]:
    """The names of tests that have all features of all tests, for each subject by itself: always the one that adds most
    of them, of these the one with the fewest processes, of these the first."""
    families: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        families[test.subject()].append(test)
    chosen = set()
    for family in families.values():
        features, effort = {}, {}
        for test in family:
            features[test.name], shape = test.covers()
            effort[test.name] = shape.ranks * min(shape.nodes, 2)
        missing = set().union(*features.values())
        while missing:
            best = max(features, key=lambda name: (len(features[name] & missing), -effort[name]))
            chosen.add(best)
            missing -= features.pop(best)
    return chosen
