"""What moves elements of aligned arrays: #pragma xmp reflect, and gmove with an aligned array on a side."""

from __future__ import annotations

import re
from dataclasses import replace

from ..core.declared import POINTER
from ..core.found import Directive
from ..core.shared import Anchor, Shared
from ..core.source import Node, bare, text_of
from ..core.text import asserted, matching, quoted, split_list
from .aligned import Aligned, known_array
from .arrays import Arrays
from .lowering import Gmove
from .part import Xmp
from .references import CHAIN, Reference, count
from .types import type_code


def reflect(xmp: Xmp, directive: Directive) -> None:
    arguments, rest = xmp.arguments(directive)
    found = re.match(r"width\s*\(", rest, re.IGNORECASE)
    end = matching(rest, found.end() - 1) if found is not None else -1
    widths = split_list(rest[found.end() : end - 1]) if found is not None and end > 0 else []
    if not any(arguments):
        xmp.error(directive, f"#pragma xmp {directive.name} names no array", f"write {directive.name}(a)")
        return
    clauses = xmp.clauses(directive, rest[end:].strip() if end > 0 else rest)
    calls = []
    for name in arguments:
        array = known_array(xmp, directive, name.strip())
        if array is None:
            return
        if not array.shadow:
            text = f"`{array.name}` has no shadow"
            xmp.error(directive, text, f"write #pragma xmp shadow {array.name}{'[1]' * array.dims} below its align")
            return
        if widths and len(widths) != array.dims:
            text = f"`{array.name}` has {count(array.dims, 'dimension')}, and this names {count(len(widths), 'width')}"
            xmp.error(directive, text, "give a width for each, or 0")
            return
        table = ", ".join(width(xmp, directive, w) for w in widths) or ", ".join(["{XMP_REST, 0, 0}"] * array.dims)
        place, start = xmp.place(directive), "_start" * bool(clauses.id)
        kind = f"{type_code(array.element)}, " if directive.name == "reduce_shadow" else ""
        call = f"xmp_{directive.name}{start}(&{array.descriptor}, (const xmp_width[]){{{table}}}, {kind}{place})"
        if clauses.id:
            call = f'xmp_async({clauses.id}, {call}, "{directive.name}", {place})'
        calls += [*narrow(xmp, directive, array, widths), f"{call};"]
        xmp.explain.append(f"{xmp.source.place(directive.at)}: {told(array, directive.name, widths)}")
    xmp.call(directive, f"{{ {' '.join(calls)} }}")


def told(array: Aligned, name: str, widths: list[str]) -> str:
    """Describes what a reflect or reduce_shadow moves."""
    parts = []
    for d, (low, high) in enumerate(array.shadow):
        given = widths[d].strip() if widths else ""
        if given in ("0", "0:0") or (not given and (low, high) == ("0", "0")):
            continue
        if array.is_full(d):
            what = "all that the others have"
        elif given:
            what = f"the width {given}"
        else:
            what = f"{low} below and {high} above its part"
        parts.append(f"{what} in dimension {d + 1}")
    who = "from" if name == "reflect" else "to"
    return f"{name} of `{array.name}`: each node moves {who} its neighbours {'; '.join(parts) or 'nothing'}"


def narrow(xmp: Xmp, directive: Directive, array: Aligned, widths: list[str]) -> list[str]:
    """Returns C that compares constant widths with the shadow."""
    out, at = [], xmp.anchor(directive)
    for d, text in enumerate(widths):
        if array.is_full(d) or "XMP_REST" in (given := width(xmp, directive, text)):
            continue
        low, high = (xmp.folded(each, at) for each in given[1:-1].rsplit(", ", 1)[0].split(", "))
        has = [xmp.folded(each, at) for each in array.shadow[d]]
        message = f"the width {text.strip()} is more than shadow {':'.join(array.shadow[d])} of {array.name}"
        fits = f"((uint64_t)({low}) <= (uint64_t)({has[0]}) && (uint64_t)({high}) <= (uint64_t)({has[1]}))"
        out.append(asserted(fits, message))
    return out


def width(xmp: Xmp, directive: Directive, text: str) -> str:
    found = re.fullmatch(r"\s*(/\s*periodic\s*/)?\s*(.*)", text, re.DOTALL | re.IGNORECASE)
    periodic, words = (found[1], found[2].strip()) if found is not None else (None, text)
    if not words:
        return f"{{XMP_REST, 0, {int(periodic is not None)}}}"
    low, *high = [xmp.expression(directive, word) for word in words.split(":")]
    return f"{{{low}, {high[0] if high else low}, {int(periodic is not None)}}}"


def dim_of(arrays: Arrays, array: Aligned, ref: Reference, d: int) -> tuple[str, str, str]:
    """Returns base, length and step of a dimension."""
    step = ref.steps[d] if d < len(ref.steps) else None
    extent = f"{array.descriptor}.extent[{d}]"
    if step is None or (step.index is None and step.section is None):
        return "0", extent, "1"
    if step.index is not None and step.section is None:
        return arrays.render(step.index), "1", "1"
    base, length, by = arrays.parts(ref, d)
    base = base or (f"{extent} - 1" if by.startswith("-") else "0")
    what, place = quoted(arrays.written(ref.node)), arrays.place(ref.node.start_byte)
    return base, f"xmp_length({base}, {length}, {by}, {extent}, {d}, {what}, {place})", by


def root_of(node: Node) -> Node:
    """Returns the variable of an element, a section or all of an array."""
    root = bare(node)
    while root.type in CHAIN:
        root = bare(root.child_by_field_name("argument") or root.named_children[0])
    return root


def shared_of(xmp: Xmp, node: Node) -> Shared | None:
    """Returns the shared array, of SMint or MpC, of which this is an element, a section or all."""
    root = root_of(node)
    found = xmp.unit.rewriter.resolve(root) if root.type == "identifier" else None
    return found if found is not None and not found.codims else None


class GlobalMoves:
    """gmove, if one of its sides is an aligned array."""

    def __init__(self, xmp: Xmp) -> None:
        self.xmp = xmp

    def _array(self, arrays: Arrays, node: Node) -> Aligned | None:
        return self.xmp.aligned.of_chain(node, arrays)

    def gmove(self, arrays: Arrays, node: Node, left: Node, right: Node, how: Gmove) -> str | None:
        """Returns the C of an assignment below gmove; None if neither side is aligned."""
        array, source = self._array(arrays, left), self._array(arrays, bare(right))
        if array is None and source is None:
            return None
        if how.mode == "XMP_GMOVE_OUT" and array is None and self._is_private(arrays, left):
            text = f"`{arrays.written(left)}` on the left of gmove out is memory of each node"
            arrays.error(node.start_byte, text, "write gmove in, by which each node reads what it needs")
            return "0"
        to = self._side(arrays, array, left)
        element = self._element(arrays, array, left)
        given = self._side(arrays, source, bare(right)) if source is not None else self._memory(arrays, right, element)
        if to is None or given is None or element is None:
            return "0"
        check = ""
        if source is not None:
            both = f"__typeof__({element}), __typeof__({self._element(arrays, source, right)})"
            check = (
                f' _Static_assert(__builtin_types_compatible_p({both}), "both sides of a gmove have the same type");'
            )
        function, mode = "xmp_gmove_global", ""
        explained = "by all nodes together: each gives what it owns of the right side to the owners of the left side"
        if how.mode != "XMP_GMOVE":
            function, mode = "xmp_gmove_alone", f"{how.mode}, "
            explained = (
                "by each node alone: it reads the values for what it owns of the left side"
                if how.mode == "XMP_GMOVE_IN"
                else "by each node alone: it writes the values of what it owns of the right side"
            )
        if any(shared_of(self.xmp, side) is not None for side in (left, right)) and how.mode == "XMP_GMOVE":
            explained = "by all nodes together: each copies what it owns, between two barriers"
        if not self._may_fit(arrays, node, left, right):
            return "0"
        arrays.say(node, f"is moved {explained}: {function}")
        what, place = quoted(arrays.written(node)), arrays.place(node.start_byte)
        before = " ".join([*to[0], *given[0]])
        call = f"{function}{'_start' * bool(how.id)}({mode}{to[1]}, {given[1]}, sizeof {element}, {what}, {place})"
        if how.id:
            call = f'xmp_async({how.id}, {call}, "gmove", {place})'
        return f"__extension__({{ {before}{check} {call}; }})"

    def _may_fit(self, arrays: Arrays, node: Node, left: Node, right: Node) -> bool:
        """Reports sections of unequal counts, if all of them are numbers."""
        shapes = []
        for side in (left, bare(right)):
            ref = arrays.reader.read(side, whole=True) if side.type in CHAIN else None
            if ref is None:
                return True
            at = Anchor(node, node.start_byte)
            counts = [self.xmp.known(arrays.parts(ref, i)[1], at) for i, step in enumerate(ref.steps) if step.ranges]
            shapes.append([c for c in counts if c != 1])
        left_, right_ = shapes
        if None in (*left_, *right_) or not right_ or left_ == right_:
            return True
        words = ["".join(f"[{c}]" for c in shape) or "one element" for shape in shapes]
        text = f"the left side of gmove has {words[0]}, and the right side {words[1]}"
        arrays.error(node.start_byte, text, "give both as many elements in each dimension")
        return False

    def _is_private(self, arrays: Arrays, left: Node) -> bool:
        """Returns true if the memory of a side is certainly that of one node: no pointer and no shared variable."""
        root = root_of(left)
        kind = arrays.reader.type_of(root)
        if shared_of(self.xmp, left) is not None or kind is None or root.type != "identifier":
            return False
        return POINTER not in kind.derived

    def _element(self, arrays: Arrays, array: Aligned | None, node: Node) -> str | None:
        if array is not None:
            return array.element
        ref = arrays.reference(node, whole=True)
        return arrays.of_element(ref) if ref is not None else None

    def _side(self, arrays: Arrays, array: Aligned | None, node: Node) -> tuple[list[str], str] | None:
        if array is None:
            return self._memory(arrays, node, None)
        ref = arrays.reader.read(node, whole=True)
        if ref is None:
            return None
        if array.member:
            ref = replace(ref, steps=ref.steps[1:])
        if ref.remote or any(step.member for step in ref.steps) or len(ref.steps) > array.dims:
            arrays.error(node.start_byte, f"`{arrays.written(node)}` in a gmove", "name a section of the array alone")
            return None
        table = [dim_of(arrays, array, ref, d) for d in range(array.dims)]
        columns = [", ".join(column) for column in zip(*table, strict=True)]
        return [], (
            f"&(const xmp_moved){{.array = &{array.descriptor}, .dims = {array.dims}, .base = {{{columns[0]}}},"
            f" .length = {{{columns[1]}}}, .step = {{{columns[2]}}}}}"
        )

    def _memory(self, arrays: Arrays, node: Node, element: str | None) -> tuple[list[str], str] | None:
        """Returns memory of each node, or a value."""
        inner = bare(node)
        ref = arrays.reference(inner, whole=True) if inner.type in (*CHAIN, "identifier") else None
        if ref is None and element is not None and not arrays.has_operand(node):
            return (
                [f"const __typeof__({element}) xmp_value = {arrays.render(node)};"],
                "&(const xmp_moved){.address = (void*)&xmp_value}",
            )
        if ref is None or ref.remote or not ref.regular:
            arrays.error(
                node.start_byte, f"`{text_of(node)}` in a gmove with an aligned array", "name an array of each node"
            )
            return None
        if element is not None and not ref.rank:  # a value, which is converted
            value = f"const __typeof__({element}) xmp_value = {arrays.render(node)};"
            address = "&xmp_value"
            if shared_of(self.xmp, inner) is not None and not ref.bits:  # its value is that after a barrier
                same = f"__builtin_types_compatible_p(__typeof__({element}), __typeof__({arrays.render(node)}))"
                address = f"({same} ? (void*)&{arrays.render(inner)} : (void*)&xmp_value)"
            return [value], f"&(const xmp_moved){{.address = (void*){address}}}"
        operand = arrays.prepare(ref)
        zeros = ", ".join(["0"] * len(operand.counts)) or "0"
        ones = ", ".join(["1"] * len(operand.counts)) or "0"
        return operand.before, (
            f"&(const xmp_moved){{.address = (void*)&{arrays.at_first(operand)}, .dims = {len(operand.counts)},"
            f" .base = {{{zeros}}}, .length = {{{', '.join(operand.counts) or '0'}}}, .step = {{{ones}}},"
            f" .stride = {{{', '.join(operand.strides) or '0'}}}}}"
        )
