"""The data of a report as the rules and comparisons read it: sums over ranks, names of places and arrays.

docs/report.md describes the file.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1
WAITING = ("collective", "locks", "faults", "preloads", "coherence")
# Names that the records have.
COHERENCE_OF_LOCK, TASK_OF_OPENMP = "coherence of a lock", "task of OpenMP"
START_OF_REGION = "the start of a parallel region"
VARIABLES = "global variables"
OBJECTS = (
    VARIABLES,
    "large objects",
    "the heap of rank ",
)  # arrays that have a program's variables and objects
MOST = 0.8  # of a time: what has more stands for all of it
OTHER_LOCKS = ("a lock of OpenMP", "a lock of coarray ")


class ReportError(Exception):
    """What a user can do something about; its text is the message."""


def incomplete(error: Exception) -> str:
    """What data lack that another program has written, or changed."""
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


@dataclass
class Place:
    """One place of the program, summed over the ranks that have been there."""

    kind: str
    place: str
    call: str
    array: int | None
    lock: int | None
    object: str = ""  # of an array that has many objects, the one that all faults here were on
    count: int = 0
    amount: int = 0
    ordered: int = 0
    seconds: float = 0
    held: float = 0  # seconds
    by_rank: dict[int, float] = field(default_factory=dict)
    waited_for: dict[int, float] = field(default_factory=dict)
    critical: dict[int, float] = field(default_factory=dict)  # seconds that the rank that came last had computed

    def named(self) -> str:
        return self.place or self.call or "an unknown place"


class Report:
    def __init__(self, data: dict[str, Any]):
        self.data = data
        self.ranks: list[dict[str, Any]] = data["ranks"]
        self.arrays: list[dict[str, Any]] = data["arrays"]
        self.total: float = sum(r["seconds"]["total"] for r in self.ranks)
        self.notation: str = data.get("notation", "")
        self.places = self._places()

    @staticmethod
    def read(file: str) -> Report:
        """Of the data, or of a page, which has the same in it."""
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ReportError(f"cannot read {file}: {error}") from error
        begin, end = '<script type="application/json" id="data">', "</script>"
        if begin in text:
            text = text.split(begin, 1)[1].split(end, 1)[0]
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ReportError(f"{file} is no report: {error}") from error
        if not isinstance(data, dict) or data.get("hiroba_report") != FORMAT:
            raise ReportError(f"{file} is no report of this version of Hiroba: hiroba_report is not {FORMAT}")
        try:
            report = Report(data)
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise ReportError(f"{file} is no whole report: {incomplete(error)}") from error
        if not report.ranks:
            raise ReportError(f"{file} is no whole report: it has no ranks")
        return report

    def _places(self) -> list[Place]:
        found: dict[tuple[Any, ...], Place] = {}
        for site in self.data["sites"]:
            key = (site["kind"], site["place"], site["call"], site.get("array"), site.get("lock"))
            one = site.get("object", "")
            place = found.setdefault(key, Place(*key, one))
            place.object = one if one == place.object else ""
            place.count += site["count"]
            place.amount += site["amount"]
            place.ordered += site.get("ordered", 0)
            place.seconds += site["seconds"]
            place.held += site.get("held", 0)
            place.by_rank[site["rank"]] = place.by_rank.get(site["rank"], 0) + site["seconds"]
            computing = site.get("critical", {}).get("computing", 0)
            place.critical[site["rank"]] = place.critical.get(site["rank"], 0) + computing
            for rank, seconds in site["waited_for"].items():
                place.waited_for[int(rank)] = place.waited_for.get(int(rank), 0) + seconds
        return sorted(found.values(), key=lambda place: -place.seconds)

    def of_kind(self, kind: str) -> list[Place]:
        return [place for place in self.places if place.kind == kind]

    def faults_of(self, array: int) -> list[Place]:
        return [place for place in self.of_kind("fault") if place.array == array]

    def share(self, seconds: float) -> float:
        """Of the time of all ranks."""
        return seconds / self.total if self.total > 0 else 0

    def active_share(self, seconds: float) -> float:
        """Of the time of all ranks outside of collective calls, where they wait for each other."""
        active = self.total - sum(r["seconds"]["collective"] for r in self.ranks)
        return seconds / active if active > 0 else 0

    def with_processor(self, places: list[Place]) -> float:
        """The seconds at these places in which the ranks were not waiting for a processor, as far as that is known."""
        out = 0.0
        for r in self.ranks:
            seconds = sum(place.by_rank.get(r["rank"], 0) for place in places)
            queued = r["seconds"]["queued"] / max(r["seconds"]["total"], 1e-9)
            out += min(seconds * max(0, 1 - queued), r["seconds"]["processor"]) if queued > 0.1 else seconds
        return out

    def array_name(self, array: int) -> str:
        """Without the folder, if it is the place of the allocation."""
        name: str = self.arrays[array]["name"]
        if name.startswith(OBJECTS):
            return f"the program's {name}" if not name.startswith("the ") else name
        return f"`{name.rsplit('/', 1)[-1] if re.search(r':[0-9]+$', name) else name}`"

    def array_text(self, array: int) -> str:
        name = self.array_name(array)
        return f"array {name}" if name.startswith("`") else name

    def faults_text(self, array: int) -> str:
        """The same, with the variable or the object that most faults were on, if the array has many."""
        name = self.array_text(array)
        seconds: dict[str, float] = {}
        for place in self.faults_of(array):
            seconds[place.object] = seconds.get(place.object, 0) + place.seconds
        most = max(seconds, key=lambda one: seconds[one], default="")
        if not most:
            return name
        one = f"variable `{most}`" if VARIABLES in name else f"the object allocated in {most}"
        return one if seconds[most] >= MOST * sum(seconds.values()) else f"{name}, most of them on {one}"

    def sum_of(self, array: int, count: str) -> int:
        return sum(part[count] for part in self.arrays[array]["ranks"])

    def heat(self, array: int, kind: str) -> int:
        return sum(sum(part["heat"][kind]) for part in self.arrays[array]["ranks"])
