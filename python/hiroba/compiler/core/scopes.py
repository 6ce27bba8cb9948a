"""Finds the declaration that an identifier denotes, by C11's scopes and name spaces (6.2.1, 6.2.3) and GNU C's
extensions. It is the only place for that: shared arrays, variables of tasks and values that differ from rank to rank
use it.

    scopes = Scopes(text)
    scopes.denoted(at)         the declaration of the identifier at this position; None if it is undeclared, or names a
                               member, a tag, a label or an operand, or is no identifier
    scopes.visible(name, at)   the meaning of a name of the ordinary name space there (words of directives)
    scopes.names_in(words, at) the same for all names of an expression elsewhere, each with its position in it
    scopes.declared(at)        the declaration whose own identifier is at this position
    scopes.declarations()      all of the text, in its order
    scopes.named(name)         those of one name
    scopes.function(name)      the definition of a function at file scope
    scopes.uses()              all identifiers that are not declarations, in the order of the text
    scopes.between(begin, end) those of a part of it

Two declarations of one object (`extern` in a block, or again at file scope) have the same `entity`, by which objects
are compared. Places are offsets in the text that was given, so those of the parser's nodes can be used. A text that is
no C is read as far as it can be."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from operator import itemgetter

from .scope_reader import read
from .scope_table import Declaration, Kind

__all__ = ["Declaration", "Kind", "Scopes"]


class Scopes:
    def __init__(self, text: str) -> None:
        table = read(text)
        self._denoted = table.denoted
        self._declared = {declaration.at: declaration for declaration in table.declared}
        self._uses = [
            (at, denoted) for at, denoted in sorted(table.denoted.items(), key=itemgetter(0)) if at != denoted.at
        ]
        self._named: dict[str, list[Declaration]] = {}
        for declaration in table.declared:
            self._named.setdefault(declaration.name, []).append(declaration)

    def denoted(self, at: int) -> Declaration | None:
        return self._denoted.get(at)

    def declared(self, at: int) -> Declaration | None:
        return self._declared.get(at)

    def visible(self, name: str, at: int) -> Declaration | None:
        inside = [d for d in self._named.get(name, ()) if d.begin <= at < d.end]
        return max(inside, key=lambda declaration: declaration.begin, default=None)

    def names_in(self, words: str, at: int) -> list[tuple[int, Declaration]]:
        return sorted(read(words, lambda name: self.visible(name, at)).denoted.items(), key=lambda found: found[0])

    def declarations(self) -> Iterable[Declaration]:
        return self._declared.values()

    def function(self, name: str) -> Declaration | None:
        return next((d for d in self._named.get(name, ()) if d.body is not None and not d.block), None)

    def named(self, name: str) -> list[Declaration]:
        return self._named.get(name, [])

    def between(self, begin: int, end: int) -> list[tuple[int, Declaration]]:
        first, last = (bisect.bisect_left(self._uses, place, key=lambda use: use[0]) for place in (begin, end))
        return self._uses[first:last]

    def uses(self) -> list[tuple[int, Declaration]]:
        return self._uses
