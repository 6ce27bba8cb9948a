"""Option check: the accesses of a loop, each as in the program's text. Races between ranks are overlaps of such
accesses; see smint_plan."""

from __future__ import annotations

from dataclasses import replace

from ..core.source import Node, walk
from .independence import conditional
from .loops import Access, Analysis
from .plan import Entry, Writer

JUMPS = ("break_statement", "continue_statement", "goto_statement")


def key(access: Access) -> tuple[object, ...]:
    return access.base, *((f.constant, f.text, *sorted(f.factors.items())) for f in access.low)


def exact(
    analysis: Analysis, loop: Node, locked: list[tuple[int, int]]
) -> dict[tuple[object, ...], tuple[Access, bool]]:
    """Accesses to the same elements are one; the flag is true if it is done in every iteration."""
    jumps = any(n.type in JUMPS for n in walk(loop))
    out: dict[tuple[object, ...], tuple[Access, bool]] = {}
    for access in analysis.single:
        if any(begin <= access.node.start_byte < end for begin, end in locked):
            continue
        perhaps = jumps or analysis.loose or conditional(access.node, loop)
        old, unsure = out.get(key(access), (access, True))
        if access.writes and not old.writes:  # a write includes a read
            old, unsure = replace(access, reads=True), True
        out[key(access)] = (old, unsure and perhaps if access.writes == old.writes else unsure)
    return out


def touches(writer: Writer, analysis: Analysis, loop: Node, locked: list[tuple[int, int]]) -> list[Entry]:
    """`locked`: places of one rank at a time, which are no races."""
    known = [writer.entry(access, False, perhaps) for access, perhaps in exact(analysis, loop, locked).values()]
    places = ((access, access.node.start_byte) for access in analysis.unknown)
    return known + [writer.entry(each, False, True) for each, at in places if not any(a <= at < b for a, b in locked)]
