"""The declarations of aligned arrays: pointers to them, their descriptors, and where they get their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.arithmetic import by_type
from ..core.declarators import enclosing, innermost
from ..core.found import Directive
from ..core.shared import PREFIX, Anchor, Shared, at_start, extents_of
from ..core.source import Node, one_line
from ..core.text import asserted, quoted
from .aligned import Aligned
from .sections import Codimensions
from .types import CODES
from .words import number_or

if TYPE_CHECKING:
    from .part import Xmp

NUMBERS = {**CODES, "default": "-1"}  # the types of elements


def declare_all(xmp: Xmp) -> None:
    """Makes pointers of the arrays, and writes the descriptors and their allocation."""
    for array in xmp.aligned.all.values():
        if array.last is None:
            continue
        if array.kind == "parameter":
            place = xmp.place(array.last)
            text = f"const xmp_aligned* const {PREFIX}aligned_{array.symbol}"
            xmp.write(array.last, f"{text} = xmp_aligned_of({array.name}, {quoted(array.name)}, {place});")
            continue
        defined: Node | None = None
        for declaration in xmp.unit.scopes.declarations():
            if declaration.entity.at == array.entity:
                defined = declare(xmp, array, declaration.at, "extern" in declaration.words) or defined
        if defined is not None:
            write_allocation(xmp, array, array.last, defined)


def declare(xmp: Xmp, array: Aligned, at: int, is_extern: bool) -> Node | None:
    """Edits one declaration, and returns it if it is the definition."""
    identifier = xmp.unit.root.descendant_for_byte_range(at, at + len(array.root) - 1)
    node = enclosing(identifier, "declaration") if identifier is not None else None
    if identifier is None or node is None:
        return None
    top = next(d for d in node.children_by_field_name("declarator") if innermost(d) == identifier)
    xmp.coarrays.fix_extents(node, top, Codimensions(at, at, ()), first_values=not array.in_block)
    if array.pointer:
        xmp.source.replace(identifier.start_byte, identifier.end_byte, f"(*{PREFIX}{array.name})")
    storage = "extern " if is_extern else "static " if array.is_static else ""
    left = " __attribute__((cleanup(xmp_aligned_leave))) = {0}" if array.in_block and not array.is_static else ""
    xmp.source.insert(node.end_byte, f" {storage}xmp_aligned {array.descriptor}{left};")
    return node if not is_extern else None


def write_allocation(xmp: Xmp, array: Aligned, directive: Directive, definition: Node) -> None:
    shared = Shared(array.name, array.pointer, array.at, array.dims, [], array.at, array.at)
    extents, _ = extents_of(shared, array.dims)
    if array.kind == "pointer":
        extents[0] = "0"
    shadow_ = array.shadow or [("0", "0")] * array.dims
    d, t = array.descriptor, array.template
    do = f"xmp_aligned_describe(&{d});" if array.kind == "pointer" else f"xmp_aligned_allocate(&{d});"
    if array.pointer:
        do = f"{array.pointer} = {do}"
    text = (
        f"{d} = (xmp_aligned){{.name = {quoted(array.name)}, .place = {xmp.place(directive)},"
        f" .element = sizeof {array.element}, .dims = {array.dims}, .extent = {{{', '.join(extents)}}},"
        f" .with = &{t.variable}, .axis = {{{', '.join(map(str, array.axes))}}},"
        f" .offset = {{{', '.join(array.offsets)}}}, .low = {{{', '.join(low for low, _ in shadow_)}}},"
        f" .high = {{{', '.join(high for _, high in shadow_)}}}, .type = {by_type(array.element, NUMBERS)}}}; {do}"
    )
    text = " ".join([*fits(xmp, array, extents, xmp.anchor(directive)), text])
    if array.in_block or array.in_function:
        text = f"if (!{d}.name) {{ {text} }} (void){array.pointer or array.name};"
    else:
        text = at_start(f"aligned_{array.symbol}", one_line(text))
    if array.tag:
        xmp.source.insert(definition.end_byte, f" {text}")
    else:
        xmp.write(directive, text)


def fits(xmp: Xmp, array: Aligned, extents: list[str], anchor: Anchor) -> list[str]:
    """Returns C that compares constant extents and widths with the template."""
    t, out = array.template, []
    for d, axis in enumerate(array.axes):
        low, high = array.shadow[d] if array.shadow else ("0", "0")
        if low != "XMP_REST":
            text = f"the shadow of dimension {d + 1} of {array.name} is negative"
            out.append(asserted(f"(({xmp.folded(low, anchor)}) >= 0 && ({xmp.folded(high, anchor)}) >= 0)", text))
        if axis < 0 or t.later or (array.kind == "pointer" and d == 0):
            continue
        lower, extent = map(number_or, t.known[axis], (t.lower[axis], t.extent[axis]))
        first, begin = f"(int64_t)({xmp.folded(array.offsets[d], anchor)})", f"(int64_t)({lower})"
        inside = f"({first} >= {begin} && {first} + {extents[d]} <= {begin} + ({extent}))"
        text = f"dimension {d + 1} of {array.name} leaves dimension {axis + 1} of template {t.name}"
        out.append(asserted(inside, text))
    return out


def shown(array: Aligned, d: int) -> str:
    """Describes a dimension of an array."""
    t, axis = array.template, array.axes[d]
    words = f"dimension {d + 1} "
    words += f"by {t.shown(axis)} (dimension {axis + 1} of {t.name})" if array.is_divided(d) else "whole"
    if array.is_full(d):
        return words + ", all of it on each node"
    return words + (f", shadow {':'.join(array.shadow[d])}" if array.shadow else "")


def explain(xmp: Xmp) -> None:
    for array in xmp.aligned.all.values():
        t = array.template
        dims = [shown(array, d) for d in range(array.dims)]
        if array.last is not None:
            where = xmp.source.place(array.last.at)
            xmp.explain.append(f"{where}: `{array.name}`: each node of `{t.onto}` has its part: {'; '.join(dims)}")
