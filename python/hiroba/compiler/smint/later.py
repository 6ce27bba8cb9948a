"""Barriers that are deferred to the next loop. A serial loop that uses shared data only in its parallel loops (a
time loop that swaps two pointers) needs a barrier of all ranks only after it: SMINT_LATER of smint.h."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.declarators import enclosing
from ..core.shared import Rewriter
from ..core.source import Node

SERIAL = ("for_statement", "while_statement", "do_statement")
# Nodes that might access shared data, or leave without passing the end of the loop.
REACHES_OUT = (
    "call_expression",
    "subscript_expression",
    "pointer_expression",
    "field_expression",
    "gnu_asm_expression",
    "return_statement",
    "goto_statement",
    "labeled_statement",
)


def loops_to_settle(rewriter: Rewriter, known: Iterable[Node]) -> list[Node]:
    """Returns serial loops around some of these parallel loops, and around no other directive."""
    parallel = {loop.start_byte: loop for loop in known}
    around = (enclosing(loop, *SERIAL) for loop in parallel.values())
    serial = {loop.id: loop for loop in around if loop is not None}
    return [loop for loop in serial.values() if _keeps_to_loops(rewriter, loop, parallel)]


def _keeps_to_loops(rewriter: Rewriter, serial: Node, parallel: dict[int, Node]) -> bool:
    inside = [d for d in rewriter.found.directives if serial.start_byte <= d.at < serial.end_byte]
    loops = [loop for loop in parallel.values() if serial.start_byte <= loop.start_byte < serial.end_byte]
    theirs = len(inside) == len(loops) and all(d.kind.shares_loop for d in inside)
    return theirs and harmless(rewriter, serial, parallel)


def harmless(rewriter: Rewriter, node: Node, parallel: dict[int, Node]) -> bool:
    if node.type == "for_statement" and node.start_byte in parallel:
        return True
    if node.type in REACHES_OUT:
        return False
    shared = rewriter.resolve(node) if node.type == "identifier" else None
    if shared is not None and shared.dims == 0:
        return False
    return all(harmless(rewriter, child, parallel) for child in node.named_children)
