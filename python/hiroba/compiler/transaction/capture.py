"""The variables around a block that it uses. It has copies of numbers and pointers of which nobody else can have the
address, and gives those that it has changed back once it has committed; all others it has by their address, and
accesses them as it does shared memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..core import outline
from ..core.declared import FUNCTION, POINTER, VARIABLES, Declared
from ..core.notation import Part
from ..core.pragmas import PRAGMA
from ..core.shared import PREFIX
from ..core.source import Node, base_of, walk
from ..core.spelling import GIVEN, How, Spelling, Variable
from .lvalues import Lvalues, operator_of

NUMBER = re.compile(r"(?!struct\b|union\b)")


@dataclass
class Captured:
    variable: Variable
    place: int  # of its declaration
    outside: str  # its spelling at the directive
    changed: bool = False  # it is a copy that is given back

    @property
    def is_copy(self) -> bool:
        return self.changed or self.variable.how is How.COPY

    @property
    def members(self) -> str:
        variable = self.variable
        if not self.changed:
            return variable.members
        kind = (
            f"void* {PREFIX}new_{variable.name};"
            if variable.extents
            else f"{variable.declared(f'{PREFIX}new_{variable.name}')};"
        )
        return f"{variable.members} {kind}"

    @property
    def prologue(self) -> str:
        variable = self.variable
        is_copied = self.changed and variable.by_address
        own = f" {variable.declared(variable.name)} = {variable.renamed};" if is_copied else ""
        return f"{variable.prologue}{own}"

    @property
    def epilogue(self) -> str:
        """Returns the end of the block's function: a restart finds the old values."""
        return f" {GIVEN}->{PREFIX}new_{self.variable.name} = {self.variable.name};" if self.changed else ""

    @property
    def given_back(self) -> str:
        return f" {self.outside} = {PREFIX}data.{PREFIX}new_{self.variable.name};" if self.changed else ""


def captured(part: Part, lvalues: Lvalues, at: int, statement: Node, function: Node) -> list[Captured]:
    """Returns the variables of the function that the statement uses. Reports those that it cannot have."""
    declared, out = part.declared, []
    spelling = Spelling(declared, part.rewriter)
    changed = {place for node in walk(statement) for place in changed_by(lvalues, node)}
    escaped = {place for node in walk(function) for place in escaping(lvalues, node)}
    for name, top, place in used(part, statement):
        how = outline.by_storage(declared, statement, top, How.COPY)
        of = declared.type_of_declarator(top)
        outside = spelled_at(part, top, name, at)
        scalar = of is not None and (of.derived[:1] == (POINTER,) or (not of.derived and NUMBER.match(of.base)))
        if how is How.COPY and (not scalar or place in escaped or outside != name or by_threads(part, place, at)):
            how = How.ADDRESS
        is_changed = how is How.COPY and place in changed
        if of is not None and of.derived[:1] == (FUNCTION,):
            how = How.AGAIN
        variable = spelling.variable(name, top, How.ADDRESS if is_changed else how)
        if is_changed and isinstance(variable, str):  # it may have no address
            variable = spelling.variable(name, top, How.COPY)
        if isinstance(variable, Variable):
            out.append(Captured(variable, place, outside, is_changed))
        else:
            remedy = "declare it outside of the function, or use a pointer"
            outline.refuse_variable(part.source, at, name, variable, remedy, "transaction")
    outline.refuse_types_of_block(part.source, declared, statement, "a transaction")
    return out


def used(part: Part, statement: Node) -> list[tuple[str, Node, int]]:
    """Returns the variables of the function that are declared before the statement: name, declarator, and place."""
    out: dict[int, tuple[str, Node, int]] = {}
    begin, end = statement.start_byte, statement.end_byte
    for at, denoted in part.rewriter.scopes.between(begin, end):
        if denoted.kind not in VARIABLES or not denoted.block or begin <= denoted.at < end:
            continue
        if part.rewriter.resolve_name(denoted.name, at) is not None:
            continue  # shared, and so outside of the function
        top = part.declared.top_of(denoted)
        if top is None:
            why, remedy = "its declaration cannot be read", "declare it in a line of its own"
            outline.refuse_variable(part.source, at, denoted.name, why, remedy, "transaction")
        elif Declared.is_local(top, statement):
            out[denoted.at] = denoted.name, top, denoted.at
    return list(out.values())


def spelled_at(part: Part, top: Node, name: str, at: int) -> str:
    """Returns the name of a variable at a place: in the body of a task it may be another one."""
    around = [s for s in part.unit.spelled if s[0] <= at < s[1] and s[2] == top.id]
    return max(around, key=lambda s: s[0])[3] if around else name


def by_threads(part: Part, place: int, at: int) -> bool:
    """Returns true if a directive of OpenMP stands between a variable and its use: other threads may use it, too."""
    return PRAGMA.search(part.source.text, place, at) is not None


def place_of(lvalues: Lvalues, node: Node) -> list[int]:
    identifier = lvalues.variable(node)
    denoted = lvalues.declared.denoted(identifier) if identifier is not None else None
    return [denoted.at] if denoted is not None else []


def changed_by(lvalues: Lvalues, node: Node) -> list[int]:
    if node.type not in ("assignment_expression", "update_expression"):
        return []
    return place_of(lvalues, node.child_by_field_name("left") or base_of(node))


def escaping(lvalues: Lvalues, node: Node) -> list[int]:
    """Returns the variable whose address is taken here. `(type)&x` is read as a product."""
    if node.type == "pointer_expression" and operator_of(node) == "&":
        return place_of(lvalues, base_of(node))
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if node.type == "binary_expression" and operator_of(node) == "&" and left is not None and right is not None:
        return place_of(lvalues, right) if lvalues.is_type(left) else []
    if node.type == "gnu_asm_expression":
        return [place for inner in walk(node) if inner.type == "identifier" for place in place_of(lvalues, inner)]
    return []
