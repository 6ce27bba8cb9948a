"""Warns of sums through a pointer, as sums.py of those by name: `double* q = &x; .. *q += a[i]`, and later `x` is used.
What a pointer points to core/flow.py knows, once all directives are rewritten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.arithmetic import name_of
from ..core.combined import Combination, Combining, depends_on_itself, target_name
from ..core.counted import changes
from ..core.declarators import enclosing
from ..core.operations import Access, Operation, Set, all_in
from ..core.scopes import Declaration
from ..core.source import Node, bare, text_of, walk
from .sums import element_of, is_combined, is_of_iteration, is_read_after, say

if TYPE_CHECKING:
    from .part import Xmp


@dataclass(frozen=True)
class SharedOut:
    """A loop whose iterations nodes share."""

    statement: Node
    divided: frozenset[str]  # the variables of its loops of which nodes have different iterations
    told: frozenset[int]  # the places where sums.py has warned

    def has(self, at: int) -> bool:
        return self.statement.start_byte <= at < self.statement.end_byte


def warn_of_pointed_sums(xmp: Xmp) -> None:
    for function in xmp.unit.flow.functions.values() if xmp.shared_out else ():
        inside = [loop for loop in xmp.shared_out if enclosing(loop.statement, "function_definition") == function.node]
        operations = all_in(function.body) if inside else []
        for loop in inside:
            of_loop = [each for each in operations if loop.has(each.node.start_byte)]
            told: set[str] = set()
            for access in of_loop:
                if isinstance(access, Access) and access.operator:
                    warn_of_access(xmp, loop, function.node, access, of_loop, told)


def warn_of_access(
    xmp: Xmp, loop: SharedOut, function: Node, access: Access, operations: list[Operation], told: set[str]
) -> None:
    change, objects, root = changes(access.node), own_objects(xmp, loop, access), access.root
    name = target_name(change[0]) if change is not None else ""
    if change is None or root is None or not name or not objects or name in told or access.node.start_byte in loop.told:
        return
    combines = access.operator != "=" or depends_on_itself(access.node, loop.statement)
    if not combines or is_of_iteration(change[0], set(loop.divided)) or is_renewed(access, operations):
        return
    moves = any(c is not None and text_of(bare(c[0])) == root.name for c in map(changes, walk(loop.statement)))
    if moves or any(is_combined(xmp, each) for each in (root, *objects)):
        return
    kind = name_of(element_of(xmp, change[0]))
    found = Combining(loop.statement, name, xmp.unit.functions, kind).find()
    if any(is_read_after(xmp, function, loop.statement, each, None) for each in objects):
        told.add(name)
        say(xmp, access.node.start_byte, " ".join(text_of(change[0]).split()), remedy_of(found))


def remedy_of(found: Combination) -> str:
    if not found.operator:
        return found.why
    return f"compute it in a variable of its own, with {found.clause('variable')}, and assign it behind the loop"


def own_objects(xmp: Xmp, loop: SharedOut, access: Access) -> list[Declaration]:
    """Returns the variables to one of which a pointer points; none if it may be another, or one that is shared, aligned
    or declared in the loop."""
    objects = [thing for thing in access.objects if isinstance(thing, Declaration)]
    if len(objects) < len(access.objects) or (access.root is not None and access.root.entity in objects):
        return []
    divided = {at for at, _ in xmp.aligned.all}
    shared = {made.entity for s in xmp.rewriter.shared if (made := xmp.unit.scopes.declared(s.at)) is not None}
    if any(each in shared or each.at in divided or loop.has(each.at) for each in objects):
        return []
    return objects


def is_renewed(access: Access, operations: list[Operation]) -> bool:
    """Returns true if the iteration has set it before."""
    for other in operations:
        if other.node.start_byte >= access.node.start_byte:
            continue
        if isinstance(other, Set) and other.key in access.objects:
            return True
        if isinstance(other, Access) and other.operator == "=" and not other.again and other.objects & access.objects:
            return True
    return False
