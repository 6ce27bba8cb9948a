"""Files and statements, as far as scopes need them. scopes.py is the interface for other modules."""

from __future__ import annotations

from collections.abc import Callable

from .scope_declarations import Declarations
from .scope_expressions import ASM, KEYWORDS, OPERATORS
from .scope_table import Declaration, ScopeTable
from .tokens import is_word

ASM_WORDS = ("volatile", "__volatile__", "__volatile", "goto", "inline", "__inline", "__inline__")


def read(text: str, outer: Callable[[str], Declaration | None] | None = None) -> ScopeTable:
    """Reads a whole file, or, with `outer`, which gives the meaning of other names, an expression."""
    reader = Reader(text, outer)
    if outer is None:
        reader.file()
    while reader.word():
        reader.item()
        reader.i += 1
    reader.table.close(len(text) + 1)
    return reader.table


class Reader(Declarations):
    def file(self) -> None:
        while self.word():
            before = self.i
            if self.word() in ASM:
                self.assembly()
            elif not self.take(";"):
                self.declaration()
            self.i += self.i == before

    def statements(self) -> None:
        self.take("{")
        while self.word() not in ("}", ""):
            before = self.i
            self.statement()
            self.i += self.i == before
        self.take("}")

    def block(self) -> None:
        self.scoped(self.statements)

    def scoped(self, read: Callable[[], None]) -> None:
        self.table.push()
        read()
        self.table.pop(self.behind())

    def statement(self) -> None:
        self.labels()
        word = self.word()
        read = {
            "{": self.block,
            "if": self.selection,
            "while": lambda: self.scoped(self.head_and_body),
            "switch": lambda: self.scoped(self.head_and_body),
            "for": lambda: self.scoped(self.loop),
            "do": lambda: self.scoped(self.repetition),
        }.get(word)
        if read is not None:
            read()
        elif word in ASM:
            self.assembly()
        elif word in ("goto", "__label__") and self.word(1) != "*":
            while self.word() not in (";", "}", ""):
                self.i += 1
            self.take(";")
        elif word in ("return", "goto", "break", "continue"):
            self.i += 1
            self.expression(";")
            self.take(";")
        elif self.declares():
            self.declaration()
        elif word != "}":
            self.expression(";")
            self.take(";")

    def declares(self) -> bool:
        word = self.word()
        if self.is_type() or word in ("_Static_assert", "static_assert"):
            return True
        return is_word(word) and word not in KEYWORDS and is_word(self.word(1)) and self.names_type(word)

    def labels(self) -> None:
        """Reads labels before a statement, and its attributes."""
        while True:
            if self.at_attribute():
                self.attribute()
            elif self.word() == "case":
                self.i += 1
                self.expression(":")
                self.take(":")
            elif self.word(1) == ":" and is_word(self.word()):
                self.i += 2
            elif self.word() == "__extension__" and self.word(1) not in OPERATORS:
                self.i += 1
            else:
                return

    def selection(self) -> None:
        """Reads if, and the `else if` that follow."""
        opened = 0
        while self.take("if"):
            self.table.push()
            opened += 1
            self.brackets()
            self.scoped(self.statement)
            if not self.take("else"):
                break
            if self.word() != "if":
                self.scoped(self.statement)
        for _ in range(opened):
            self.table.pop(self.behind())

    def head_and_body(self) -> None:
        self.i += 1
        self.brackets()
        self.scoped(self.statement)

    def loop(self) -> None:
        self.i += 1
        self.take("(")
        if self.declares():
            self.declaration()
        else:
            self.expression(";")
            self.take(";")
        self.expression(";")
        self.take(";")
        self.expression(")")
        self.take(")")
        self.scoped(self.statement)

    def repetition(self) -> None:
        self.i += 1
        self.scoped(self.statement)
        self.take("while")
        self.brackets()
        self.take(";")

    def assembly(self) -> None:
        """asm("..." : [name] "=r"(value) : .. : .. : labels)."""
        self.i += 1
        while self.word() in ASM_WORDS:
            self.i += 1
        self.take("(")
        while self.word() not in (")", ";", ""):
            if self.word() == "(":
                self.brackets()
            else:
                self.i += 1
        self.take(")")
        self.take(";")
