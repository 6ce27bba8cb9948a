"""Calls of functions of xmp.h that need more than their arguments: atomics on elements of coarrays, xmp_desc_of, and
those that move elements of aligned arrays, which get the place of the call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.source import Node, bare, text_of

if TYPE_CHECKING:
    from .lowering import Lowering

# The numbers of their arguments.
ATOMICS = {"xmp_atomic_define": 2, "xmp_atomic_ref": 2, "xmp_atomic_fetch_add": 2, "xmp_atomic_cas": 3}
ATOMIC_FORMS = {
    "xmp_atomic_define": "xmp_atomic_define(a[i]:[image], value)",
    "xmp_atomic_ref": "xmp_atomic_ref(&variable, a[i]:[image])",
    "xmp_atomic_fetch_add": "xmp_atomic_fetch_add(a[i]:[image], value)",
    "xmp_atomic_cas": "xmp_atomic_cas(a[i]:[image], expected, desired)",
}
CAST = "__typeof__"
# The forms of those on aligned arrays; "..." is any number of arguments, and the last of brackets may be left out.
INTRINSICS = {
    "xmp_transpose": "(xmp_desc_of(x), xmp_desc_of(a), opt)",
    "xmp_matmul": "(xmp_desc_of(x), xmp_desc_of(a), xmp_desc_of(b))",
    "xmp_gather": "(xmp_desc_of(x), xmp_desc_of(a), xmp_desc_of(i), ...)",
    "xmp_scatter": "(xmp_desc_of(x), xmp_desc_of(a), xmp_desc_of(i), ...)",
    "xmp_pack": "(xmp_desc_of(v), xmp_desc_of(a), xmp_desc_of(mask))",
    "xmp_unpack": "(xmp_desc_of(a), xmp_desc_of(v), xmp_desc_of(mask))",
    "xmp_sort_up": "(xmp_desc_of(a), xmp_desc_of(b))",
    "xmp_sort_down": "(xmp_desc_of(a), xmp_desc_of(b))",
}


def lower_call(lowering: Lowering, node: Node) -> str | None:
    """Returns the C of such a call; None for others."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    name = text_of(function)
    if arguments is None:
        return None
    given = [child for child in arguments.named_children if child.type != "comment"]
    if name == "xmp_desc_of":
        return descriptor_of(lowering, node, given)
    if name in ATOMICS:
        return atomic(lowering, node, name, given)
    if name == "free" and len(given) == 1 and lowering.aligned_descriptor(lowering, bare(given[0])):
        return f"xmp_free({lowering.render(given[0])})"
    if name == "xmp_array_gtol" and len(given) == 4:  # of the specification's later versions: one subscript
        return f"xmp_array_gtol_in({', '.join(map(lowering.render, given))})"
    if name == "xmp_malloc_at" and len(given) > 2 and re.search(r"\{\s*\}$", text_of(given[2])):  # xmp_malloc(bytes)
        text = "xmp_malloc has no extents: its arguments are a descriptor, and the extent of each dimension"
        lowering.error(node.start_byte, text, "write a = xmp_malloc(xmp_desc_of(a), n, m)")
    return intrinsic(lowering, node, name, given) if name in INTRINSICS else None


def atomic(lowering: Lowering, node: Node, name: str, given: list[Node]) -> str:
    if len(given) != ATOMICS[name]:
        lowering.error(node.start_byte, f"{name} has {ATOMICS[name]} arguments", f"write {ATOMIC_FORMS[name]}")
        return "0"
    place, which = lowering.place(node.start_byte), 1 if name == "xmp_atomic_ref" else 0
    ref = lowering.reference(bare(given[which]), whole=True)
    if ref is None or ref.shared is None or ref.rank:
        if ref is not None:
            lowering.error(
                given[which].start_byte, f"{name} works on one element of a coarray", f"write {ATOMIC_FORMS[name]}"
            )
        return "0"
    image = lowering.image(ref) if ref.remote else f"xmp_own_image({lowering.descriptor(ref)}, {place})"
    lvalue = lowering.element(ref)
    where = f"{lowering.descriptor(ref)}, {image}, &{lvalue}, sizeof {lvalue}"
    values = "".join(f", (int64_t)({lowering.render(v)})" for v in given[1:] if which == 0)
    lowering.say(given[which], f"is an operand of {name}")
    if name == "xmp_atomic_ref":
        return f"(*({lowering.render(given[0])}) = ({CAST}({lvalue}))xmp_atomic_ref_at({where}, {place}))"
    cast = "" if name == "xmp_atomic_define" or value_unused(node) else f"({CAST}({lvalue}))"
    return f"({cast}{name}_at({where}{values}, {place}))"


def descriptor_of(lowering: Lowering, node: Node, given: list[Node]) -> str:
    name = bare(given[0]) if len(given) == 1 else node
    shared = lowering.reader.shared(name) if name.type == "identifier" else None
    if shared is not None and shared.codims:
        return f"((void*)({shared.descriptor}))"
    if descriptor := lowering.aligned_descriptor(lowering, name):
        return f"((void*){descriptor})"
    if variable := lowering.declared_by_directive(text_of(name), lowering.at(node.start_byte)):
        return f"((void*)&{variable})"
    lowering.error(
        node.start_byte,
        f"xmp_desc_of needs a coarray, an aligned array, a template or a node array, and `{text_of(name)}` is none",
        "declare it with :[*], or by #pragma xmp align, template or nodes",
    )
    return "0"


def intrinsic(lowering: Lowering, node: Node, name: str, given: list[Node]) -> str:
    """Returns the call with its place, which all nodes make together."""
    least = INTRINSICS[name].count("xmp_desc_of(") + (name == "xmp_transpose")
    any_number, may_lack_mask = "..." in INTRINSICS[name], "mask" in INTRINSICS[name]
    fits = len(given) == least or (any_number and len(given) > least) or (may_lack_mask and len(given) == least - 1)
    if not fits:
        text = f"{name} has {least} arguments{' or more' * any_number}, and {len(given)} are given"
        lowering.error(node.start_byte, text, f"write {name}{INTRINSICS[name]}")
        return "(void)0"
    values, place = [lowering.render(each) for each in given], lowering.place(node.start_byte)
    lowering.say(node, f"is executed by all nodes together: {name}")
    if any_number:
        indices = f"(const xmp_desc_t[]){{{', '.join(values[2:])}}}"
        return f"{name}_at({values[0]}, {values[1]}, {len(values) - 2}, {indices}, {place})"
    if name.startswith("xmp_sort"):
        return f"xmp_sort_at({', '.join(values)}, {int(name == 'xmp_sort_down')}, {place})"
    if len(values) < least:
        values.append("(xmp_desc_t)0")
    return f"{name}_at({', '.join(values)}, {place})"


def value_unused(node: Node) -> bool:
    """Returns true if an expression is a statement, or a part of one whose value is not used."""
    parent = node.parent
    if parent is None or parent.type == "expression_statement":
        return True
    if parent.type == "parenthesized_expression":
        return value_unused(parent)
    if parent.type == "comma_expression":
        return parent.child_by_field_name("left") == node or value_unused(parent)
    if parent.type == "cast_expression":
        return text_of(parent.child_by_field_name("type")) == "void"
    return parent.type == "for_statement" and parent.child_by_field_name("condition") != node
