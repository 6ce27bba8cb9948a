"""Shared names in directives of OpenMP and OpenACC. Shared variables have pointers instead of names, and a
shared-out loop has its own variables, which `default(none)` requires to be listed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .shared import Rewriter, Shared
from .source import Node, text_of, walk
from .text import matching

PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(omp|acc)\b([^\n]*)", re.MULTILINE)
CLAUSE = re.compile(r"(\w+)[ \t]*\(")
LISTS = ("shared", "aligned", "nontemporal", "is_device_ptr", "use_device_ptr", "use_device_addr", "flush")
COPIES = (
    "private",
    "firstprivate",
    "lastprivate",
    "copyprivate",
    "threadprivate",
    "linear",
    "reduction",
    "in_reduction",
)
DEVICE = ("map", "to", "from", "copy", "copyin", "copyout", "create", "present", "update", "host", "device", "delete")
RANKS = ("sms_rank", "sms_nprocs")


@dataclass(frozen=True)
class Pragma:
    """A line, and the statement below it."""

    begin: int
    words: int  # begin of the words
    end: int
    node: Node  # around it
    statement: Node | None


@dataclass(frozen=True)
class Clause:
    name: str
    begin: int  # after the bracket
    end: int


def clauses(text: str, at: int) -> list[Clause]:
    """Finds them in words at this position."""
    out, i = [], 0
    while (found := CLAUSE.search(text, i)) is not None:
        i = matching(text, found.end() - 1)
        if i < 0:
            break
        out.append(Clause(found[1], at + found.end(), at + i - 1))
    return out


def rewrite(rewriter: Rewriter, bounds: list[tuple[int, tuple[str, ...]]]) -> None:
    """`bounds`: positions of variables of the compiler."""
    source = rewriter.source
    found = [line for line in PRAGMA.finditer(source.text) if source.of_user(line.start())]
    if not found:
        return
    statements = sorted((n for n in walk(rewriter.root) if n.type.endswith("_statement")), key=lambda n: n.start_byte)
    for line in found:
        node = rewriter.root.descendant_for_byte_range(line.start(), line.start()) or rewriter.root
        behind = (n for n in statements if n.start_byte >= line.end())
        pragma = Pragma(line.start(), line.start(2), line.end(), node, next(behind, None))
        Rewriting(rewriter, pragma, clauses(line[2], line.start(2))).rewrite(bounds)


class Rewriting:
    def __init__(self, rewriter: Rewriter, pragma: Pragma, found: list[Clause]) -> None:
        self.rewriter, self.pragma, self.clauses = rewriter, pragma, found
        self.text = rewriter.source.text

    def rewrite(self, bounds: list[tuple[int, tuple[str, ...]]]) -> None:
        pragma = self.pragma
        listed = set()
        for word in re.finditer(r"[A-Za-z_]\w*", self.text[pragma.words : pragma.end]):
            at = pragma.words + word.start()
            clause = next((c for c in self.clauses if c.begin <= at < c.end), None)
            shared = self.rewriter.resolve_name(word[0], at) if clause is not None else None
            if clause is None or clause.name in (*LISTS, *COPIES):
                listed.add(word[0])
            if clause is None or shared is None or not shared.pointer:
                continue
            inside = pragma.statement.start_byte if pragma.statement is not None else at
            pointer = self.rewriter.pointer_at(shared, inside)
            if clause.name in LISTS:
                listed.add(pointer)
            self._rename(clause, at, at + len(word[0]), shared, pointer)
        none = any(c.name == "default" and self.text[c.begin : c.end].strip() == "none" for c in self.clauses)
        if none and pragma.statement is not None:
            names = [n for n in dict.fromkeys(self._needed(pragma.statement, bounds)) if n not in listed]
            if names:
                self.rewriter.source.insert(pragma.end, f" shared({', '.join(names)})")

    def _rename(self, clause: Clause, begin: int, end: int, shared: Shared, pointer: str) -> None:
        if clause.name in COPIES and "(" not in self.text[clause.begin : begin]:
            self.rewriter.source.error(
                begin,
                f"`{shared.name}` is shared, and {clause.name}({shared.name}) wants copies of it",
                "name a variable of each rank's own",
            )
            return
        if clause.name in LISTS:
            text = pointer
        elif clause.name in DEVICE:
            text = f"{pointer}[0:1]"  # all of the array, or the sections of it that follow
        else:
            text = f"(*{pointer})"
        self.rewriter.source.replace(begin, end, text)

    def _needed(self, statement: Node, bounds: list[tuple[int, tuple[str, ...]]]) -> Iterable[str]:
        for use in walk(statement):
            if use.type == "identifier" and text_of(use) in RANKS:
                yield text_of(use)
            elif use.type == "identifier" and (shared := self.rewriter.resolve(use)) is not None and shared.pointer:
                yield self.rewriter.pointer_at(shared, use.start_byte)
        for at, names in bounds:
            if statement.start_byte <= at < statement.end_byte:
                yield from names
