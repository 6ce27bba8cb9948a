"""Warns about a variable in which each node has only what its own iterations of a shared loop add to it, where a
sequential program has one value: a sum without `reduction`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.counted import changes, in_order, is_set, is_sum, whole
from ..core.declarators import enclosing
from ..core.every_rank import OPTION
from ..core.operators import REDUCTIONS
from ..core.source import Node, base_of, text_of, walk

if TYPE_CHECKING:
    from .part import Xmp
    from .subscripts import Shared

CHAIN = ("subscript_expression", "field_expression", "parenthesized_expression")


def warn_of_sums(xmp: Xmp, statement: Node, loops: list[Shared]) -> None:
    """Requires that nodes have different iterations of at least one of the loops."""
    function = enclosing(statement, "function_definition")
    if function is None or in_task(xmp, statement):
        return
    told = {each.counted.name for each in loops}
    for node in walk(statement):
        change = changes(node)
        if change is None or not is_sum(node, *change):
            continue
        root = change[0]
        while root.type in CHAIN:
            root = base_of(root)
        name = text_of(root)
        if root.type != "identifier" or name in told or not is_own(xmp, root, statement):
            continue
        if is_of_iteration(change[0], loops) or is_combined(xmp, name) or not is_read_after(function, statement, name):
            continue
        first = next(use for use in in_order(statement) if text_of(use) == name)
        if is_set(whole(first)):
            continue
        told.add(name)
        word = change[1][:-1] or "+"
        remedy = f"add reduction({word}:{name}) to the directive" if word in REDUCTIONS else "sum up by a reduction"
        text = f"each node gets a `{name}` of its own iterations only"
        xmp.source.complain(OPTION, node.start_byte, text, remedy, "warning")


def is_of_iteration(target: Node, loops: list[Shared]) -> bool:
    """Returns true for h[i], an element for each iteration, and false for h[a[i]]."""
    while target.type in CHAIN:
        if target.type == "subscript_expression":
            inner = [node for node in walk(target) if node.type == "subscript_expression" and node != target]
            nested = {name.id for node in inner for name in walk(node)} - {target.id}
            names = {text_of(node) for node in walk(target) if node.type == "identifier" and node.id not in nested}
            if any(each.counted.name in names for each in loops):
                return True
        target = base_of(target)
    return False


def in_task(xmp: Xmp, statement: Node) -> bool:
    """Returns true if only some nodes execute a loop."""
    for directive in xmp.directives:
        if directive.name == "task" and directive.at < statement.start_byte:
            below = xmp.statements.below(directive.end)
            if below is not None and below.start_byte <= statement.start_byte < below.end_byte:
                return True
    return False


def is_own(xmp: Xmp, root: Node, statement: Node) -> bool:
    """Returns true for a variable that is declared outside of a loop, and of which each node has one."""
    declared = xmp.declared.denoted(root)
    outside = declared is not None and not statement.start_byte <= declared.entity.at < statement.end_byte
    return outside and xmp.aligned.of_node(root) is None and xmp.rewriter.resolve(root) is None


def is_combined(xmp: Xmp, name: str) -> bool:
    """Returns true if a line of the file combines or moves the values of nodes."""
    word = re.compile(rf"\b{name}\b")
    for directive in xmp.directives:
        if directive.name == "loop" and "reduction" not in directive.words:
            continue
        below = xmp.statements.below(directive.end) if directive.name in ("gmove", "array") else None
        if word.search(directive.words) or (below is not None and word.search(text_of(below))):
            return True
    return re.search(rf"\b(?:MPI|xmp)_\w+\s*\([^;]*\b{name}\b", xmp.source.text) is not None


def is_read_after(function: Node, statement: Node, name: str) -> bool:
    after = (use for use in in_order(function) if use.start_byte >= statement.end_byte and text_of(use) == name)
    use = next(after, None)
    return use is not None and not is_set(whole(use))
