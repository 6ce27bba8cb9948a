"""XcalableMP's additions to C's brackets, removed from the text: `a[base:length:step]`, `a[i]:[image]`, and
codimensions, `int a[4]:[2][*]`. The parser sees C of the same length: a colon between two parts becomes an operator,
one before an image a blank, and codimensions vanish."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..core.source import Source, blank, one_line
from ..core.text import spliced

TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#.*$|\b(?:asm|__asm__|__asm)\b|<:|:>|<%|%>|[][(){}?:]',
    re.MULTILINE,
)
SPACE = re.compile(r"(?:\s|^[ \t]*#.*$)*", re.MULTILINE)
CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Part:
    """A piece of text; empty where nothing was written."""

    begin: int
    end: int


@dataclass(frozen=True)
class Section:
    """`[base:length:step]`, from its bracket on."""

    at: int
    end: int
    parts: tuple[Part, ...]  # two or three


@dataclass(frozen=True)
class Codimensions:
    """`:[2][*]` in a declaration, or `:[]` for a pointer to a coarray: one text per bracket."""

    at: int
    end: int
    extents: tuple[str, ...]


@dataclass
class Brackets:
    """All brackets of one file, by the place of the opening one. `text` is for the parser, `original` is the
    program's text."""

    text: str
    original: str
    sections: dict[int, Section] = field(default_factory=dict)
    images: dict[int, int] = field(default_factory=dict)  # the first bracket of an image, and the position of its colon
    codimensions: list[Codimensions] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.sections or self.images or self.codimensions)

    def first(self) -> int:
        return min([*self.sections, *self.images, *(c.at for c in self.codimensions)])


@dataclass
class _Open:
    """A bracket that is not closed yet."""

    at: int
    closing: str
    questions: int = 0
    colons: list[int] = field(default_factory=list)


class Lifter:
    """One pass over the tokens of a file."""

    def __init__(self, source: Source, text: str) -> None:
        self.source, self.text = source, text
        self.found = Brackets(text, source.text)
        self._changes: list[tuple[int, int, str]] = []  # in the order of the text
        self._open: list[_Open] = []

    def lift(self) -> Brackets:
        at = 0
        while (token := TOKEN.search(self.text, at)) is not None:
            at = self._take(token[0], token.start(), token.end())
        self.found.text = spliced(self.text, 0, len(self.text), sorted(self._changes))
        return self.found

    def _take(self, word: str, at: int, end: int) -> int:
        """Reads one token, and returns the next position."""
        if word.endswith(("asm", "asm__")):
            return self._behind_asm(end)
        if word == "[" and self.text.startswith("[[", at):  # an attribute of C23
            return max(self._matching(at), end)
        if word in CLOSING:
            self._open.append(_Open(at, CLOSING[word]))
        elif word in ("]", ")", "}"):
            self._close(word, at, end)
        elif word == "?" and self._open:
            self._open[-1].questions += 1
        elif word == ":":
            return self._colon(at)
        return end

    def _close(self, word: str, at: int, end: int) -> None:
        if not self._open or self._open[-1].closing != word:
            return  # the C compiler will report it
        top = self._open.pop()
        if top.colons and self.source.of_user(at):
            edges = [top.at + 1, *(c + 1 for c in top.colons)]
            parts = tuple(self._part(a, b) for a, b in zip(edges, [*top.colons, at], strict=True))
            self.found.sections[top.at] = Section(top.at, end, parts)
            self._change_colons(top.colons, parts)

    def _part(self, begin: int, end: int) -> Part:
        skipped = SPACE.match(self.text, begin, end)
        return Part(skipped.end() if skipped is not None else begin, end)

    def _change_colons(self, colons: list[int], parts: tuple[Part, ...]) -> None:
        """Writes `|` between two parts that are present; `[0]` if none is."""
        written = parts[0].begin < parts[0].end
        some = any(part.begin < part.end for part in parts)
        for colon, part in zip(colons, parts[1:], strict=True):
            there = part.begin < part.end
            new = "|" if written and there else " " if some or colon != colons[0] else "0"
            self._changes.append((colon, colon + 1, new))
            written = written or there

    def _colon(self, at: int) -> int:
        end = at + 1
        top = self._open[-1] if self._open else None
        skipped = SPACE.match(self.text, end)
        bracket = skipped.end() if skipped is not None else end
        if self.text.startswith("::[", at):  # a map of MpC
            return at + 2
        if self.text.startswith("[", bracket) and not self.text.startswith("[[", bracket):
            return self._image(at, bracket)
        if top is not None and top.questions > 0:
            top.questions -= 1
        elif top is not None and top.closing == "]":
            top.colons.append(at)
        return end

    def _image(self, at: int, bracket: int) -> int:
        """`:[` is an image, or codimensions: then the last bracket has a `*`, or nothing."""
        if not self.source.of_user(at):
            return at + 1
        extents, end, behind = [], bracket, bracket
        while self.text.startswith("[", behind) and (closed := self._matching(behind)) > 0:
            extents.append(one_line(self.text[behind + 1 : closed - 1]))
            end = closed
            skipped = SPACE.match(self.text, end)
            behind = skipped.end() if skipped is not None else end
        if extents and ("*" in extents or "" in extents):
            self.found.codimensions.append(Codimensions(at, end, tuple(extents)))
            self._changes.append((at, end, blank(self.text[at:end], 0, end - at)))
            return end
        self.found.images[bracket] = at
        self._changes.append((at, at + 1, " "))
        return at + 1

    def _behind_asm(self, at: int) -> int:
        """asm has colons and brackets of its own."""
        opening = re.compile(r"(?:\s|volatile|__volatile__|goto|inline)*\(").match(self.text, at)
        return max(self._matching(opening.end() - 1), at) if opening is not None else at

    def _matching(self, at: int) -> int:
        """Returns the position after the bracket that closes the one at `at`; -1 if none does."""
        stack: list[str] = []
        for token in TOKEN.finditer(self.text, at):
            word = token[0]
            if word in CLOSING:
                stack.append(CLOSING[word])
            elif word in ("]", ")", "}"):
                if not stack or stack.pop() != word:
                    return -1
                if not stack:
                    return token.end()
        return -1


def lift(source: Source, text: str) -> Brackets:
    return Lifter(source, text).lift()
