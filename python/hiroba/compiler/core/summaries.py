"""What a link must know of the functions of a file to find what every rank does although one should, when the
condition, the pointer or the call is in another file: a text in the object, which `written` makes of the states of
flow.py, and `found_in` finds again.

    {"functions": {"f": {"gives": atoms, "changes": [change ..], "calls": [call ..]}}, "variables": {"v": atoms}}

`gives` are the atoms of all that a call returns or stores through its arguments. Atoms are `rank`, `p 0` for those of
an argument, `x f` for those that a function gives, and `v name` for those of a variable. Changes and calls whose
condition certainly depends on the rank are left out, and those of main that have been reported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict

from .flow import is_of_others
from .operations import RANK, Access, Key
from .scopes import Declaration
from .source import LINE_MARKER
from .text import quoted

if TYPE_CHECKING:
    from .every_rank import EveryRank
    from .source import Source
    from .states import Atoms, Change, Summary

BEGIN, END = "hiroba functions 1:", ":hiroba functions end"
ROW = 400  # C compilers need not accept long strings


class Argument(TypedDict):
    atoms: list[str]
    objects: list[str]  # `p 0`, or the name of a shared array; empty if that is not certain


class Changed(TypedDict):
    """A write of one of these objects, or a read of the standard input, which has none."""

    place: str
    kind: str  # error, warning
    text: str  # of a read
    remedy: str
    atoms: list[str]
    objects: list[str]


class Called(TypedDict):
    name: str
    place: str
    atoms: list[str]
    arguments: list[Argument]


class Functions(TypedDict):
    gives: list[str]
    changes: list[Changed]
    calls: list[Called]


class File(TypedDict):
    functions: dict[str, Functions]
    variables: dict[str, list[str]]


def add(file: File, source: Source) -> None:
    """Adds it to the text, before the program, because after one that breaks off it would be part of the error."""
    markers = LINE_MARKER.finditer(source.text)
    first = next(markers, None)
    begins = (marker.start() for marker in markers if first is not None and marker[2] == first[2])
    if (at := next(begins, None)) is not None:
        source.insert(at, written(file))


def written(file: File) -> str:
    """Returns C at file scope, with a line marker before it."""
    text = BEGIN + json.dumps(file, separators=(",", ":"), sort_keys=True) + END
    rows = ", ".join(quoted(text[at : at + ROW]) for at in range(0, len(text), ROW))
    array = f"static const char hiroba_note_functions[][{ROW + 1}] = {{{rows}}};"
    return f'# 1 "<hirobacc>" 3\n__attribute__((used)) {array}\n'


def found_in(contents: bytes) -> list[File]:
    begin, end = BEGIN.encode(), END.encode()
    pattern = re.compile(re.escape(begin) + b"(\\{.*?\\})" + re.escape(end), re.DOTALL)
    texts = (found[1] for found in pattern.finditer(contents.replace(b"\0", b""))) if begin in contents else ()
    return [json.loads(text) for text in texts]


class Summaries:
    """Describes the functions of one file that others can call."""

    def __init__(self, checked: EveryRank) -> None:
        self.checked, self.flow, self.source = checked, checked.flow, checked.source

    def file(self) -> File:
        functions = {
            name: self._function(name, self.flow.summaries[name])
            for name, function in self.flow.functions.items()
            if not any(child.type == "storage_class_specifier" and child.text == b"static"
                       for child in function.node.children)
        }  # fmt: skip
        variables: dict[str, list[str]] = {}
        for summary in self.flow.summaries.values():
            for key, atoms in summary.atoms.items():
                if isinstance(key, Declaration) and (new := self._atoms(atoms)):
                    name = self._variable(key)
                    variables[name] = sorted({*variables.get(name, []), *new})
        return {"functions": functions, "variables": variables}

    def _variable(self, key: Declaration) -> str:
        return key.name + f" of {self.source.place(key.at)}" * ("static" in key.words)

    def _atoms(self, atoms: Iterable[Key]) -> list[str]:
        out: set[str] = set()
        for atom in atoms:
            if atom == RANK:
                out.add("rank")
            elif isinstance(atom, tuple) and atom[0] in ("g", "o"):
                out.add(f"v {self._variable(atom[1])}")
            elif isinstance(atom, tuple) and atom[0] in ("p", "x"):
                out.add(f"{atom[0]} {atom[1]}")
        return sorted(out)

    def _objects(self, objects: Atoms) -> list[str]:
        out: set[str] = set()
        for thing in self.flow.known(objects):
            declared = self.flow.declaration(thing)
            if declared is not None:
                out.add(declared.name)
            elif isinstance(thing, tuple) and thing[0] == "p":
                out.add(f"p {thing[1]}")
            else:
                return []
        return sorted(out)

    def _function(self, name: str, summary: Summary) -> Functions:
        gives = set(summary.returns)
        for key, atoms in summary.atoms.items():
            if isinstance(key, tuple) and key[0] == "p":
                gives |= atoms
        changes: list[Changed] = []
        calls: list[Called] = []
        for change in summary.changes.values():
            if RANK in change.decided or not self.source.of_user(change.operation.node.start_byte):
                continue
            if not isinstance(change.operation, Access) and self.flow.is_foreign(change.operation.name):
                calls.append(self._call(change, change.operation.name))
            elif name != "main" or any(map(is_of_others, change.decided)):
                changes += self._change(change)
        return {"gives": self._atoms(gives), "changes": changes, "calls": calls}

    def _place(self, change: Change) -> str:
        return str(self.source.place(change.operation.node.start_byte))

    def _change(self, change: Change) -> list[Changed]:
        told, objects = self.checked.for_link(change), self._objects(change.objects)
        is_access = isinstance(change.operation, Access)
        if told is None or (is_access and not objects):
            return []
        return [
            {
                "place": self._place(change),
                "kind": told[0],
                "text": told[1],
                "remedy": told[2],
                "atoms": self._atoms(change.decided),
                "objects": objects,
            }
        ]

    def _call(self, change: Change, name: str) -> Called:
        arguments: list[Argument] = [
            {"atoms": self._atoms(given), "objects": self._objects(points)}
            for given, points in zip(change.given, change.points, strict=True)
        ]
        atoms = self._atoms(change.decided)
        return {"name": name, "place": self._place(change), "atoms": atoms, "arguments": arguments}
