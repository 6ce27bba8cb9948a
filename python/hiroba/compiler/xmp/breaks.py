"""`break` out of a loop that nodes share: it ends the iterations of the node that executes it, and no others'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.counted import changes, declared_names
from ..core.declarators import enclosing
from ..core.every_rank import LOOPS, OPTION
from ..core.found import Directive
from ..core.source import Node, one_line, root_of, text_of, walk
from .subscripts import Shared

if TYPE_CHECKING:
    from .part import Xmp


def breaks_of(loop: Node) -> list[Node]:
    """Returns each `break` that ends a loop."""
    ends = [node for node in walk(loop) if node.type == "break_statement"]
    return [node for node in ends if enclosing(node, *LOOPS, "switch_statement") == loop]


def may_break(xmp: Xmp, directive: Directive, loops: list[Shared], is_located: bool, has_pieces: bool) -> bool:
    """Reports a `break` whose effect the clauses of a loop exclude."""
    for shared in loops:
        for node in breaks_of(shared.node):
            if has_pieces:
                clause = "margin and peel_and_wait divide a node's iterations into loops"
                what = f"{clause}, of which `break` ends one"
                remedy = "set a variable there, and test it in the condition"
            elif is_located and shared != loops[-1]:
                what = f"`break` ends the loop over `{shared.counted.name}`, around the one whose iterations firstmax"
                what, remedy = f"{what} and its like compare", "end the inner loop, and test a variable after it"
            else:
                continue
            xmp.source.error(node.start_byte, what, remedy)
            return False
    return True


def lower_breaks(xmp: Xmp, shared: Shared, turns: bool, recorded: str) -> None:
    """`recorded`: C that records which iteration has set a result; it follows each iteration, and stands in the part
    of the loop that `break` leaves out."""
    found = breaks_of(shared.node)
    for node in found:
        rest = f" {shared.name}runs.from = {shared.name}runs.past;" * turns  # a loop for each run
        if recorded or rest:
            xmp.source.replace(node.start_byte, node.end_byte, f"{{{recorded}{rest} break; }}")
        where = xmp.source.place(node.start_byte)
        xmp.explain.append(f"{where}: `break` ends the iterations of this node, not of others")
    effect = effect_beside(shared, found)
    if found and effect is not None:
        what = f"`break` ends the iterations of one node: others go on, with `{one_line(text_of(effect))}`"
        remedy = "find the iteration first, by a loop with reduction(min:place), and let this one end there"
        xmp.source.complain(OPTION, found[0].start_byte, what, remedy, "warning")


def effect_beside(shared: Shared, breaks: list[Node]) -> Node | None:
    """Returns a change that an iteration makes without ending the loop. Nodes that go on make it in iterations that the
    sequential loop does not have."""
    body = shared.node.child_by_field_name("body") or shared.node
    ends = [enclosing_branch(node, body) for node in breaks]
    own = set(declared_names(shared.node))
    for node in walk(body):
        change = changes(node)
        if change is None or text_of(root_of(change[0])) in own:
            continue
        if not any(branch.start_byte <= node.start_byte < branch.end_byte for branch in ends):
            return node
    return None


def enclosing_branch(node: Node, body: Node) -> Node:
    """Returns the statements that are executed where a `break` is: its block, or the branch of an `if`."""
    inner = node
    while inner.parent is not None and inner != body:
        if inner.parent.type in ("compound_statement", "if_statement", "else_clause"):
            return inner.parent if inner.parent.type == "compound_statement" else inner
        inner = inner.parent
    return node
