"""The operations of a file's functions in their order, as far as flow.py needs them: assignments to variables, accesses
through pointers, calls, and the conditions that decide about them.

Expressions become `Value`s: the variables that a value is computed from, and its possible targets. Statements become
operations in blocks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from .scopes import Declaration
from .source import Node

Key = Hashable  # a variable: its declaration; a member: ("field", name); the result of a call: ("call", its number)
FOREIGN: Key = ("x", "")  # a value that no text of this file gives
RANK: Key = "rank"
RANKS = frozenset(
    ["sms_rank", "sms_node", "xmp_node_num", "xmpc_node_num", "xmpc_this_image", "smint_single", "xmp_all_node_num"]
)
NO_MEMBERS: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True)
class Value:
    """`points`: ("to", variable), ("of", variable): that variable's target; ("in", (point, type)): that of a pointer
    there; ("call", number); ("unknown", type)."""

    uses: frozenset[Key] = NO_MEMBERS
    points: frozenset[tuple[str, Key]] = frozenset()

    def __or__(self, other: Value) -> Value:
        if other is NOTHING:
            return self
        return other if self is NOTHING else Value(self.uses | other.uses, self.points | other.points)


NOTHING = Value()


@dataclass(eq=False, slots=True)
class Operation:
    node: Node


@dataclass(eq=False, slots=True)
class Set(Operation):
    key: Key
    value: Value
    strong: bool  # the old value is lost


@dataclass(eq=False, slots=True)
class Access(Operation):
    """A read of memory, or, if it has an operator, a write."""

    target: Value  # `uses`: variables that decide which element it is
    operator: str = ""
    value: Value = NOTHING
    again: bool = False  # the new value depends on the old one
    member: str = ""
    root: Declaration | None = None  # the variable by whose name it is accessed
    objects: set[Key] = field(default_factory=set)  # set by flow.py


@dataclass(eq=False, slots=True)
class Call(Operation):
    name: str
    arguments: list[Value]
    number: int
    called: Value  # of the pointer, if it is not called by its name
    zeros: frozenset[int] = frozenset()  # arguments that are 0
    points: list[set[Key]] = field(default_factory=list)  # set by flow.py, as `given` and `guard`
    given: list[set[Key]] = field(default_factory=list)  # atoms of its arguments
    guard: set[Key] = field(default_factory=set)


@dataclass(eq=False, slots=True)
class Branch(Operation):
    condition: Value
    then: list[Operation]
    other: list[Operation]
    tested: Declaration | None = None  # set if the condition tests that this variable is not 0


@dataclass(eq=False, slots=True)
class Loop(Operation):
    condition: Value
    test: list[Operation]  # evaluates the condition
    body: list[Operation]
    update: list[Operation]
    body_first: bool = False
    is_switch: bool = False  # `continue` belongs to an outer loop
    declares: tuple[Key, ...] = ()  # variables that later operations cannot name


@dataclass(eq=False, slots=True)
class Region(Operation):
    """A statement of one rank, a shared-out one, or one that ranks execute one after the other."""

    body: list[Operation]
    same: frozenset[Key] = NO_MEMBERS  # variables that are the same on all ranks after it
    guard: set[Key] = field(default_factory=set)  # set by flow.py


@dataclass(eq=False, slots=True)
class Mark(Operation):
    """A directive that stands alone."""

    at: int


@dataclass(eq=False, slots=True)
class Jump(Operation):
    kind: str  # return, break, continue, goto
    value: Value = NOTHING
    label: str = ""  # of goto; "" for any, `goto *value`


@dataclass(eq=False, slots=True)
class Label(Operation):
    label: str


def all_in(block: list[Operation]) -> list[Operation]:
    """Returns all operations of a block, in the order of the text."""
    out: list[Operation] = []
    for operation in block:
        out.append(operation)
        if isinstance(operation, Branch):
            out += all_in(operation.then) + all_in(operation.other)
        elif isinstance(operation, Loop):
            out += all_in([*operation.test, *operation.body, *operation.update])
        elif isinstance(operation, Region):
            out += all_in(operation.body)
    return out


@dataclass(eq=False)
class Function:
    node: Node
    name: str
    parameters: list[Declaration | None]
    body: list[Operation] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)


@dataclass
class Surroundings:
    """The directives of a file."""

    shared: Mapping[Key, object]
    placed: set[Declaration]  # pointers that get shared arrays where they are declared
    regions: dict[int, frozenset[str]]  # by the begin of a statement: names that are the same on all ranks after it
    alone: list[int]  # positions of directives that stand alone, in order
