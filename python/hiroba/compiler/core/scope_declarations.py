"""Declarations, as far as scopes need them: the word that a declarator declares, and the begin of its scope. An
identifier is declared at the end of its declarator (C11 6.2.1), an enumerator at the end of its value."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

from .scope_expressions import (
    ALIGNAS,
    ASM,
    ASSERT,
    ATTRIBUTE,
    KEYWORDS,
    QUALIFIERS,
    STORAGE,
    TAGGED,
    TYPEOF,
    TYPES,
    Expressions,
)
from .scope_table import Declaration, Kind
from .tokens import is_word


@dataclass
class Named:
    """A declarator that was read."""

    name: str = ""
    at: int = -1
    plain: bool = True  # nothing but a name, in brackets at most
    function: bool = False  # the name itself is that of a function
    parameters: list[Declaration] = field(default_factory=list)
    old: bool = False  # f(a, b), whose parameters are declared after it


class Declarations(Expressions):
    @abstractmethod
    def statements(self) -> None:
        """{ .. }, in the scope that is open"""

    def declaration(self) -> None:
        if self.word() in ASSERT:
            self.i += 1
            self.brackets()
            self.take(";")
            return
        words = self.specifiers()
        while self.word() not in ("", ";", "}"):
            before = self.i
            named = self.declarator()
            end = self.behind()
            self.behind_declarator()
            kind = Kind.TYPE if "typedef" in words else Kind.FUNCTION if named.function else Kind.OBJECT
            made = self.table.declare(named.name, named.at, kind, end, words) if named.name else None
            if made is not None and self.defines(named):
                made.body = self.function(named)
                return
            if self.take("="):
                self.initializer()
            if self.i == before or not self.take(","):
                break
        self.take(";")

    def defines(self, named: Named) -> bool:
        return named.function and (self.word() == "{" or (named.old and self.word() not in (";", ",", "=")))

    def function(self, named: Named) -> tuple[int, int]:
        """Reads the body, and the declarations of old-style parameters before it. Returns the position of the body."""
        self.table.push(named.parameters)
        while self.word() not in ("{", ""):
            before = self.i
            self.declaration()
            self.i += self.i == before
        begin = self.here()
        self.statements()
        self.table.pop(self.behind())
        return begin, self.behind()

    def type_name(self) -> None:
        self.specifiers()
        self.declarator()

    def initializer(self) -> None:
        if self.word() == "{":
            self.braces()
        else:
            self.expression(",;")

    # ---- specifiers ----

    def specifiers(self) -> frozenset[str]:
        """Returns the words of storage."""
        words: set[str] = set()
        typed = False
        while word := self.word():
            if self.at_attribute():
                self.attribute()
                continue
            if word in ALIGNAS or word in TYPEOF or (word == "_Atomic" and self.word(1) == "("):
                typed = typed or word not in ALIGNAS
                self.i += 1
                self.brackets()
                continue
            if word in TAGGED:
                typed = True
                self.tagged()
                continue
            if word in STORAGE:
                words.add(word)
            elif word in TYPES:
                typed = True
            elif word not in QUALIFIERS and word != "__extension__":
                if typed or word in KEYWORDS or not is_word(word) or not self.names_type(word):
                    break
                typed = True
                self.table.use(word, self.here())
            self.i += 1
        return frozenset(words)

    def names_type(self, word: str) -> bool:
        """Accepts an unknown name, too, if the next word can only follow a type."""
        meaning = self.table.meaning(word)
        if meaning is not None and meaning.kind is Kind.TYPE:
            return True
        behind = self.word(1)
        return meaning is None and is_word(behind) and behind not in ATTRIBUTE | ASM

    def tagged(self) -> None:
        """Reads struct, union and enum. Tags have a name space of their own."""
        word = self.word()
        self.i += 1
        self.attributes()
        if is_word(self.word()) and self.word() not in KEYWORDS:
            self.i += 1
        if word != "enum":
            if self.take("{"):
                self.members()
        else:
            if self.word() == ":" and self.is_type(1):
                self.i += 1
                self.specifiers()
            if self.take("{"):
                self.enumerators()
        self.attributes()

    def attributes(self) -> None:
        while self.at_attribute():
            self.attribute()

    def enumerators(self) -> None:
        while self.word() not in ("}", ""):
            name, at = self.word(), self.here()
            self.i += 1
            self.attributes()
            if self.take("="):
                self.expression(",}")
            if is_word(name):
                self.table.declare(name, at, Kind.ENUMERATOR, self.behind())
            self.take(",")
        self.take("}")

    def members(self) -> None:
        while self.word() not in ("}", ""):
            before = self.i
            if self.word() in ASSERT:
                self.i += 1
                self.brackets()
            self.specifiers()
            while self.word() not in (";", "}", ""):
                inside = self.i
                self.declarator()
                if self.take(":"):
                    self.expression(",;}")
                self.behind_declarator()
                self.take(",")
                if self.i == inside:
                    break
            self.take(";")
            self.i += self.i == before
        self.take("}")

    # ---- declarators ----

    def declarator(self) -> Named:
        """Reads a declarator with a name or without, and the contents of its brackets."""
        pointer = False
        while (word := self.word()) == "*" or word in QUALIFIERS or word in ATTRIBUTE:
            pointer = pointer or word == "*"
            if word in ATTRIBUTE:
                self.attribute()
            else:
                self.i += 1
        named = Named()
        if self.word() == "(" and self.word(1) not in (")", "...") and not self.is_type(1):
            self.i += 1
            named = self.declarator()
            self.take(")")
        elif is_word(self.word()) and self.word() not in KEYWORDS:
            named = Named(self.word(), self.here())
            self.i += 1
        while True:
            if self.at_attribute() and self.word() == "[":
                self.attribute()
                continue
            if self.word() == "[":
                self.extent()
            elif self.word() == "(":
                parameters, old = self.parameters()
                if named.plain:
                    named.function, named.parameters, named.old = True, parameters, old
            else:
                named.plain = named.plain and not pointer
                return named
            named.plain = False

    def extent(self) -> None:
        self.i += 1
        while self.word() in QUALIFIERS or self.word() == "static" or (self.word() == "*" and self.word(1) == "]"):
            self.i += 1
        self.expression("]")
        self.take("]")

    def parameters(self) -> tuple[list[Declaration], bool]:
        """Reads the parameters of a function, and finds if they are only names."""
        self.i += 1
        self.table.push()
        old = False
        while self.word() not in (")", ""):
            before = self.i
            if is_word(self.word()) and self.word(1) in (",", ")") and not self.is_type():
                old = True
                self.table.declare(self.word(), self.here(), Kind.OBJECT, self.here(), parameter=True)
                self.i += 1
            else:
                words = self.specifiers()
                named = self.declarator()
                end = self.behind()
                self.behind_declarator()
                if named.name:
                    self.table.declare(named.name, named.at, Kind.OBJECT, end, words, parameter=True)
            if not self.take(",") and not self.take(";") and self.i == before:
                self.i += 1
        found = self.table.pop(self.here())
        self.take(")")
        return found, old

    def behind_declarator(self) -> None:
        """Skips a name for the assembler, and attributes."""
        while True:
            if self.word() in ASM:
                self.i += 1
                self.skip()
            elif self.at_attribute():
                self.attribute()
            else:
                return
