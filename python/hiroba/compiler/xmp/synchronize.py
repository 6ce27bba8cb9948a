"""#pragma xmp for single images: sync_memory and its like, post and wait, lock and unlock."""

from __future__ import annotations

import re

from ..core.found import Directive
from .part import Xmp

ANY_TAG = "(-0x7fffffffffffffff - 1)"  # XMP_ANY_TAG: the preprocessor has run


def sync_memory(xmp: Xmp, directive: Directive) -> None:
    xmp.clauses(directive, directive.words)
    xmp.call(directive, f"xmp_{directive.name}_at((int*)0, {xmp.place(directive)});")


def sync_image(xmp: Xmp, directive: Directive) -> None:
    sync_with(xmp, directive, ("image",))


def sync_images(xmp: Xmp, directive: Directive) -> None:
    sync_with(xmp, directive, ("count", "images"))


def sync_with(xmp: Xmp, directive: Directive, wanted: tuple[str, ...]) -> None:
    arguments, rest = xmp.arguments(directive)
    xmp.clauses(directive, rest)
    if len(arguments) != len(wanted):
        form = f"{directive.name}({', '.join(wanted)})"
        xmp.error(directive, f"#pragma xmp {directive.name} needs its images", f"write {form}")
        return
    values = ", ".join(xmp.expression(directive, a) for a in arguments)
    xmp.call(directive, f"xmp_{directive.name}_at({values}, (int*)0, {xmp.place(directive)});")


def image_of(xmp: Xmp, directive: Directive, text: str) -> tuple[str, str]:
    """Returns the expression of the other image, and the end of the name of the call that takes it: `p[k]` is a
    node, which may be outside of the executing set; a plain number counts in it, from 0."""
    name = re.match(r"\s*(\w+)", text)
    if name is not None and xmp.find_nodes(name[1], directive.at) is not None:
        return xmp.reference(directive, text), "_node"
    if re.fullmatch(r"\s*\w+\s*[\[(].*", text):
        xmp.unknown_nodes(directive, name[1] if name is not None else text)
    return xmp.expression(directive, text), ""


def post(xmp: Xmp, directive: Directive) -> None:
    arguments, rest = xmp.arguments(directive)
    xmp.clauses(directive, rest)
    if len(arguments) != 2:
        xmp.error(directive, "#pragma xmp post needs an image and a tag", "write post(p[1], 3)")
        return
    tag = xmp.expression(directive, arguments[1])
    image, kind = image_of(xmp, directive, arguments[0])
    xmp.call(directive, f"xmp_post{kind}({image}, {tag}, {xmp.place(directive)});")


def wait(xmp: Xmp, directive: Directive) -> None:
    arguments, rest = xmp.arguments(directive)
    xmp.clauses(directive, rest)
    if len(arguments) > 2:
        xmp.error(directive, "#pragma xmp wait has an image and a tag at most", "write wait(p[1], 3)")
        return
    image, kind = image_of(xmp, directive, arguments[0]) if arguments and arguments[0] else ("XMP_ANY_IMAGE", "")
    tag = xmp.expression(directive, arguments[1]) if len(arguments) == 2 else ANY_TAG
    xmp.call(directive, f"(void)xmp_wait{kind}({image}, {tag}, {xmp.place(directive)});")


def lock(xmp: Xmp, directive: Directive) -> None:
    arguments, rest = xmp.arguments(directive)
    clauses = xmp.clauses(directive, rest)
    found = xmp.variable(directive, arguments[0]) if len(arguments) == 1 else None
    if found is None or found[1].shared is None or not found[1].shared.codims or found[1].rank:
        if xmp.clean:
            xmp.error(
                directive,
                f"#pragma xmp {directive.name} needs one lock, which is an element of a coarray",
                "declare xmp_lock_t l:[*]; and write lock(l:[0])",
            )
        return
    lowering, ref = found
    own = f"xmp_own_image({lowering.descriptor(ref)}, {xmp.place(directive)})"
    image = lowering.image(ref) if ref.remote else own
    where = f"({lowering.descriptor(ref)}, {image}, &{lowering.element(ref)}, {xmp.place(directive)});"
    call = f"{clauses.trylock} = xmp_trylock_at" if clauses.trylock else f"xmp_{directive.name}_at"
    xmp.call(directive, call + where)
