"""Finds the places where the program waits for the tasks of loops: before the first statement that might use shared
data in another way than such a loop. Until then loops are ordered by the data that they use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.source import Node
from .later import harmless

if TYPE_CHECKING:
    from .part import Smint


def wait_for_tasks(smint: Smint) -> None:
    places: dict[int, tuple[Node, Node]] = {}  # by end: the first and the last statement
    for _, loop in smint.task_loops:
        first = last = _largest(smint, loop)
        while (following := last.next_named_sibling) is not None and _quiet(smint, following, last.end_byte):
            last = following
        if last.end_byte not in places:
            places[last.end_byte] = (first, last)
    for at, (first, last) in places.items():
        call = f" smint_taskwait({smint.source.place(first.start_byte).literal});"
        parent = first.parent
        if parent is not None and parent.type == "compound_statement":
            smint.source.insert(at, call)
            continue
        begin = next((d.at for d, loop in smint.task_loops if loop.id == first.id), first.start_byte)
        smint.source.insert(begin, "{ ")
        smint.source.insert(last.end_byte, f"{call} }}")


def _largest(smint: Smint, loop: Node) -> Node:
    """Returns the largest statement around a loop that does nothing else with shared data."""
    out = loop
    at = loop.parent
    while at is not None and at.type not in ("function_definition", "translation_unit"):
        if not _quiet(smint, at, at.start_byte):
            break
        if at.type != "compound_statement" or (at.parent is not None and at.parent.type == "compound_statement"):
            out = at
        at = at.parent
    return out


def _quiet(smint: Smint, node: Node, behind: int) -> bool:
    """`behind`: no other directive is between this place and the end of the statement."""
    loops = {loop.start_byte: loop for _, loop in smint.task_loops}
    own = {directive.at for directive, _ in smint.task_loops}
    others = [d for d in smint.found.directives if behind <= d.at < node.end_byte and d.at not in own]
    return not others and node.type != "else_clause" and harmless(smint.rewriter, node, loops)
