"""Warns of loops over most of a divided dimension of an aligned array that no directive divides: a node would use
elements that others have. Loops with bounds of the run, such as those of a node's own part, may be meant."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.combined import Guard, guards_of, squeezed
from ..core.counted import Counted, identifiers, read_for, read_loop
from ..core.every_rank import OPTION
from ..core.shared import Anchor
from ..core.source import Node, bare, text_of, walk
from .aligned import Aligned, is_unevaluated
from .subscripts import index_of, is_moved

if TYPE_CHECKING:
    from .part import Xmp

LOOPS = ("for_statement", "while_statement", "do_statement")
SAMPLES = 64  # indices of a loop for which a condition is looked at
OPERATORS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "&&": lambda a, b: bool(a) and bool(b), "||": lambda a, b: bool(a) or bool(b),
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_,
    "%": lambda a, b: a - b * int(a / b) if b else 0,
}  # fmt: skip


@dataclass
class Whole:
    """A loop that no directive divides. `axes`: those of the template that its variable goes through."""

    node: Node
    counted: Counted
    array: Aligned | None = None
    axes: dict[int, str] = field(default_factory=dict)


def warn_of_forgotten(xmp: Xmp) -> None:
    if not any(a.is_divided(d) for a in xmp.aligned.all.values() for d in range(a.dims)):
        return
    loops: dict[int, Whole] = {}  # by the entity of the variable: the innermost one so far
    all_: list[Whole] = []
    for node in walk(xmp.unit.root):
        if node.type in LOOPS and node.id not in xmp.divided and xmp.source.of_user(node.start_byte):
            counted: Counted | str | None = read_for(node) if node.type == "for_statement" else None
            counted = counted if isinstance(counted, Counted) else read_loop(node)
            made = xmp.declared.denoted(counted.variable) if isinstance(counted, Counted) else None
            if made is not None and isinstance(counted, Counted):
                loops[made.entity.at] = whole = Whole(node, counted)
                all_.append(whole)
        elif node.type == "subscript_expression":
            note(xmp, node, loops)
    found = [each for each in all_ if each.array is not None]
    for each in found:
        around = [o for o in found if o.node.start_byte < each.node.start_byte < o.node.end_byte]
        if not around:
            say(xmp, each, [o for o in found if each.node.start_byte <= o.node.start_byte < each.node.end_byte])


def note(xmp: Xmp, node: Node, loops: dict[int, Whole]) -> None:
    """Notes the loop whose variable is a subscript, if the loop leaves what a node has."""
    depth, root = 0, bare(node.child_by_field_name("argument") or node)
    while root.type == "subscript_expression":
        depth, root = depth + 1, bare(root.child_by_field_name("argument") or root.named_children[0])
    array, index = xmp.aligned.of_node(root), node.child_by_field_name("index")
    if array is None or index is None or depth >= array.dims or not array.is_divided(depth) or array.is_full(depth):
        return
    if bare(index).type == "update_expression":  # a[i++]
        index = bare(index).child_by_field_name("argument") or index
    entity = index_of(xmp, index)
    whole = loops.get(entity[0]) if entity is not None else None
    if whole is None or not whole.node.start_byte <= node.start_byte < whole.node.end_byte:
        return
    if is_moved(xmp, node) or is_unevaluated(node) or xmp.is_inside("task", node.start_byte):
        return
    name = whole.counted.name
    if any(may_choose_own(xmp, whole, guard) for guard in guards_of(node, whole.node)):
        return
    axis = array.axes[depth]
    if goes_through(xmp, whole, array, axis) and not is_of_one_node(xmp, array):
        whole.array = whole.array or array
        offset = squeezed_offset(array.offsets[depth])
        whole.axes.setdefault(axis, f"{name}{offset}")


def may_choose_own(xmp: Xmp, whole: Whole, guard: Guard) -> bool:
    """Returns true if a condition on the variable of a loop may choose the elements that a node has: what it compares
    with is not known before the run, or it chooses no more than half of the indices, as of two nodes."""
    counted, here = whole.counted, Anchor(whole.node, whole.node.start_byte)
    if guard.is_loop or counted.name not in identifiers(guard.condition):
        return False
    ends = [xmp.known(text_of(bound), here) for bound in (counted.first, counted.bound)]
    if ends[0] is None or ends[1] is None:
        return True
    low, past = sorted((ends[0], ends[1] + counted.past))
    some = range(low, past, max(1, (past - low) // SAMPLES) | 1)
    values = [value_at(xmp, guard.condition, counted.name, index, here) for index in some]
    return any(v is None for v in values) or 2 * sum(bool(v) == guard.value for v in values) <= len(values)


def value_at(xmp: Xmp, node: Node, name: str, index: int, here: Anchor) -> int | None:
    """Returns the value of a condition for an index, if all else in it is known."""
    node = bare(node)
    if node.type == "identifier" and text_of(node) == name:
        return index
    if node.type == "unary_expression" and text_of(node.child_by_field_name("operator")) == "!":
        value = value_at(xmp, node.named_children[-1], name, index, here)
        return None if value is None else int(not value)
    operate = OPERATORS.get(text_of(node.child_by_field_name("operator"))) if node.type == "binary_expression" else None
    if operate is None:
        return xmp.known(text_of(node), here) if name not in identifiers(node) else None
    a, b = (value_at(xmp, n, name, index, here) for n in (node.named_children[0], node.named_children[-1]))
    return None if a is None or b is None else int(operate(a, b))


def squeezed_offset(offset: str) -> str:
    text = re.sub(r"\s+|^\((.*)\)$", r"\1", offset)
    return "" if text == "0" else f" - {text[1:].strip('()')}" if text.startswith("-") else f" + {text}"


def is_of_one_node(xmp: Xmp, array: Aligned) -> bool:
    nodes = xmp.find_nodes(array.template.onto, array.at)
    return nodes is not None and all(each == 1 for each in nodes.counts)


def goes_through(xmp: Xmp, whole: Whole, array: Aligned, axis: int) -> bool:
    """Returns true if a loop has more than half of the indices: of two nodes, each has half."""
    counted, template, here = whole.counted, array.template, Anchor(whole.node, whole.node.start_byte)
    first, past = (xmp.known(text_of(bound), here) for bound in (counted.first, counted.bound))
    extent = template.known[axis][1] if axis < len(template.known) else None
    if first is not None and past is not None and extent is not None:
        return 2 * (abs(past + counted.past - first)) > extent
    bound = counted.bound if counted.step > 0 else counted.first
    written = re.sub(r"[-+]\d+$", "", squeezed(bare(bound)))
    other = first if counted.step > 0 else past
    named = re.sub(r"\s+|[()]", "", template.extent[axis])
    return extent is None and other is not None and written == named and written.isidentifier()


def say(xmp: Xmp, whole: Whole, inside: list[Whole]) -> None:
    array = whole.array
    assert array is not None
    axes = {axis: text for each in reversed(inside) for axis, text in each.axes.items()}
    template = array.template
    parts = [axes.get(axis, "*") for axis in range(template.dims)]
    on = f"({','.join(reversed(parts))})" if template.round else "".join(f"[{part}]" for part in parts)
    names = ",".join(dict.fromkeys(each.counted.name for each in inside if each.axes))
    variables = f"({names}) " if "," in names else ""
    form = "put" if isinstance(read_for(whole.node), Counted) else "write it as a for loop over its range, and put"
    xmp.source.complain(
        OPTION,
        whole.node.start_byte,
        f"no directive divides this loop over `{whole.counted.name}`, and each node has a part of `{array.name}` only",
        f"{form} #pragma xmp loop {variables}on {template.name}{on} above it",
        "warning",
    )
