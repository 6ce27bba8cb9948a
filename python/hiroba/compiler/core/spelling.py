"""Declarations of a variable again, where its block does not reach: as a member, in another function, as what a pointer
points to. Extents that are known only at run time are members, too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from .declarators import enclosing, innermost
from .declared import ARRAY, Declared
from .shared import PREFIX
from .source import Node, one_line, text_of, walk

GIVEN = f"{PREFIX}given"  # what the function of a task gets
STORAGE = re.compile(r"\b(?:static|extern|register|auto|_Thread_local|__thread|thread_local|inline|shared)\b")
CONST = re.compile(r"\b(?:const|__const|__const__)\b")


class How(Enum):
    """What a task has of a variable."""

    COPY = "a copy"
    OWN = "one of its own"
    ADDRESS = "its address"
    AGAIN = "declared again"


@dataclass
class Variable:
    name: str
    top: Node  # its declarator
    how: How
    array: bool
    specifiers: str
    shape: str  # the declarator, with {} for the name
    extents: list[str]  # that are known at run time: each as the variable itself tells it
    given: str = "{}"  # what the task has, of what it got

    @property
    def by_address(self) -> bool:
        return self.how is How.ADDRESS

    @property
    def renamed(self) -> str:
        return f"(*{PREFIX}{self.name})"

    def declared(self, name: str) -> str:
        return f"{self.specifiers} {self.shape.replace('{}', name)}"

    @property
    def members(self) -> str:
        """Of the struct that a task gets."""
        if self.how in (How.OWN, How.AGAIN):
            return ""
        is_pointer = self.by_address or self.extents
        own = f"void* {self.name};" if is_pointer else f"{self._writable(self.name)};"
        return own + "".join(f" unsigned long {PREFIX}{self.name}_{i};" for i in range(len(self.extents)))

    @property
    def values(self) -> list[str]:
        """For these members, where the task is created; {} stands for the variable."""
        out = [f".{PREFIX}{self.name}_{i} = {extent}" for i, extent in enumerate(self.extents)]
        if self.how in (How.OWN, How.AGAIN) or (self.array and not self.by_address):
            return out
        address = "(void*)&" if self.by_address else "(void*)" if self.extents else ""
        return [f".{self.name} = {address}{{}}", *out]

    @property
    def copied(self) -> str:
        """What an initialiser cannot copy."""
        if self.how is not How.COPY or not self.array:
            return ""
        return f" __builtin_memcpy(&{PREFIX}data.{self.name}, &{{}}, sizeof {PREFIX}data.{self.name});"

    @property
    def prologue(self) -> str:
        """Declares it in the function of the task."""
        member = self.given.replace("{}", f"{GIVEN}->{self.name}")
        if self.how is How.AGAIN:
            return f"extern {self.declared(self.name)};"
        if self.how is How.OWN:
            return f"{self._writable(self.name)};"
        if self.by_address:
            return f"{self.declared(f'(*const {PREFIX}{self.name})')} = {member};"
        if self.array:
            return f"{self._writable(self.name)}; __builtin_memcpy(&{self.name}, &{member}, sizeof {self.name});"
        return f"{self.declared(self.name)} = {member};"

    def _writable(self, name: str) -> str:
        """Of an array that is filled after its declaration."""
        text = self.declared(name)
        return CONST.sub("", text) if (self.array or self.how is How.OWN) and "*" not in text else text


class Spelling:
    """`text`: what the C parser sees, without notations; `original` with what it does not see of C, too."""

    def __init__(self, declared: Declared, text: str, original: str) -> None:
        self.declared, self.text, self.original = declared, text, original

    def variable(self, name: str, top: Node, how: How) -> Variable | str:
        """What has to be known of a variable; or why it cannot be captured."""
        holder = enclosing(top, "declaration", "parameter_declaration")
        identifier = innermost(top)
        kind = holder.child_by_field_name("type") if holder is not None else None
        of = self.declared.type_of_declarator(top)
        if holder is None or identifier is None or kind is None or of is None:
            return "its declaration cannot be read"
        shape = (top.child_by_field_name("declarator") if top.type == "init_declarator" else top) or top
        first = holder.child_by_field_name("declarator") or shape
        words = self.original[holder.start_byte : first.start_byte]
        array = of.derived[:1] == (ARRAY,)
        if kind.child_by_field_name("body") is not None and enclosing(holder, "function_definition") is not None:
            return "its type is declared in the function"
        if any(self.declared.made_in_block(n) is not None for n in walk(kind) if n.type.endswith("identifier")):
            return f"its type `{text_of(kind)}` is declared in the function"
        if array and holder.type == "parameter_declaration":
            return "it is a parameter whose type hides that it is a pointer"
        pieces, extents = self._shape(name, identifier, shape, holder.type == "parameter_declaration")
        if extents and array and how in (How.COPY, How.OWN):
            return "it is an array whose extent is known only at run time"
        return Variable(name, top, how, array, one_line(STORAGE.sub("", words)), pieces, extents)

    def _shape(self, name: str, identifier: Node, top: Node, parameter: bool) -> tuple[str, list[str]]:
        """Its declarator with {} for the name, and the extents that this block knows."""
        extents: list[str] = []
        edits = [(identifier.start_byte, identifier.end_byte, "{}")]
        node, element = identifier, "{}"
        while node.id != top.id and node.parent is not None:
            node = node.parent
            size = node.child_by_field_name("size")
            if node.type == "array_declarator" and parameter and node.child_by_field_name("declarator") == identifier:
                edits = [(identifier.start_byte, node.end_byte, "(*{})")]
            elif node.type == "array_declarator" and size is not None and self._of_block(size):
                edits.append((size.start_byte, size.end_byte, f"{GIVEN}->{PREFIX}{name}_{len(extents)}"))
                extents.append(f"sizeof {element} / sizeof {element}[0]")
            if node.type in ("array_declarator", "pointer_declarator"):
                element += "[0]"
        out, at = [], top.start_byte
        for begin, end, new in sorted(edits):
            out += [self.text[at:begin], new]
            at = end
        return one_line("".join([*out, self.text[at : top.end_byte]])), extents

    def _of_block(self, size: Node) -> bool:
        names = [n for n in walk(size) if n.type == "identifier"]
        return any(
            self.declared.is_local(self.declared.declarator(n), n) or self.declared.made_in_block(n) is not None
            for n in names
        )
