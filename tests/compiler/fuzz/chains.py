"""Loops whose inner iterations depend on each other, through ever other pointers: only the outer ones may be
shared out."""

from __future__ import annotations

import random

from arrays import Array, draw_way
from nest import Scribe


def chain(dice: random.Random, arrays: list[Array], scribe: Scribe) -> list[str]:
    """Each row adds up from its left; the other array, if there is one, is only read."""
    able = [a for a in arrays if len(a.dims) == 2 and a.dims[1] > 1 and a.kind != "rec"]
    if not able or scribe.inner_alone:
        return ["#pragma SMint barrier"]
    array = dice.choice(able)
    other = dice.choice([array, *(a for a in able if a.dims == array.dims)])
    plain = scribe.plain
    writing, reading = draw_way(dice, array, 1, plain), draw_way(dice, array, 2, plain)
    if not scribe.aliases:
        reading = writing
    more = draw_way(dice, other, 3, plain)
    ways = {way.before: way for way in (writing, reading, more)}
    before = [line for way in ways.values() for line in way.before]
    scribe.copies = []
    left = reading.access(["i", "j - 1"])
    target = writing.access(["i", "j"])
    if not plain and dice.random() < 0.3:
        left = scribe.row(f"const {array.kind} *", reading.access(["i", "0"])) + "[j - 1]"
    if not plain and dice.random() < 0.3:
        target = scribe.row(f"{array.kind} *", writing.access(["i", "0"])) + "[j]"
    value = f"(long){left} + (long){more.access(['i', 'j'])} + 1"
    head = f"for (int i = 0; i < {array.dims[0]}; i++) for (int j = 1; j < {array.dims[1]}; j++) {{"
    directive = dice.choice(
        [["#pragma SMint parallel for"], ["#pragma SMint parallel for", "#pragma omp parallel for"]]
    )
    return [*before, *directive, head, *scribe.copies, f"{target} = ({array.kind})(({value}) % 97);", "}"]
