"""The shared memory that the operations of a file use: targets of the pointers of each function, for any caller."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core.notation import Unit
from ..core.operations import Access, Call, Function, Key, Operation, all_in
from ..core.scopes import Declaration
from ..core.source import text_of
from ..core.text import matching, split_list

SIGNS = re.compile(r"\b(unsigned|signed|const|volatile|struct)\b|\s+")
BYTES = ("", "char", "void", "uint8_t", "int8_t")  # may be a part of anything
BUILTIN = re.compile(r"^__builtin_(?:__)?(\w+?)(?:_chk)?$")
FILLS = re.compile(r"mem(set|cpy|move|pcpy)$|str(n?cpy|n?cat)$")  # without a prototype
# Functions that get the address of shared memory and do not write there.
LEAVE = re.compile(r"free|preload|_home|_name$|_stats|lock|redistribute|_use$|_touch")


class Memory:
    def __init__(self, unit: Unit) -> None:
        self.unit, self.flow = unit, unit.flow
        self.parameters: dict[tuple[str, int], set[Key]] = {}
        self.globals: dict[Key, set[Key]] = {}
        self._types: dict[Key, str] = {}
        self._used: dict[str, set[Key]] = {}
        for _ in range(2):  # once more for variables at file scope
            for function in reversed(list(self.flow.in_order)):
                self._bind(function)
        self.everywhere = {made for made in self.flow.shared if isinstance(made, Declaration)
                           and not made.block and "static" not in made.words}  # fmt: skip

    def _bind(self, function: Function) -> None:
        for call in function.calls:
            for k, points in enumerate(call.points):
                if call.name in self.flow.functions:
                    self.parameters.setdefault((call.name, k), set()).update(self.of(function, points))
        for key, added in self.flow.summaries[function.name].added.items():
            if isinstance(key, Declaration):
                self.globals.setdefault(key, set()).update(self.of(function, added))

    def of(self, function: Function, objects: Iterable[Key]) -> set[Key]:
        """Returns the objects of these, as far as the file knows the function's callers."""
        out: set[Key] = set()
        for thing in objects:
            if isinstance(thing, tuple) and thing[0] == "p":
                bound = self.parameters.get((function.name, thing[1]))
                out |= bound if bound is not None else {("?", self._type(function.parameters[thing[1]]))}
            elif isinstance(thing, tuple) and thing[0] == "read":
                inner = self.of(function, {thing[1]})
                out |= {("read", each) for each in inner} if len(inner) == 1 else set()
            elif isinstance(thing, tuple) and thing[0] == "g":
                out |= self.globals.get(thing[1], {("?", self._type(thing[1]))})
            else:
                out.add(thing)
        return out

    def _type(self, made: Declaration | None) -> str:
        """Returns the type of an array's or a pointer's elements."""
        if made is None:
            return ""
        if made not in self._types:
            node = self.unit.root.descendant_for_byte_range(made.at, made.at + len(made.name))
            of = self.unit.declared.type_of(node) if node is not None else None
            self._types[made] = of.base if of is not None else ""
        return self._types[made]

    def one_of(self, function: Function, objects: Iterable[Key]) -> set[Key]:
        """Returns the objects of these that are certainly written; they must not be read at the same time."""
        found = (self.of(function, {thing}) for thing in objects)
        return {("read", each) for things in found if len(things) == 1 for each in things}

    def may_be_shared(self, thing: Key) -> bool:
        if isinstance(thing, tuple) and thing[0] == "read":
            return self.flow.is_shared(thing[1])
        return self.flow.is_shared(thing) or (isinstance(thing, tuple) and thing[0] == "?")

    def place(self, thing: Key) -> tuple[int, str]:
        """Returns the place of its declaration, for an order that is always the same."""
        declared = self.flow.declaration(plain(thing))
        return (declared.at, "") if declared is not None else (-1, str(thing))

    def name(self, thing: Key, cause: Operation) -> str:
        declared = self.flow.declaration(plain(thing))
        if declared is not None:
            return declared.name
        node = cause.node.child_by_field_name("left") or cause.node.child_by_field_name("argument") or cause.node
        return " ".join(text_of(node).split())

    def type_of(self, thing: Key) -> str:
        if isinstance(thing, tuple):
            return thing[1] if thing[0] == "?" else self._type(thing[1]) if thing[0] == "placed" else ""
        return self._type(thing) if isinstance(thing, Declaration) else ""

    def meet(self, one: Key, other: Key, surely: bool) -> bool:
        """Returns true if two objects may be the same memory: unknown pointers are compared by their types."""
        if one == other and not (isinstance(one, tuple) and one[0] == "?"):
            return True
        unknown = [thing for thing in (one, other) if isinstance(thing, tuple) and thing[0] == "?"]
        if surely or not unknown or not (self.may_be_shared(one) and self.may_be_shared(other)):
            return False
        types = [SIGNS.sub("", self.type_of(thing)) for thing in (one, other)]
        return types[0] == types[1] or any(kind in BYTES for kind in types)

    # ---- uses, as the function itself sees them ----

    def used_in(self, block: list[Operation]) -> set[Key]:
        out: set[Key] = set()
        for operation in all_in(block):
            if isinstance(operation, Access):
                out |= operation.objects
            elif isinstance(operation, Call):
                out |= self._used_by(operation)
        return out

    @staticmethod
    def read_by(objects: set[Key]) -> set[Key]:
        """Returns the record of a read: only of a certain object, because then it is the one that a loop writes."""
        return {("read", thing) for thing in objects} if len(objects) == 1 else set()

    @staticmethod
    def surely_written_in(block: list[Operation]) -> set[Key]:
        writes = [each for each in all_in(block) if isinstance(each, Access) and each.operator]
        return {thing for write in writes if len(write.objects) == 1 for thing in write.objects}

    @staticmethod
    def given(call: Call, things: Iterable[Key]) -> set[Key]:
        """Returns the caller's objects for these objects of a called function."""
        out: set[Key] = set()
        for thing in things:
            if isinstance(thing, tuple) and thing[0] == "p":
                out |= call.points[thing[1]] if thing[1] < len(call.points) else set()
            elif isinstance(thing, tuple) and thing[0] == "read":
                inner = Memory.given(call, {thing[1]})
                out |= {("read", each) for each in inner} if len(inner) == 1 else set()
            else:
                out.add(thing)
        return out

    def _used_by(self, call: Call) -> set[Key]:
        called = self.flow.functions.get(call.name)
        if called is None:
            return self.reached_by(call)
        if call.name not in self._used:
            self._used[call.name] = set()
            self._used[call.name] = self.used_in(called.body)
        return self.given(call, self._used[call.name])

    def reached_by(self, call: Call) -> set[Key]:
        """Returns the memory that a function of another file may use: its arguments, and global names."""
        given: set[Key] = set().union(*call.points)
        return given if self.is_known(call.name) else given | self.everywhere

    def is_known(self, name: str) -> bool:
        return self.flow.is_ours(name) or self.flow.of_system(name)

    def written_by(self, call: Call) -> tuple[set[Key], bool]:
        """Returns the memory that a function of another file may write; and true if it is one of the program's."""
        known, constant = self.is_known(call.name), self._constant(call.name)
        out: set[Key] = set()
        if LEAVE.search(call.name) and known:
            return out, False
        for k, points in enumerate(call.points):
            if not constant[k] if k < len(constant) else "scanf" in call.name or not known:
                out |= points
        return out if known else out | self.everywhere, not known

    def read_of(self, call: Call) -> set[Key]:
        """Returns the memory that a function of the system reads by its parameters."""
        constant = self._constant(call.name) if self.is_known(call.name) else []
        return {thing for points, stays in zip(call.points, constant, strict=False) if stays
                for thing in self.read_by(points)}  # fmt: skip

    def _constant(self, name: str) -> list[bool]:
        """Returns for each parameter of a prototype if its target stays constant."""
        name = BUILTIN.sub(r"\1", name)
        made = self.unit.scopes.visible(name, len(self.unit.found.text) - 1)
        if made is None:
            return [False, True, True, True] if FILLS.match(name) else []
        text = self.unit.found.text
        begin = made.entity.at + len(name)
        if text[begin : begin + 80].lstrip()[:1] != "(":
            return []
        begin = text.index("(", begin)
        words = split_list(text[begin + 1 : matching(text, begin) - 1])
        return [re.search(r"\bconst\b", word) is not None for word in words if word.strip() != "..."]


def plain(thing: Key) -> Key:
    """Returns the object of a read or a write."""
    return thing[1] if isinstance(thing, tuple) and thing[0] == "read" else thing
