"""The clauses of #pragma xmp loop that change how much of the iterations a node does: expand, margin, peel_and_wait."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..core.found import Directive
from ..core.text import split_list
from .subscripts import Shared, integer
from .words import Template, XmpWords

NAMES = ("expand", "margin", "peel_and_wait")


@dataclass(frozen=True)
class Width:
    low: str
    high: str
    unbound: bool

    @property
    def written(self) -> str:
        return f"(xmp_expand){{{self.low}, {self.high}, {int(self.unbound)}}}"

    @property
    def is_none(self) -> bool:
        return self.low == self.high == "0"

    @property
    def beyond(self) -> tuple[int, int]:
        """Returns how far iterations may be before and after a node's own, as far as that is written as a number."""
        return max(integer(self.low) or 0, 0), max(integer(self.high) or 0, 0)


@dataclass(frozen=True)
class Widening:
    """One such clause. Margins are pieces of the iterations, which are done one after the other."""

    name: str
    id: str  # of peel_and_wait
    widths: list[Width]
    place: str

    def match(self, xmp: XmpWords, directive: Directive, template: Template, loops: list[Shared]) -> bool:
        """Gives each loop its width: there is one for each dimension of the template, or for each loop."""
        if len(self.widths) not in (template.dims, len(loops)):
            text = f"{self.name} has {len(self.widths)} widths, and the loop is on {template.dims} dimensions"
            xmp.error(directive, text, "give a width for each, as in expand(-1,0)")
            return False
        by_axis = sorted(loops, key=lambda loop: loop.axis)
        for i, width in enumerate(self.widths):
            loop = (
                next((each for each in loops if each.axis == i), None)
                if len(self.widths) == template.dims
                else by_axis[i]
            )
            if loop is None:
                continue
            if template.formats[loop.axis] == "cyclic" and not width.is_none:
                text = f"{self.name} of the loop over `{loop.counted.name}`, which is by cyclic"
                xmp.error(directive, text, "distribute this dimension by block, or give the width 0")
                return False
            loop.width = width.written
            loop.beyond = width.beyond
        return True

    def part(self, loop: Shared, piece: str) -> str:
        return "XMP_LOOP_EXPANDED" if self.name == "expand" else f"xmp_margin_part({piece}, {loop.level})"

    def wait(self) -> str:
        return f"xmp_wait_async(1, (const int64_t[]){{{self.id}}}, (const xmp_node_reference*)0, {self.place});"

    def begin(self, loops: int, piece: str) -> str:
        """Returns the loop over the pieces; "" if there is one."""
        if self.name == "expand":
            return ""
        first = 0 if self.name == "peel_and_wait" else 1
        wait = f" if ({piece} == 1) {self.wait()}" if self.name == "peel_and_wait" else ""
        return f"for (int {piece} = {first}; {piece} <= {2 * loops}; {piece}++) {{{wait}"


def widening(xmp: XmpWords, directive: Directive, name: str, words: str, is_round: bool) -> Widening | None:
    texts = split_list(words)
    number = texts.pop(0) if name == "peel_and_wait" and texts else ""
    widths = []
    for text in reversed(texts) if is_round else texts:
        found = re.fullmatch(r"\s*(/\s*unbound\s*/)?\s*([^:]+?)\s*(?::\s*(.+))?", text, re.DOTALL | re.IGNORECASE)
        if found is None:
            xmp.error(directive, f"cannot read the width `{text}` of {name}", "write -1, 1:2 or / unbound / 1")
            return None
        low = xmp.expression(directive, found[2])
        high = xmp.expression(directive, found[3]) if found[3] else low
        widths.append(Width(low, high, found[1] is not None))
    if not widths or (name == "peel_and_wait" and not number):
        remedy = "write peel_and_wait(1,-1), the number of an async and widths" if number or not texts else "write -1"
        xmp.error(directive, f"{name} has no widths", remedy if name == "peel_and_wait" else f"write {name}(-1)")
        return None
    return Widening(name, xmp.expression(directive, number) if number else "", widths, xmp.place(directive))
