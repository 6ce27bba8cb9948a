"""Declarations with their scopes, while a text is read from its beginning to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    OBJECT = "a variable or a parameter"
    FUNCTION = "a function"
    TYPE = "a type"
    ENUMERATOR = "an enumerator"


@dataclass(eq=False)
class Declaration:
    name: str
    at: int  # position of its identifier
    kind: Kind
    begin: int  # the name has this meaning from here ...
    end: int  # ... to here, except in inner scopes that declare it again
    block: bool  # belongs to a block, a function or a prototype
    parameter: bool
    words: frozenset[str]  # static, extern, register, typedef and the like
    entity: Declaration  # the first declaration of the same object or function
    body: tuple[int, int] | None = None  # of a function that is defined here, from { to after }

    def __init__(self, name: str, at: int, kind: Kind, begin: int, parameter: bool, words: frozenset[str]) -> None:
        self.name, self.at, self.kind, self.begin, self.end = name, at, kind, begin, begin
        self.block, self.parameter, self.words, self.entity = parameter, parameter, words, self


class ScopeTable:
    """The open scopes, and all declarations found. `outer` gives the meaning of the names in a separate expression."""

    def __init__(self, outer: Callable[[str], Declaration | None] | None = None) -> None:
        self.denoted: dict[int, Declaration] = {}
        self.declared: list[Declaration] = []
        self._outer = outer
        self._visible: dict[str, list[Declaration]] = {}
        self._linked: dict[str, Declaration] = {}
        self._scopes: list[list[Declaration]] = [[]]

    @property
    def depth(self) -> int:
        """Returns the number of open scopes besides that of the file."""
        return len(self._scopes) - 1

    def push(self, declarations: list[Declaration] | None = None) -> None:
        """Opens a scope; a function's begins with its parameters."""
        self._scopes.append([])
        for declaration in declarations or []:
            self._add(declaration)

    def pop(self, end: int) -> list[Declaration]:
        closed = self._scopes.pop()
        for declaration in reversed(closed):
            declaration.end = end
            self._visible[declaration.name].pop()
        return closed

    def close(self, end: int) -> None:
        """Ends the text."""
        while self._scopes:
            self.pop(end)

    def declare(
        self, name: str, at: int, kind: Kind, begin: int, words: frozenset[str] = frozenset(), parameter: bool = False
    ) -> Declaration:
        made = Declaration(name, at, kind, begin, parameter, words)
        made.block = self.depth > 0
        linked = kind is Kind.FUNCTION or (kind is Kind.OBJECT and (not made.block or "extern" in words))
        if linked and not parameter:
            made.entity = self._linked.setdefault(name, made)
        self._add(made)
        self.declared.append(made)
        self.denoted[at] = made
        return made

    def _add(self, declaration: Declaration) -> None:
        self._scopes[-1].append(declaration)
        self._visible.setdefault(declaration.name, []).append(declaration)

    def meaning(self, name: str) -> Declaration | None:
        found = self._visible.get(name)
        if found:
            return found[-1]
        return self._outer(name) if self._outer is not None else None

    def use(self, name: str, at: int) -> None:
        meaning = self.meaning(name)
        if meaning is not None:
            self.denoted[at] = meaning
