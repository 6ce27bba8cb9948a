"""Array assignments, `b[0:4] = c[0:4] + a[4:4]:[1]*2`: data on other images moves in one call per section, local
data in loops. The right side is read before the left is written, even if they overlap."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ..core.arithmetic import name_of, promoted
from ..core.declared import ARRAY
from ..core.operators import OPERATORS
from ..core.source import Node, bare, text_of
from ..core.text import quoted, spliced
from .lowering import Gmove, Lowering
from .references import CHAIN, Reference, count
from .types import type_code

UNKNOWN_EXTENT = "0x7fffffffffffffff"  # XMP_UNKNOWN: the preprocessor has run
LITERALS = ("number_literal", "char_literal", "string_literal", "true", "false", "sizeof_expression", "null")


@dataclass
class Operand:
    """A section of a statement: its indices have become variables."""

    ref: Reference
    root: str
    before: list[str] = field(default_factory=list)  # declarations
    first: list[str] = field(default_factory=list)  # one text per step
    counts: list[str] = field(default_factory=list)
    strides: list[str] = field(default_factory=list)  # in bytes
    steps: list[str] = field(default_factory=list)  # in elements, beside `first`: "" if it is no range
    subscripts: dict[int, str] = field(default_factory=dict)  # by step: C that makes a subscript of an index
    fetched: str = ""  # the temporary that has its elements

    @property
    def total(self) -> str:
        return " * ".join(self.counts)


class Arrays(Lowering):
    # Returns the C of a gmove, if a side is an aligned array.
    aligned_gmove: Callable[[Arrays, Node, Node, Node, Gmove], str | None] = staticmethod(lambda *_: None)

    # Returns a section of an aligned array as an operand; None for others.
    prepare_aligned: Callable[[Arrays, Reference], Operand | None] = staticmethod(lambda *_: None)

    def array_assignment(self, node: Node, left: Reference, operator: str, right: Node) -> str:
        before, value = self.source.errors, bare(right)
        whole = self.operand(value)
        if self.source.errors > before:
            return "0"
        if whole is None and not self.has_operand(value):
            return self._spread(left, operator, right) if left.remote else self._loops(left, operator, right)
        moved = whole is not None and (left.remote or whole.remote or whole.rank != left.rank)
        if whole is not None and moved and left.regular and whole.regular and self._same_type(left, whole, operator):
            return self._move(left, operator, whole)
        return self._loops(left, operator, right)

    # ---- operands ----

    def operand(self, node: Node) -> Reference | None:
        """Returns the section that this expression is, if it is one, or an array as a whole."""
        if self.reader.written(node):
            found = self.reader.read(node, whole=True)
            if found is not None and found.bits and not found.rank:
                return None
            found = self.reference(node, whole=True)
            return found if found is not None and found.rank else None
        parent = node.parent.type if node.parent is not None else ""
        if parent in ("argument_list", "pointer_expression", "subscript_expression", "sizeof_expression"):
            return None
        return self.reader.read(node, whole=True) if self._is_array(node) else None

    def has_operand(self, node: Node) -> bool:
        if node.type == "sizeof_expression":
            return False
        return self.operand(node) is not None or any(self.has_operand(child) for child in node.named_children)

    def _same_type(self, left: Reference, right: Reference, operator: str) -> bool:
        """Returns true if bytes can be moved unchanged, and accumulated without conversion."""
        a, b = left.type, right.type
        if a is None or b is None or (a.derived, a.base) != (b.derived, b.base):
            return False
        return not operator or (name_of(a) is not None and promoted(name_of(a)) == name_of(a))

    # ---- sections ----

    def prepare(self, ref: Reference) -> Operand:
        """Declares the indices of a section."""
        aligned = self.prepare_aligned(self, ref) if self.is_sharing else None
        if aligned is not None:
            return aligned
        out = Operand(ref, self.render(ref.root))
        if bare(ref.root).type != "identifier":
            self._hold(out, ref.steps[0].member if ref.steps else ".")
        if ref.each:
            many = self.names.new("count")
            out.before.append(f"const int64_t {many} = ({self.descriptor(ref)})->images->count;")
            out.counts.append(many)
            out.strides.append("0")
        for number, step in enumerate(ref.steps):
            if step.member:
                out.first.append("")
                out.steps.append("")
            elif step.index is not None:
                out.first.append(self.variable_of(out, "index", self.index(ref, number, step)))
                out.steps.append("")
            else:
                self._range(out, number)
        return out

    def _hold(self, out: Operand, member: str) -> None:
        """Evaluates the text before the first bracket once."""
        name, root = self.names.new("base"), f"({out.root})"
        out.before.append(f"const __auto_type {name} = {'&' * member.startswith('.')}{root};")
        out.root = f"(*{name})" if member.startswith(".") else name

    def _range(self, out: Operand, number: int) -> None:
        ref = out.ref
        step = ref.steps[number]
        inside = self.local(ref, ["0"] * len(ref.steps), number)
        extent = f"(int64_t)(sizeof {inside} / sizeof {inside}[0])" if step.extent_known else UNKNOWN_EXTENT
        base, length, stride = self.parts(ref, number)
        dimension = sum(not s.member for s in ref.steps[:number])
        by = self.variable_of(out, "step", stride)
        default = f"{by} < 0 ? {extent} - 1 : 0"
        if re.fullmatch(r"-?\d+", by):
            default = f"{extent} - 1" if by.startswith("-") else "0"
        first = self.variable_of(out, "first", base or default)
        many = self.names.new("count")
        what, place = quoted(self.written(ref.node)), self.place(ref.node.start_byte)
        out.before.append(
            f"const int64_t {many} = xmp_length({first}, {length}, {by}, {extent}, {dimension}, {what}, {place});"
        )
        out.first.append(first)
        out.steps.append(by)
        out.counts.append(many)
        size = f"(int64_t)sizeof {inside}[0]"
        out.strides.append(size if by == "1" else f"{by} * {size}")

    def variable_of(self, out: Operand, what: str, value: str) -> str:
        """Returns a number unchanged, or a variable that has the value."""
        if re.fullmatch(r"-?\d+", value):
            return value
        name = self.names.new(what)
        out.before.append(f"const int64_t {name} = {value};")
        return name

    def parts(self, ref: Reference, number: int) -> tuple[str, str, str]:
        """Returns base (or nothing), length and step as C."""
        section = ref.steps[number].section
        texts = [self.render_range(part.begin, part.end, ref.node) for part in section.parts] if section else []
        base, length, step = [*texts, "", "", ""][:3]
        return base, length or "XMP_REST", step or "1"

    def render_range(self, begin: int, end: int, inside: Node) -> str:
        """Returns a part of an expression: between two colons."""
        edits = [(node.start_byte, node.end_byte, self.render(node)) for node in topmost(inside, begin, end)]
        return " ".join(spliced(self.brackets.original, begin, end, edits).split())

    def section(self, operand: Operand) -> str:
        """Returns the operand as an xmp_section."""
        ref = operand.ref
        where = ""
        if ref.remote:
            where = f".coarray = {self.descriptor(ref)}, .image = {self.image(ref)}, "
        address = self.at_first(operand)
        return self._literal(where, f"(void*)&{address}", operand.counts, operand.strides)

    def _literal(self, where: str, address: str, counts: list[str], strides: list[str]) -> str:
        return (
            f"&(const xmp_section){{{where}.address = {address}, .dims = {len(counts)},"
            f" .count = {{{', '.join(counts)}}}, .stride = {{{', '.join(strides)}}}}}"
        )

    def packed(self, name: str, counts: list[str]) -> str:
        """Returns a temporary as an xmp_section."""
        strides = [" * ".join([f"(int64_t)sizeof *{name}", *counts[d + 1 :]]) for d in range(len(counts))]
        return self._literal("", name, counts, strides)

    def at_first(self, operand: Operand) -> str:
        return self._chain(operand, operand.first)

    def _chain(self, operand: Operand, indices: list[str]) -> str:
        text = operand.root
        for i, (step, index) in enumerate(zip(operand.ref.steps, indices, strict=True)):
            text += step.member or f"[{operand.subscripts.get(i, '{}').format(index)}]"
        return text

    # ---- whole sides ----

    def _move(self, left: Reference, operator: str, right: Reference) -> str:
        """Assigns section to section, without computation here."""
        to, source = self.prepare(left), self.prepare(right)
        element, place = self.of_element(left), self.place(left.node.start_byte)
        if operator:
            code = type_code(element, name_of(left.type))
            call = f"{code}, {self.section(source)}, {code}, {OPERATORS[operator].xmp}, {place}"
            call = f"xmp_update({self.section(to)}, {call});"
            self._tell(left, f"accumulates `{self.written(right.node)}` by {operator}: xmp_update")
        else:
            call = f"xmp_assign({self.section(to)}, {self.section(source)}, sizeof {element}, {place});"
            self._tell(left, f"gets `{self.written(right.node)}`: xmp_assign")
        return f"__extension__({{ {' '.join([*to.before, *source.before])} {call} }})"

    def _spread(self, left: Reference, operator: str, right: Node) -> str:
        """Assigns one value to all elements on another image."""
        to = self.prepare(left)
        element, place, value = self.of_element(left), self.place(left.node.start_byte), self.render(right)
        if operator:
            name = self.computing(left, operator, right)
            kind = name or f"__typeof__({element} {operator} ({value}))"
            call = (
                f"xmp_update({self.section(to)}, {type_code(element, name_of(left.type))},"
                f" &(const xmp_section){{.address = &xmp_value}}, {type_code('xmp_value', name)},"
                f" {OPERATORS[operator].xmp}, {place});"
            )
            self._tell(left, f"accumulates one value by {operator}: xmp_update")
        else:
            kind = f"const __typeof__({element})"
            call = f"xmp_fill({self.section(to)}, &xmp_value, sizeof xmp_value, {place});"
            self._tell(left, "gets one value: xmp_fill")
        return f"__extension__({{ {kind} xmp_value = {value}; {' '.join(to.before)} {call} }})"

    def gmove(self, node: Node, left: Node, right: Node, how: Gmove) -> str:
        """All images together execute an assignment that is only a copy."""
        copies = text_of(node.child_by_field_name("operator")) == "="
        moved = self.aligned_gmove(self, node, left, right, how) if copies else None
        if moved is not None:
            return moved
        to = self.reference(left, whole=True) if copies else None
        if to is None:
            self.error(node.start_byte, "gmove moves data by `=`, and computes nothing", "compute before or behind it")
            return "0"
        if not to.regular:
            return self._irregular(to)
        target, place = self.prepare(to), self.place(node.start_byte)
        element = self.of_element(to)
        source = self.reference(right, whole=True) if right.type in (*CHAIN, "identifier") else None
        if source is None:
            if self.has_operand(right):
                self.error(right.start_byte, "gmove computes nothing", "compute before or behind it")
                return "0"
            before = [*target.before, f"const __typeof__({element}) xmp_value = {self.render(right)};"]
            given = "&(const xmp_section){.address = (void*)&xmp_value}"
        else:
            if not source.regular:
                return self._irregular(source)
            operand = self.prepare(source)
            before, given = [*target.before, *operand.before], self.section(operand)
            before.append(
                f"_Static_assert(__builtin_types_compatible_p(__typeof__({element}),"
                f' __typeof__({self.of_element(source)})), "both sides of a gmove have the same type");'
            )
        self.say(node, f"is moved by all images together: xmp_gmove{'_start' * bool(how.id)}, {how.mode}")
        arguments = f"({how.mode}, {self.section(target)}, {given}, sizeof {element}, {place})"
        call = f"xmp_gmove{arguments};"
        if how.id:
            call = f'xmp_async({how.id}, xmp_gmove_start{arguments}, "gmove", {place});'
        return f"__extension__({{ {' '.join(before)} {call} }})"

    def _irregular(self, ref: Reference) -> str:
        text = f"`{self.written(ref.node)}` has a pointer behind a range, so its elements lie anywhere"
        self.error(ref.node.start_byte, text, "move them in a loop over that range")
        return "0"

    def _tell(self, ref: Reference, what: str) -> None:
        where = f"on image {self.written(ref.images[0])} " if ref.remote else ""
        where = "on all images " if ref.each else where
        self.say(ref.node, f"{where}({count(ref.rank, 'dimension')}) {what}")

    # ---- element by element ----

    def _loops(self, left: Reference, operator: str, right: Node) -> str:
        return Loops(self, left, operator, right).lower()


class Loops:
    """One assignment that is computed here."""

    def __init__(self, arrays: Arrays, left: Reference, operator: str, right: Node) -> None:
        self.arrays, self.left, self.operator, self.right = arrays, left, operator, right
        self.to = arrays.prepare(left)
        self.before: list[str] = list(self.to.before)
        self.after: list[str] = []
        self.place = arrays.place(left.node.start_byte)
        self.variables = [arrays.names.new("i") for _ in range(left.rank)]
        self.number = arrays.names.new("n")  # the element's number
        self.counted = False
        self.apart = True  # no operand on the right can be the target on the left

    def lower(self) -> str:
        arrays = self.arrays
        value = self.elementwise(self.right, False)
        if not self.left.remote:
            self._touch(self.to, True)
        variables = ", ".join(f"{name} = 0" for name in [*self.variables, self.number])
        self.before.append(f"int64_t {variables}; (void){self.number};")
        kind = arrays.of_element(self.left)
        if self.left.remote:
            body = self._remote(value, kind)
        elif self.apart:
            body = self._loop(f"{self._element(self.to)} {self.operator}= {value};", self.counted)
            arrays._tell(self.left, "is computed here, element by element, into its place")
        else:
            room = self._room(f"__typeof__(({{ {value}; }}))")
            self.after.append(f"__builtin_free({room});")
            body = self._loop(f"{room}[{self.number}] = {value};", True) + f" {self.number} = 0; "
            body += self._loop(f"{self._element(self.to)} {self.operator}= {room}[{self.number}];", True)
            arrays._tell(self.left, "is computed here, element by element, by way of a temporary array")
        return f"__extension__({{ {' '.join([*self.before, body, *self.after])} }})"

    def _remote(self, value: str, kind: str) -> str:
        arrays, to = self.arrays, self.arrays.section(self.to)
        if self.operator:
            room = self._room(f"__typeof__(({kind}) {self.operator} ({value}))")
            source = arrays.packed(room, self.to.counts)
            put = f"xmp_update({to}, {type_code(kind, name_of(self.left.type))}, {source}, {type_code('*' + room)}"
            put += f", {OPERATORS[self.operator].xmp}, {self.place});"
            arrays._tell(self.left, f"accumulates, by {self.operator}, what is computed here: xmp_update")
        else:
            room = self._room(f"__typeof__(({{ {kind}; }}))")
            put = f"xmp_assign({to}, {arrays.packed(room, self.to.counts)}, sizeof *{room}, {self.place});"
            arrays._tell(self.left, "gets what is computed here: xmp_assign")
        self.after.append(f"__builtin_free({room});")
        return self._loop(f"{room}[{self.number}] = {value};", True) + " " + put

    def _room(self, kind: str) -> str:
        name = self.arrays.names.new("room")
        self.before.append(f"{kind}* const {name} = xmp_temporary({self.to.total} * sizeof *{name}, {self.place});")
        return name

    def _loop(self, body: str, counted: bool) -> str:
        heads = "".join(
            f"for ({name} = 0; {name} < {many}; {name}++) "
            for name, many in zip(self.variables, self.to.counts, strict=True)
        )
        return heads + (f"{{ {body} {self.number}++; }}" if counted else body)

    def _element(self, operand: Operand) -> str:
        if operand.fetched:
            self.counted = True
            return f"{operand.fetched}[{self.number}]"
        variables = iter(self.variables)
        indices = [
            one_index(first, next(variables), by) if by else first
            for first, by in zip(operand.first, operand.steps, strict=True)
        ]
        return self.arrays._chain(operand, indices)

    # ---- the right side ----

    def elementwise(self, node: Node, guarded: bool) -> str:
        """Returns an expression for one element. Loop-invariant values are computed before, unless a condition
        guards them."""
        arrays = self.arrays
        ref = arrays.operand(node)
        if ref is not None:
            return self._operand(ref)
        if not arrays.has_operand(node):
            return self._once(node, guarded)
        if arrays.reader.written(node):
            return arrays.render(node)  # sections in its indices, which this finds
        if node.type in ("assignment_expression", "update_expression"):
            arrays.error(node.start_byte, "an assignment inside an array assignment", "write two statements")
            return "0"
        if node.type in ("call_expression", "subscript_expression", "pointer_expression"):
            self.apart = False  # it may read anything
        edits = []
        decides = node.child_by_field_name("condition") if node.type == "conditional_expression" else None
        if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in ("&&", "||"):
            decides = node.child_by_field_name("left")
        for child in node.children:
            inner = guarded or (decides is not None and child != decides)
            plain = not child.is_named or child in (
                node.child_by_field_name("type"),
                node.child_by_field_name("function"),
            )
            words = arrays.text(child.start_byte, child.end_byte) if plain else self.elementwise(child, inner)
            edits.append((child.start_byte, child.end_byte, words))
        return " ".join(spliced(arrays.brackets.original, node.start_byte, node.end_byte, edits).split())

    def _once(self, node: Node, guarded: bool) -> str:
        text = self.arrays.render(node)
        if node.type in LITERALS or node.type.endswith(("_descriptor", "type")):
            return text
        if guarded:
            self.apart = False
            return text
        if node.type == "argument_list":
            return text
        name = self.arrays.names.new("value")
        self.before.append(f"const __auto_type {name} = {text};")
        return name

    def _operand(self, ref: Reference) -> str:
        arrays = self.arrays
        if ref.rank != self.left.rank:
            arrays.error(
                ref.node.start_byte,
                f"`{arrays.written(ref.node)}` has {count(ref.rank, 'dimension')}, and the left side has"
                f" {self.left.rank}",
                "give sections of as many dimensions; an index instead of a section takes one away",
            )
            return "0"
        operand = arrays.prepare(ref)
        self.before += operand.before
        for dimension, (a, b) in enumerate(zip(self.to.counts, operand.counts, strict=True)):
            what = quoted(arrays.written(self.left.node) + " and " + arrays.written(ref.node))
            self.before.append(f"xmp_same({a}, {b}, {dimension}, {what}, {self.place});")
        if ref.remote:
            name = arrays.names.new("got")
            kind = f"__typeof__(({{ {arrays.of_element(ref)}; }}))"
            self.before.append(f"{kind}* const {name} = xmp_temporary({operand.total} * sizeof *{name}, {self.place});")
            fetched = arrays.packed(name, operand.counts)
            self.before.append(f"xmp_assign({fetched}, {arrays.section(operand)}, sizeof *{name}, {self.place});")
            self.after.append(f"__builtin_free({name});")
            operand.fetched = name
            arrays.say(ref.node, "is fetched first: xmp_assign")
        else:
            self.apart = self.apart and (self.left.remote or self._distinct(ref))
            self._touch(operand, False)
        return self._element(operand)

    def _touch(self, operand: Operand, writes: bool) -> None:
        """With option check, reports accesses to this image's own part."""
        ref, arrays = operand.ref, self.arrays
        if ref.shared is None or ref.shared.codims == 0 or not ref.regular:
            return
        section, place = arrays.section(operand), arrays.place(ref.node.start_byte)
        element = arrays.of_element(ref)
        self.before.append(f"if (xmp_checking) xmp_touch({section}, sizeof {element}, {int(writes)}, {place});")

    def _distinct(self, ref: Reference) -> bool:
        """Returns true if a store to the left side does not change this operand's later elements."""
        declarators = []
        for root in (bare(self.left.root), bare(ref.root)):
            declarator = (
                self.arrays.declared.declarator(root, self.arrays.anchor) if root.type == "identifier" else None
            )
            kind = self.arrays.declared.type_of_declarator(declarator) if declarator is not None else None
            if declarator is None or kind is None or kind.derived[:1] != (ARRAY,):
                return False
            declarators.append(declarator.id)
        if any(step.member.startswith("->") for step in (*self.left.steps, *ref.steps)):
            return False
        same = declarators[0] == declarators[1]
        return not same or self.arrays.written(self.left.node) == self.arrays.written(ref.node)


def one_index(first: str, variable: str, by: str) -> str:
    moved = variable if by == "1" else f"{variable} * {by}"
    return moved if first == "0" else f"{first} + {moved}"


def topmost(node: Node, begin: int, end: int) -> list[Node]:
    """Yields the largest nodes below this one that are between two places."""
    if begin <= node.start_byte and node.end_byte <= end:
        return [node]
    out = []
    for child in node.children:
        if child.start_byte < end and child.end_byte > begin:
            out += topmost(child, begin, end)
    return out
