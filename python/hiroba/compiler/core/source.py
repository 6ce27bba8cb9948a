"""Preprocessed C text: the origin of each character, edits that keep line numbers, and messages that point at it.

Text is held as Latin-1, one character per byte, so that the parser's byte offsets are indices."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tree_sitter
import tree_sitter_c

from .diagnostics import Diagnostics
from .text import quoted
from .wide import show, spell, write

LINE_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)"([ 0-9]*)$', re.MULTILINE)
HASH_LINE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
BRACKETS = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
ATTRIBUTE = re.compile(rf"\b__attribute(?:__)?\s*{BRACKETS}")
TYPEOF = re.compile(rf"\b(?:__)?typeof(?:__)?\s*{BRACKETS}")
TYPE_LIKE = re.compile(
    r"\w+\s*\(\s*(?!sizeof\b|_?_?[aA]lignof)[A-Za-z_]\w*(?:[ \t]+[A-Za-z_]\w*)*[ \t]*(?:\[[^()\n]*\])*\s*\)"
)
DECLARATOR = re.compile(r"\s*[*(]")  # the begin of one after a type
COMPLEX = re.compile(r"\b(?:_Complex|__complex__)\b")  # the parser takes it for a name; see Declared
Node = tree_sitter.Node
Edit = tuple[int, int, str]  # begin, end, and the text in its place


class CompileError(Exception):
    """A message for the user has been reported, or is the text of this exception."""

    explained: Sequence[str] = ()  # the output of --explain for what is right


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def literal(self) -> str:
        """Returns "main.c:12" as C."""
        return quoted(f"{self.file}:{self.line}")


@dataclass(frozen=True)
class Move:
    """The text between two places is also inserted at a third one, with C before and after it. `edits`, if there are
    any, are of this copy alone, in which they come before the others and nothing is inserted at its begin."""

    at: int
    begin: int
    end: int
    before: str
    after: str
    edits: tuple[Edit, ...] = ()


@dataclass
class Source:
    text: str
    edits: list[Edit] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)  # at one place, the move that begins last is first
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    downgraded: frozenset[str] = frozenset()  # options of complain() that are warnings
    silenced: frozenset[str] = frozenset()
    checks: bool = False  # option --check: what the program does is checked while it runs
    sanitizes: bool = False  # the C compiler checks subscripts by the types of arrays
    refused: list[tuple[int, int]] = field(default_factory=list)  # statements in which errors follow from another one

    def __post_init__(self) -> None:
        self._edited: set[int] = set()  # begins of edits that are no insertions
        self._starts: list[int] = []  # begins of the text after each marker
        self._markers: list[tuple[str, int, bool]] = []
        for found in LINE_MARKER.finditer(self.text):
            self._starts.append(found.end() + 1)
            self._markers.append((found[2].replace("\\\\", "\\"), int(found[1]), " 3" in found[3]))

    # ---- positions ----

    def _marker(self, at: int) -> int:
        return bisect.bisect_right(self._starts, at) - 1

    def of_user(self, at: int) -> bool:
        """Returns true if this is not from a system header."""
        marker = self._marker(at)
        return marker < 0 or not self._markers[marker][2]

    def _line(self, at: int) -> tuple[str, int]:
        marker = self._marker(at)
        if marker < 0:
            return "<stdin>", self.text.count("\n", 0, at) + 1
        file, line, _ = self._markers[marker]
        return file, line + self.text.count("\n", self._starts[marker], at)

    def place(self, at: int) -> Place:
        file, line = self._line(at)
        begin = self.text.rfind("\n", 0, at) + 1
        return Place(file, line, self._column(file, line, begin, at))

    def _written_before(self, begin: int, at: int) -> str:
        """Returns the text before this place on the user's line, which macros of system headers split."""
        here, pieces = self._line(at), [self.text[begin:at]]
        while begin > 0:
            end, begin = begin - 1, self.text.rfind("\n", 0, begin - 1) + 1
            if LINE_MARKER.match(self.text, begin):
                continue
            if self._line(begin) != here:
                break
            if self.of_user(begin):
                pieces.append(self.text[begin:end])
        return "\n".join(reversed(pieces))

    def _column(self, file: str, line: int, begin: int, at: int) -> int:
        """The preprocessor keeps words but not the space between them, so the n-th of a word is the n-th there."""
        found = re.match(r"\w+|[^\w\s]", self.text[at:])
        original = original_line(file, line)
        original = spell(original) if original is not None else None
        if found is None or original is None:
            return at - begin + 1
        pattern = re.escape(found[0]) if not found[0][0].isalnum() else rf"\b{re.escape(found[0])}\b"
        nth = len(re.findall(pattern, self._written_before(begin, at)))
        places = [m.start() for m in re.finditer(pattern, original)]
        column = places[nth] if nth < len(places) else min(at - begin, len(original))
        return len(write(original[:column])) + 1

    # ---- messages ----

    def say(self, kind: str, at: int, message: str, remedy: str = "") -> None:
        place = self.place(at)
        line = original_line(place.file, place.line)
        out = [f"{place}: {kind}: {message}"]
        if line is not None:
            shown, before = as_written(line.rstrip().expandtabs(1)), as_written(line[: place.column - 1])
            out += [f"{place.line:5d} | {shown}", f"      | {' ' * len(before)}^"]
        if remedy:
            out.append(f"      = {remedy}")
        self.diagnostics.add(kind, at, show("\n".join(out)))

    @property
    def errors(self) -> int:
        """Returns the number of errors reported."""
        return self.diagnostics.errors

    def error(self, at: int, message: str, remedy: str = "") -> None:
        if any(begin <= at < end for begin, end in self.refused):
            return
        self.say("error", at, message, remedy)

    def warn(self, at: int, message: str, remedy: str = "") -> None:
        self.say("warning", at, message, remedy)

    def complain(self, option: str, at: int, message: str, remedy: str = "", kind: str = "error") -> None:
        """Reports an error that -Wno-error=OPTION makes a warning, and -Wno-OPTION nothing; or a warning."""
        if option in self.silenced:
            return
        kind = "warning" if option in self.downgraded else kind
        self.say(kind, at, message, f"{remedy} [-W{'error=' * (kind == 'error')}{option}]")

    # ---- edits ----

    def edit(self, begin: int, end: int, text: str) -> Edit:
        """Returns an edit that keeps the lines."""
        old = self.text[begin:end]
        if LINE_MARKER.search(old):  # macros of system headers leave markers around what they become
            place = self.place(end)
            text += f'\n# {place.line} "{place.file}"\n'
        else:
            text += "\n" * (old.count("\n") - text.count("\n"))
        return begin, end, text

    def replace(self, begin: int, end: int, text: str) -> None:
        self.edits.append(self.edit(begin, end, text))
        self._edited.add(begin)

    def override(self, begin: int, end: int, text: str) -> None:
        """The same, for a range of which parts have been edited."""
        if not self._edited.isdisjoint(range(begin, end)):
            self.edits = [edit for edit in self.edits if not (begin <= edit[0] < edit[1] <= end)]
        self.replace(begin, end, text)

    def insert(self, at: int, text: str) -> None:
        self.edits.append((at, at, text))

    def edited(self, begin: int = 0, end: int | None = None) -> str:
        """Returns the text between two places with the edits between them."""
        return "".join(text for text, _, _ in self.pieces(begin, end))

    def pieces(
        self, begin: int = 0, end: int | None = None, copy: tuple[Edit, ...] = ()
    ) -> list[tuple[str, int, bool]]:
        """Returns the same in pieces: each with its position in the source, and true if it is unchanged. `copy`: the
        edits of a copy."""
        stop = len(self.text) if end is None else end
        changes: list[tuple[int, int, str | Move]] = [*copy]
        if copy:
            changes += [edit for edit in self.edits if (begin, begin) < edit[:2]]
        else:
            changes += self.edits
            changes += [(m.at, m.at, m) for m in sorted(self.moves, key=lambda move: -move.begin)]
        out, at = [], begin
        for first, last, new in sorted(changes, key=lambda change: change[:2]):
            if first < at or last > stop or (last == begin and first < begin):
                continue
            out.append((self.text[at:first], at, True))
            if isinstance(new, Move):
                out += [
                    (new.before, first, False),
                    *self.pieces(new.begin, new.end, new.edits),
                    (new.after, first, False),
                ]
            else:
                out.append((new, first, False))
            at = last
        return [*out, (self.text[at:stop], at, True)]


_lines: dict[str, list[str]] = {}


def original_line(file: str, line: int) -> str | None:
    if file not in _lines:
        try:
            _lines[file] = Path(file).read_text(encoding="latin-1").split("\n")
        except OSError:
            _lines[file] = []
    return _lines[file][line - 1] if 0 < line <= len(_lines[file]) else None


def as_written(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "replace")


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", LINE_MARKER.sub("", text)).strip()


def blank(text: str, begin: int, end: int) -> str:
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


def blank_all(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def plain_type(found: re.Match[str]) -> str:
    """Replaces a typeof that the parser would not take for a type by a type name of the same length and lines."""
    if TYPE_LIKE.fullmatch(found[0]):
        before = found.start() - 1
        while before >= 0 and found.string[before].isspace():
            before -= 1
        if found.string[before : before + 1] not in ";{}:" or DECLARATOR.match(found.string, found.end()) is None:
            return found[0]
        # The parser would take a call and a product for it. A word before it says that it is a declaration.
        word = re.match(r"\w+", found[0])
        length = word.end() if word is not None else 0
        return "auto t".ljust(length, "_") + found[0][length:]
    name = "hiroba_".ljust(len(found[0].split("\n", 1)[0]), "_")[: len(found[0].split("\n", 1)[0])]
    return name + re.sub(r"[^\n]", " ", found[0][len(name) :])


def parse(text: str) -> Node:
    """Returns the tree of C text. Lines that begin with # are skipped: they may be where no statement may; and GNU's
    attributes, which the parser does not know at all their places."""
    without = TYPEOF.sub(plain_type, blank_all(ATTRIBUTE, blank_all(HASH_LINE, text)))
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))
    return parser.parse(without.encode("latin-1")).root_node


def text_of(node: Node | None) -> str:
    return (node.text or b"").decode("latin-1") if node is not None else ""


_walked: dict[int, list[Node]] = {}  # by the node, which the list keeps alive, so that no other one has its id


def walk(node: Node) -> list[Node]:
    """Returns the node and all below it, in the order of the text."""
    if node.id in _walked:
        return _walked[node.id]
    out, stack = [], [node]
    while stack:
        top = stack.pop()
        out.append(top)
        stack += reversed(top.children)
    _walked[node.id] = out
    return out


def bare(node: Node) -> Node:
    """Returns the expression without parentheses around it."""
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


def base_of(node: Node) -> Node:
    """Returns a of a[i], of a.x and of (a)."""
    return node.child_by_field_name("argument") or node.named_children[0]


def root_of(node: Node) -> Node:
    """Returns a of a[i].x[j]: what an element or member of one begins with."""
    while node.type in ("subscript_expression", "field_expression", "parenthesized_expression"):
        node = base_of(node)
    return node


def subscripts(node: Node) -> tuple[Node, list[Node]]:
    """Returns a of a[i][j], and its subscripts."""
    indices: list[Node] = []
    while node.type == "subscript_expression":
        indices.insert(0, node.child_by_field_name("index") or node)
        node = base_of(node)
    return node, indices
