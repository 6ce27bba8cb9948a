"""Checks that only a link can make: a shared array that another file takes for an ordinary one, or for one of other
extents, a program that no file starts, and what every rank does although one should, in functions of several files.
Reads the object files on the command line, not libraries."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from .called import Calls
from .core.every_rank import OPTION
from .core.notes import Note, notes_in
from .core.source import as_written, original_line
from .core.summaries import File, found_in
from .registry import STARTS

DECLARED = re.compile(rb"hiroba_declare_hiroba_([A-Za-z]\w*)")
COARRAY = re.compile(rb"hiroba_coarray_([A-Za-z]\w*)")  # those of pointers, too, which are ordinary variables


def symbols(files: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Returns (kind, name) of each file, as nm prints them. One nm for all: with the plug-ins that it loads, its start
    takes longer than a small compilation."""
    found: dict[str, list[tuple[str, str]]] = {file: [] for file in files}
    if found:
        done = subprocess.run(["nm", "-A", *files], check=False, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            file, _, symbol = line.rpartition(":")  # FILE:ADDRESS KIND NAME, or FILE:MEMBER:.. of an archive
            words = symbol.split()
            if file in found and len(words) >= 2:
                found[file].append((words[-2], words[-1]))
    return found


def message(place: str, text: str, remedy: str, kind: str = "error") -> str:
    """Formats messages about one file, with the line if `place` has one that can be read."""
    out = [f"{place}: {kind}: {text}"]
    found = re.fullmatch(r"(.*):(\d+):(\d+)", place)
    line = original_line(found[1], int(found[2])) if found is not None else None
    if found is not None and line is not None:
        before = as_written(line[: int(found[3]) - 1])
        out += [f"{int(found[2]):5d} | {as_written(line.rstrip().expandtabs(1))}", f"      | {' ' * len(before)}^"]
    return "\n".join([*out, f"      = {remedy}"])


def find_word(source: str, pattern: str) -> str:
    """Returns `source` with the line and column of a word, if it is a text that has it outside of comments and
    directives."""
    if Path(source).suffix in (".o", ".a", ".so"):
        return source
    text = Path(source).read_text(encoding="latin-1")
    hidden = r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|^[ \t]*#[^\n]*"
    text = re.sub(hidden, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL | re.MULTILINE)
    found = re.search(pattern, text)
    if found is None:
        return source
    begin = text.rfind("\n", 0, found.start()) + 1
    return f"{source}:{text.count(chr(10), 0, found.start()) + 1}:{found.start() - begin + 1}"


@dataclass
class Program:
    """The contents of its object files. `objects`: their names, and for messages those of their sources; `functions`:
    what is known of those without a note."""

    objects: dict[str, str]
    functions: dict[str, File] = field(default_factory=dict)
    notes: dict[str, list[Note]] = field(default_factory=dict)  # of shared arrays and coarrays, by name
    coarrays: dict[str, str] = field(default_factory=dict)  # their sources
    ordinary: list[tuple[str, str]] = field(default_factory=list)  # variables and their sources
    loops: str = ""  # the source of one that needs a job for its loops, or its static arrays
    main: str = ""
    starts: bool = False
    symbols: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # by object

    def __post_init__(self) -> None:
        for file, source in self.objects.items():
            contents = Path(file).read_bytes()
            for name in set(COARRAY.findall(contents)) & set(DECLARED.findall(contents)):
                self.coarrays.setdefault(name.decode(), source)
            for note in notes_in(contents):
                self.notes.setdefault(note.name, []).append(note)
            for found in found_in(contents):
                self.functions[file] = found
            if b"smint_declare" in contents or b"smint_begin" in contents:
                self.loops = source
        self.symbols = symbols(self.objects if self.notes or self.coarrays or self.loops else ())
        for file, named in self.symbols.items():
            source = self.objects[file]
            for kind, name in named:
                self.starts = self.starts or name in STARTS
                self.main = source if name == "main" and kind == "T" else self.main
                if (name in self.notes or name in self.coarrays) and kind in "UBDCRGS":
                    self.ordinary.append((name, source))

    def first(self, name: str) -> str:
        """Returns the place of its declaration: of its definition, if that is known."""
        notes = sorted(self.notes.get(name, []), key=lambda note: not note.defined)
        return notes[0].place if notes else self.coarrays[name]

    def taken_for_ordinary(self) -> list[str]:
        out = []
        for name, source in self.ordinary:
            there, form = ("a coarray", f".. {name}:[*]") if name in self.coarrays else ("shared", f"shared .. {name}")
            place = find_word(source, rf"\b{name}\b(?=\s*[][;=,])")
            out.append(
                message(
                    place,
                    f"`{name}` is {there} in {self.first(name)}, and an ordinary variable here",
                    f"declare it here as there: extern {form}",
                )
            )
        return out

    def different(self) -> list[str]:
        """Returns declarations of one name that do not agree, and several definitions of one name."""
        out = []
        for name, notes in self.notes.items():
            first, *others = sorted(notes, key=lambda note: not note.defined)
            for other in others:
                if other.place == first.place:
                    continue  # a header's
                if not other.agrees(first):
                    what = f"`{name}` has {other.shape()} of {other.element} bytes here"
                    text = f"{what}, and {first.shape()} of {first.element} bytes at {first.place}"
                    out.append(message(other.place, text, "give both the same extents and type, best in one header"))
                elif other.defined:
                    kind, form = (
                        ("coarray", f".. {name}:[*]") if name in self.coarrays else ("shared", f"shared .. {name}")
                    )
                    text = f"{kind} `{name}` is defined here, and at {first.place}"
                    out.append(message(other.place, text, f"write extern {form} in all files but one"))
        return out

    def not_started(self) -> list[str]:
        if not self.main or self.starts or not (self.notes or self.coarrays or self.loops):
            return []
        there = "shared"
        remedy = "include <smint.h> where main is, or call mpc_init(&argc, &argv) there, and mpc_exit() at its end"
        place = find_word(self.main, r"\bmain\s*\(")
        if not self.notes and not self.coarrays:
            return [message(place, f"{self.loops} has shared arrays or loops, and nobody starts the job", remedy)]
        name = next(iter(self.notes or self.coarrays))
        if name in self.coarrays:
            there = "a coarray"
            remedy = (
                "include <xmp.h> where main is, or call xmp_init(&argc, &argv) there, and xmp_finalize() at its end"
            )
        return [message(place, f"`{name}` of {self.first(name)} is {there}, and nobody starts the job", remedy)]

    def done_by_all(self, options: Collection[str]) -> tuple[list[str], list[str]]:
        """Returns errors and warnings about what every rank does although one should, through several files."""
        errors: list[str] = []
        warnings: list[str] = []
        if f"-Wno-{OPTION}" not in options:
            for found in Calls(self.functions, self.symbols).from_main():
                is_error = found.kind == "error" and f"-Wno-error={OPTION}" not in options
                kind, option = ("error", f"error={OPTION}") if is_error else ("warning", OPTION)
                text = message(found.place, found.text, f"{found.remedy} [-W{option}]", kind)
                (errors if is_error else warnings).append(text)
        return errors, warnings


def check(objects: dict[str, str], functions: Callable[[str], File | None], options: Collection[str]) -> bool:
    """Prints what is wrong with a program; returns true if nothing is. `functions`: what is known of the functions of
    an object without notes."""
    program = Program(objects)
    for file in objects if program.functions else ():
        known = functions(file) if file not in program.functions else None
        program.functions |= {file: known} if known is not None else {}
    found = program.different() + program.taken_for_ordinary() + program.not_started()
    errors, warnings = program.done_by_all(options) if not found else ([], [])
    for text in [*found, *warnings, *errors]:
        print(text, file=sys.stderr)
    return not found and not errors
