"""Warns about a variable in which each node has only what its own iterations of a shared loop add to it, where a
sequential program has one value: a sum without `reduction`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.counted import changes, in_order, is_set, is_sum, whole
from ..core.declarators import enclosing
from ..core.every_rank import OPTION
from ..core.operators import REDUCTIONS
from ..core.source import Node, root_of, text_of, walk

if TYPE_CHECKING:
    from .part import Xmp
    from .subscripts import Shared

COMBINING = re.compile(r"(?:MPI|xmp)_\w+")  # functions that may combine or move the values of nodes


def warn_of_sums(xmp: Xmp, statement: Node, loops: list[Shared]) -> None:
    """Requires that nodes have different iterations of at least one of the loops."""
    function = enclosing(statement, "function_definition")
    if function is None or xmp.is_inside("task", statement.start_byte):
        return
    variables = {each.counted.name for each in loops}
    told = set(variables)
    for node in walk(statement):
        change = changes(node)
        if change is None or not is_sum(node, *change):
            continue
        root = root_of(change[0])
        name = text_of(root)
        if root.type != "identifier" or name in told or not is_own(xmp, root, statement):
            continue
        if is_of_iteration(change[0], variables) or is_combined(xmp, root):
            continue
        if not is_read_after(function, statement, name):
            continue
        first = next(use for use in in_order(statement) if text_of(use) == name)
        if is_set(whole(first)):
            continue
        told.add(name)
        word = change[1][:-1] or "+"
        remedy = f"add reduction({word}:{name}) to the directive" if word in REDUCTIONS else "sum up by a reduction"
        text = f"each node gets a `{name}` of its own iterations only"
        xmp.source.complain(OPTION, node.start_byte, text, remedy, "warning")


def is_of_iteration(target: Node, variables: set[str]) -> bool:
    """Returns true for h[i], an element for each iteration, and false for h[a[i]]."""
    outer = {at.id for at in walk(target) if at.type == "subscript_expression" and root_of(at) == root_of(target)}
    for name in walk(target):
        if name.type == "identifier" and text_of(name) in variables:
            around = enclosing(name, "subscript_expression")
            if around is not None and around.id in outer:
                return True
    return False


def is_own(xmp: Xmp, root: Node, statement: Node) -> bool:
    """Returns true for a variable that is declared outside of a loop, and of which each node has one."""
    declared = xmp.declared.denoted(root)
    outside = declared is not None and not statement.start_byte <= declared.entity.at < statement.end_byte
    return outside and xmp.aligned.of_node(root) is None and xmp.rewriter.resolve(root) is None


def is_combined(xmp: Xmp, root: Node) -> bool:
    """Returns true if a directive, or a call, combines or moves the values that nodes have in a variable."""
    word = re.compile(rf"\b{text_of(root)}\b")
    for directive in xmp.directives:
        if directive.name == "loop" and "reduction" not in directive.words:
            continue
        below = xmp.statements.below(directive.end) if directive.name in ("gmove", "array") else None
        if word.search(directive.words) or (below is not None and word.search(text_of(below))):
            return True
    denoted = xmp.declared.denoted(root)
    for at, use in xmp.unit.scopes.uses():
        if denoted is not None and use.entity is denoted.entity:
            node = xmp.unit.root.descendant_for_byte_range(at, at)
            call = enclosing(node, "call_expression") if node is not None else None
            if call is not None and COMBINING.fullmatch(text_of(call.child_by_field_name("function"))):
                return True
    return False


def is_read_after(function: Node, statement: Node, name: str) -> bool:
    after = (use for use in in_order(function) if use.start_byte >= statement.end_byte and text_of(use) == name)
    use = next(after, None)
    return use is not None and not is_set(whole(use))
