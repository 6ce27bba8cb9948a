"""The subscripts of aligned arrays in shared loops: which of them a node has is known before the run, where they are a
loop's variable and a number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.constants import value_of
from ..core.counted import Counted
from ..core.declarators import enclosing
from ..core.shared import Anchor
from ..core.source import Node, bare, text_of, walk
from .aligned import Aligned
from .words import Template

if TYPE_CHECKING:
    from .part import Xmp


@dataclass
class Shared:
    """A loop whose iterations are shared."""

    node: Node
    counted: Counted
    axis: int  # of the template
    offset: str
    level: int  # 0: the outermost
    name: str  # prefix of the generated variables
    hoisted: bool = False
    width: str = "(xmp_expand){0, 0, 0}"  # of expand, margin or peel_and_wait
    beyond: tuple[int, int] = (0, 0)  # iterations before and after the node's own

    @property
    def step(self) -> str:
        if self.counted.by is None:
            return str(self.counted.step)
        return ("-" if self.counted.step < 0 else "") + f"({text_of(self.counted.by)})"


def same_division(a: Template, b: Template) -> bool:
    parts = [(t.formats, t.widths, t.onto, t.lower, t.extent) for t in (a, b)]
    return a is b or parts[0] == parts[1]


def check_subscripts(xmp: Xmp, template: Template, statement: Node, loops: list[Shared]) -> None:
    """Reports subscripts that a node executing these iterations does not have."""
    variables = {}
    for shared in loops:
        denoted = xmp.declared.denoted(shared.counted.variable)
        if denoted is not None:
            variables[denoted.entity.at] = shared
    for node in walk(statement):
        if node.type != "subscript_expression" or is_moved(xmp, node):
            continue
        depth, root = 0, bare(node.child_by_field_name("argument") or node)
        while root.type == "subscript_expression":
            depth, root = depth + 1, bare(root.child_by_field_name("argument") or root.named_children[0])
        array = xmp.aligned.of_node(root)
        index = node.child_by_field_name("index")
        if array is None or index is None or depth >= array.dims or not array.is_divided(depth) or array.is_full(depth):
            continue
        found = index_of(xmp, index)
        if found is not None and found[0] in variables:
            check(xmp, array, depth, index, found[1], template, variables[found[0]])


def is_moved(xmp: Xmp, node: Node) -> bool:
    """Returns true for a side of gmove, which may be on other nodes."""
    move = enclosing(node, "assignment_expression", "statement")
    return move is not None and move.start_byte in xmp.lowering.gmoves


def index_of(xmp: Xmp, index: Node) -> tuple[int, int] | None:
    """Returns the entity of a variable, and the number that is added to it."""
    index, added = bare(index), 0
    while index.type == "binary_expression":
        left, right = index.child_by_field_name("left"), index.child_by_field_name("right")
        sign = {"+": 1, "-": -1}.get(text_of(index.child_by_field_name("operator")))
        number, first = value_of(xmp.declared, right), value_of(xmp.declared, left)
        if left is None or right is None or sign is None:
            return None
        if number is not None:
            index, added = bare(left), added + sign * number
        elif first is not None and sign == 1:
            index, added = bare(right), added + first
        else:
            return None
    denoted = xmp.declared.denoted(index) if index.type == "identifier" else None
    return (denoted.entity.at, added) if denoted is not None else None


def integer(text: str) -> int | None:
    """Returns a number that is written as one."""
    found = re.fullmatch(r"[\s()]*(-?)[\s()]*(\d+)[\s()]*", text)
    return int(found[1] + found[2]) if found is not None else None


def check(xmp: Xmp, array: Aligned, d: int, index: Node, added: int, template: Template, shared: Shared) -> None:
    name, variable = array.name, shared.counted.name
    if not same_division(array.template, template):
        xmp.source.error(
            index.start_byte,
            f"the loop over `{variable}` is on template `{template.name}`, and `{name}` is aligned with"
            f" `{array.template.name}`",
            f"write loop on {array.template.name}, or move the array by gmove first",
        )
    elif array.axes[d] != shared.axis:
        xmp.source.error(
            index.start_byte,
            f"the loop over `{variable}` is on dimension {shared.axis + 1} of `{template.name}`, and this dimension of"
            f" `{name}` is aligned with dimension {array.axes[d] + 1}",
            "let the loop variable stand in the same dimension of both",
        )
    else:
        here = Anchor(index, index.start_byte)
        there = xmp.anchor(array.last) if array.last is not None else here
        offsets = [xmp.known(array.offsets[d], there), xmp.known(shared.offset, here)]
        widths = [xmp.known(w, there) for w in array.shadow[d]] if array.shadow else [0, 0]
        if None in (*offsets, *widths):
            return
        away = added + (offsets[0] or 0) - (offsets[1] or 0)
        ends = (away - shared.beyond[0], away + shared.beyond[1])  # the node's first and last one
        away = ends[0] if -ends[0] > (widths[0] or 0) else ends[1]
        has = (widths[0] if away < 0 else widths[1]) or 0
        if abs(away) > has:
            xmp.source.error(
                index.start_byte,
                f"this subscript of `{name}` is {abs(away)} {'before' if away < 0 else 'after'} what the node of the"
                f" iteration has, and the shadow there is {has}",
                f"write #pragma xmp shadow {name}, and reflect, or move the data by gmove",
            )
