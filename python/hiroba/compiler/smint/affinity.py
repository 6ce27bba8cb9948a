"""affinity(a[i][0]): the element at whose home an iteration is computed, accessed by the loop or not."""

from __future__ import annotations

import re

from ..core.affine import Form, Reader
from ..core.arithmetic import name_of
from ..core.counted import REAL
from ..core.found import Directive
from ..core.shared import Anchor
from ..core.source import Node, parse, subscripts, text_of
from .loops import Access, LoopReader


def owner_of(reader: LoopReader, directive: Directive, argument: str) -> int:
    """Returns the number of the access that decides; -1 with a message if none does."""
    accesses = reader.out.accesses
    wanted = re.sub(r"\s+", "", argument)
    same = [i for i, access in enumerate(accesses) if re.sub(r"\s+", "", access.text) == wanted]
    if not same and (access := written(reader, Anchor(reader.body, reader.body.start_byte), argument)) is not None:
        accesses.append(access)
        return len(accesses) - 1
    same += [i for i, access in enumerate(accesses) if access.name == wanted.split("[")[0]]
    if not same:
        reader.source.error(
            directive.place(argument),
            f"affinity({argument}) is no element of an array with subscripts that are affine in this loop",
            "name one, for example affinity(A[i][0])",
        )
    return same[0] if same else -1


def written(reader: LoopReader, anchor: Anchor, argument: str) -> Access | None:
    """Returns the element that the directive names, if its subscripts are affine."""
    root = parse(f"void f(void) {{ return {argument}; }}")
    node = root.descendant_for_byte_range(
        len("void f(void) { return "), len("void f(void) { return ") + len(argument) - 1
    )
    if root.has_error or node is None:
        return None
    node, indices = subscripts(node)
    if node.type != "identifier" or not indices:
        return None

    def invariant(name: Node) -> bool:
        word = text_of(name)
        if word in reader.assigned or word in reader.locals or reader.rewriter.resolve(name, anchor) is not None:
            return False
        denoted = reader.declared.denoted(name, anchor)
        return denoted is not None and name_of(reader.declared.type_of(name, anchor)) not in REAL

    name, shared = text_of(node), reader.rewriter.resolve(node, anchor)
    forms = [Reader(reader.reader.variables, invariant, text_of).read(index) for index in indices]
    known = [form for form in forms if form is not None]
    private = shared is None and (name in reader.locals or name in reader.assigned)
    if len(known) < len(forms) or private or reader.declared.denoted(node, anchor) is None:
        return None
    dims = shared.dims if shared is not None else len(indices)
    known += [Form()] * (dims - len(known))
    base = f"(*{shared.pointer})" if shared is not None else name
    return Access(argument, base, name, node, False, False, known, known)
