"""The parts of a file that belong to a notation, in the form common to all notations: shared declarations with their
maps, and directives, each of a kind that its notation has registered."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .expand import Words
from .source import Source


@dataclass
class Map:
    """`::[a][b](first, count)`: one text per bracket, "" for an empty one. `extent` has the texts before a colon."""

    at: int
    end: int
    pieces: list[str]
    first: str = "0"
    count: str = "sms_nprocs"
    extent: list[str] = field(default_factory=list)


@dataclass
class Declaration:
    """A shared declaration: the begin of its C, and its maps by their positions (for a directive one, for all
    declarators)."""

    at: int
    begin: int
    maps: list[Map]
    directive: bool


@dataclass(frozen=True)
class Line:
    """A line of #pragma, its macros expanded."""

    at: int
    end: int
    words: Words


class Stands(Enum):
    """The places where a directive may stand."""

    DECLARING = "beside declarations, and is read before them"
    ABOVE = "above a statement"
    ALONE = "where a statement may stand"


@dataclass(frozen=True)
class Kind:
    """A directive as its notation registers it. `lower` makes C of it, given the notation's part of the file. A
    directive that is read before C is parsed has `take` instead."""

    name: str
    stands: Stands
    lower: Callable[[Any, Directive], None] | None = None
    take: Callable[[Source, Found, Line], None] | None = None
    clauses: tuple[str, ...] = ()  # words that may follow, with their arguments
    words: tuple[str, ...] = ()  # other words of it that are no macros of the program's
    title: str = ""  # its name in messages, if that is more than its name
    is_statement: bool = False  # the C parser sees an empty statement in its place
    together: bool = False  # all ranks execute it together
    together_if: str = ""  # or if its words begin like this
    shares_loop: bool = False  # ranks do different iterations of the loop below it
    one_at_a_time: bool = False  # ranks do the statement below it one after the other

    def __post_init__(self) -> None:
        assert (self.lower is None) != (self.take is None), f"directive {self.name} needs one of lower and take"

    def is_together(self, words: str) -> bool:
        found = re.match(self.together_if, words, re.IGNORECASE | re.DOTALL) if self.together_if else None
        return self.together or found is not None

    @property
    def shown(self) -> str:
        return self.title or self.name


@dataclass
class Directive:
    at: int
    end: int
    kind: Kind
    family: str  # the word after #pragma
    words: str  # the text after the name
    where: Callable[[int], int] | None = None  # maps a position in `words` to one in the source

    @property
    def name(self) -> str:
        return self.kind.name

    def place(self, word: str) -> int:
        """Returns the position of the first such word, for messages; for a macro's text, that of the macro."""
        found = re.search(rf"\b{re.escape(word)}" if word[:1].isidentifier() else re.escape(word), self.words)
        return self.at if found is None or self.where is None or not word else self.where(found.start())


@dataclass
class Found:
    text: str  # for the C parser: the notation's parts are blank
    declarations: list[Declaration] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)  # ends of lines that are no directives
    misdeclared: bool = False  # shared declarations have errors, so their uses cannot be judged
