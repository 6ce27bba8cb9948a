"""Expressions with coindexed objects as calls of xmp.h: elements are loads and stores where their image is on this
node, sections are calls (see arrays.py)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

from ..core.arithmetic import TYPES, common, computed, name_of, promoted
from ..core.declarators import may_be_use
from ..core.declared import POINTER, Declared
from ..core.operators import OPERATORS
from ..core.shared import Anchor, Rewriter
from ..core.source import Node, Source, bare, one_line, text_of, walk
from ..core.text import matching, quoted, spliced
from .calls import lower_call, value_unused
from .references import CHAIN, Reference, ReferenceReader, Step
from .sections import Brackets
from .types import type_code


@dataclass(frozen=True)
class Gmove:
    """The directive above an assignment: xmp_gmove_mode, and the number of async(id), or ""."""

    mode: str
    id: str


class Lowering(ABC):
    """Lowers one text: a file, or the text of a directive. Its names are looked up at `anchor`, and messages point
    there."""

    def __init__(
        self, rewriter: Rewriter, declared: Declared, brackets: Brackets, anchor: Anchor | None = None
    ) -> None:
        self.rewriter, self.declared, self.brackets, self.anchor = rewriter, declared, brackets, anchor
        self.reader = ReferenceReader(rewriter, declared, brackets, anchor)
        self.explain: list[tuple[int, str]] = []
        self.names = Names()
        # The variable of the node array or template with a name at a place; "" if there is none.
        self.declared_by_directive: Callable[[str, int], str] = lambda name, at: ""
        # Returns the C of an aligned array, or of its element.
        self.aligned: Callable[[Lowering, Node], str | None] = lambda lowering, node: None
        self.is_aligned: Callable[[Lowering, Node], bool] = lambda lowering, node: False
        self.aligned_descriptor: Callable[[Lowering, Node], str] = lambda lowering, node: ""  # its address
        self.shared_out: dict[int, Callable[[Node], str]] = {}  # assignments below `array`, by their begin
        self.is_sharing = False  # sections of aligned arrays are operands
        self.gmoves: dict[int, Gmove] = {}  # assignments below `gmove`, by their begin

    def within(self, brackets: Brackets, anchor: Anchor) -> Self:
        """Returns the same for a separate text."""
        inner = type(self)(self.rewriter, self.declared, brackets, anchor)
        inner.names, inner.explain = self.names, self.explain
        inner.declared_by_directive = self.declared_by_directive
        inner.aligned, inner.is_aligned = self.aligned, self.is_aligned
        inner.aligned_descriptor = self.aligned_descriptor
        return inner

    @property
    def source(self) -> Source:
        return self.rewriter.source

    def at(self, place: int) -> int:
        return self.anchor.at if self.anchor is not None else place

    def error(self, at: int, message: str, remedy: str) -> None:
        self.source.error(self.at(at), message, remedy)

    def place(self, at: int) -> str:
        return self.source.place(self.at(at)).literal

    def say(self, node: Node, what: str) -> None:
        self.explain.append((self.at(node.start_byte), f"`{self.written(node)}` {what}"))

    @staticmethod
    def text_of_operator(node: Node) -> str:
        return text_of(node.child_by_field_name("operator"))

    def written(self, node: Node) -> str:
        """Returns the program's text, with its colons."""
        return one_line(self.text(node.start_byte, node.end_byte))

    def text(self, begin: int, end: int) -> str:
        return self.brackets.original[begin:end]

    # ---- the walk ----

    def render(self, node: Node) -> str:
        """Returns an expression as C."""
        special = self.special(node)
        if special is not None:
            return special
        edits = ((child.start_byte, child.end_byte, self.render(child)) for child in node.children)
        return one_line(spliced(self.brackets.original, node.start_byte, node.end_byte, edits))

    def special(self, node: Node) -> str | None:
        """Returns the replacement of a node that is more than C; None for others."""
        if node.type in ("identifier", "type_identifier"):
            part = self.aligned(self, node) if may_be_use(node) else None
            if part is not None:
                return part
            shared = self.reader.shared(node) if may_be_use(node) else None
            return shared.renamed if shared is not None else None
        if node.type in CHAIN:
            return self._value(node) if self.reader.written(node) else self.aligned(self, node)
        if node.type == "assignment_expression":
            return self._assignment(node)
        if node.type == "update_expression":
            return self._update(node)
        if node.type == "pointer_expression" and text_of(node).startswith("&"):
            return self._address(node)
        if node.type == "call_expression":
            return lower_call(self, node)
        if node.type == "sizeof_expression":
            return self._sizeof(node)
        if node.type == "macro_type_specifier":
            return self._of_type(node)
        return None

    @contextmanager
    def sharing(self) -> Iterator[None]:
        self.is_sharing = True
        yield
        self.is_sharing = False

    def reference(self, node: Node, whole: bool = False, shared: bool = False) -> Reference | None:
        """Returns a reference without errors; else they have been reported. `shared`: it may be a section of an aligned
        array."""
        found = self.reader.read(node, whole)
        if found is not None and (shared or self.is_sharing) and self.is_aligned(self, found.node):
            return found
        if self.reader.problem is not None:
            self.error(*self.reader.problem)
            return None
        if found is not None and found.rank and self.is_aligned(self, found.node):
            self.error(
                node.start_byte,
                f"`{self.written(node)}` is a section of an aligned array, of which each node has a part",
                "put it below #pragma xmp gmove, or write a loop"
                if self.anchor is None
                else "name one element, or the array as a whole in a directive reduction or bcast of its own",
            )
            return None
        return found

    # ---- parts of references ----

    def index(self, ref: Reference, number: int, step: Step) -> str:
        """Returns an index in brackets; checked if it is that of a coarray on another image."""
        text = self.render(step.index) if step.index is not None else "0"
        if not ref.remote or not step.extent_known:
            return text
        base = self.local(ref, ["0"] * len(ref.steps), number)
        dimension = sum(not s.member for s in ref.steps[:number])
        what, place = quoted(self.written(ref.node)), self.place(ref.node.start_byte)
        return f"xmp_index({text}, sizeof {base} / sizeof {base}[0], {dimension}, {what}, {place})"

    def local(self, ref: Reference, indices: list[str], steps: int | None = None) -> str:
        """Returns the meaning of the reference on this image, with these indices; of its first steps only."""
        text = self.render(ref.root)
        if steps != 0 and ref.root.type not in ("identifier", "parenthesized_expression", "call_expression"):
            text = f"({text})"
        for step, index in list(zip(ref.steps, indices, strict=True))[:steps]:
            text += step.member or f"[{index}]"
        return text

    def element(self, ref: Reference) -> str:
        """Returns a reference without sections."""
        return self.local(ref, [self.index(ref, i, s) if not s.member else "" for i, s in enumerate(ref.steps)])

    def descriptor(self, ref: Reference) -> str:
        return ref.shared.descriptor if ref.shared is not None else "(const xmp_coarray*)0"

    def image(self, ref: Reference) -> str:
        if ref.each:
            return "XMP_EACH_IMAGE"
        indices = [self.render(i) for i in ref.images]
        if len(indices) == 1:
            return indices[0] if indices[0].isdigit() else f"xmp_image(({indices[0]}) | 0)"
        place = self.place(ref.node.start_byte)
        return (
            f"xmp_coindex({self.descriptor(ref)}, {len(indices)}, (const int64_t[]){{{', '.join(indices)}}}, {place})"
        )

    # ---- one element ----

    def _value(self, node: Node) -> str:
        """Returns a reference where a value is needed."""
        ref = self.reference(node)
        if ref is None:
            return "0"
        if ref.rank:
            self.not_here(ref)
            return "0"
        self.say(node, "is read: a load if the image is on this node, else xmp_get")
        return self.read(ref)

    def not_here(self, ref: Reference) -> None:
        section = next((s.section for s in ref.steps if s.section is not None), None)
        self.error(
            section.at if section is not None else ref.node.start_byte,
            f"`{self.written(ref.node)}` is a section, and one value is needed here",
            "assign it to an array first, which is a statement: b[0:n] = " + self.written(ref.node) + ";",
        )

    def read(self, ref: Reference) -> str:
        """Returns XMP_READ of xmp.h. For a bit-field it reads the struct around it."""
        if ref.bits:
            return f"({self.read(replace(ref, steps=ref.steps[:-1], bits=False))}{ref.steps[-1].member})"
        return f"__extension__({{ {self._near(ref)}{self._fetch(ref)} xmp_value; }})"

    def _near(self, ref: Reference) -> str:
        """Returns the first arguments of reads and writes."""
        return (
            f"const xmp_coarray* const xmp_c = {self.descriptor(ref)}; const int xmp_i = {self.image(ref)};"
            f"{self._own(ref)}"
            " __typeof__(*xmp_own)* const xmp_at = (void*)xmp_near(xmp_c, xmp_i, (void*)xmp_own, sizeof *xmp_own);"
        )

    def _own(self, ref: Reference) -> str:
        return f" __typeof__({self.of_element(ref)})* const xmp_own = &{self.element(ref)};"

    def of_element(self, ref: Reference) -> str:
        """Returns an element, for its type only."""
        return self.local(ref, ["0"] * len(ref.steps))

    def _fetch(self, ref: Reference) -> str:
        return (
            " __typeof__(({ *xmp_own; })) xmp_value; if (__builtin_expect(xmp_at != 0, 1)) xmp_value = *xmp_at;"
            " else xmp_get(&xmp_value, xmp_c, xmp_i, (void*)xmp_own, sizeof *xmp_own,"
            f" {self.place(ref.node.start_byte)});"
        )

    def _store(self, ref: Reference) -> str:
        return (
            " if (__builtin_expect(xmp_at != 0, 1)) *xmp_at = xmp_value;"
            f" else xmp_put(xmp_c, xmp_i, (void*)xmp_own, &xmp_value, sizeof *xmp_own,"
            f" {self.place(ref.node.start_byte)});"
        )

    def write(self, ref: Reference, value: str, used: bool) -> str:
        """Returns XMP_WRITE of xmp.h."""
        result = " xmp_value;" * used
        near = self._near(ref)
        return f"__extension__({{ {near} const __typeof__(*xmp_own) xmp_value = {value};{self._store(ref)}{result} }})"

    # ---- assignments ----

    def _assignment(self, node: Node) -> str | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return None
        operator = text_of(node.child_by_field_name("operator"))
        target = bare(left)
        if self.anchor is None and node.start_byte in self.shared_out:
            return self.shared_out[node.start_byte](node)
        if self.anchor is None and node.start_byte in self.gmoves:
            return self.gmove(node, target, bare(right), self.gmoves[node.start_byte])
        if not self.reader.written(target) and not self._is_array(target):
            return None
        ref = self.reference(target, whole=True)
        if ref is None:
            return "0"
        used = not value_unused(node)
        if ref.rank:
            if used:
                self.error(
                    node.start_byte,
                    "an assignment to a section is a statement, and has no value",
                    "write it as a statement of its own",
                )
                return "0"
            return self.array_assignment(node, ref, operator[:-1], right)
        if operator == "=":
            self.say(target, "is written: a store if the image is on this node, else xmp_put")
            return self.write(ref, self.render(right), used)
        return self._compound(ref, operator[:-1], right, used, True)

    def _is_array(self, node: Node) -> bool:
        if node.type not in (*CHAIN, "identifier"):
            return False
        kind = self.reader.type_of(node)
        return kind is not None and kind.dims > 0

    @abstractmethod
    def array_assignment(self, node: Node, left: Reference, operator: str, right: Node) -> str: ...

    @abstractmethod
    def gmove(self, node: Node, left: Node, right: Node, how: Gmove) -> str: ...

    def _compound(self, ref: Reference, operator: str, value: Node | None, used: bool, new: bool) -> str:
        """`op=`, and ++ and -- (without a value). `new`: the expression's value is the one after it."""
        pointer = ref.type is not None and ref.type.derived[:1] == (POINTER,)
        text = self.render(value) if value is not None else "1"
        if not used and not pointer:
            self.say(ref.node, f"is updated: xmp_update_element, which accumulates by {operator}")
            mine = name_of(ref.type)
            kind = self.computing(ref, operator, value)
            declared = kind or f"__typeof__(*xmp_own {operator} ({text}))"
            return (
                f"__extension__({{{self._own(ref)} {declared} xmp_value = {text};"
                f" xmp_update_element({self.descriptor(ref)}, {self.image(ref)}, xmp_own,"
                f" {type_code('*xmp_own', mine)}, &xmp_value, {type_code('xmp_value', kind)},"
                f" {OPERATORS[operator].xmp}, {self.place(ref.node.start_byte)}); }})"
            )
        self.say(ref.node, "is read, computed with, and written, in three steps, because its value is used")
        old = "" if new else " const __typeof__(xmp_value) xmp_old = xmp_value;"
        return (
            f"__extension__({{ {self._near(ref)}{self._fetch(ref)}{old} xmp_value {operator}= {text};"
            f"{self._store(ref)} {'xmp_value' if new else 'xmp_old'}; }})"
        )

    def computing(self, ref: Reference, operator: str, value: Node | None) -> str | None:
        """Returns the type in which C computes `ref op value`, if it is known."""
        mine = name_of(ref.type)
        if mine is None or mine not in TYPES or operator in ("<<", ">>"):
            return promoted(mine)
        return common(mine, computed(value, self.reader.type_of) if value is not None else "int")

    def _update(self, node: Node) -> str | None:
        target = self._operand(node, "argument")
        if target is None:
            return None
        ref = self.reference(target, whole=True)
        if ref is None:
            return "0"
        operator = text_of(node.child_by_field_name("operator"))[0]
        used = not value_unused(node)
        if ref.rank:
            self.error(node.start_byte, "a section has no ++ and no --", f"write {self.written(target)} {operator}= 1;")
            return "0"
        return self._compound(ref, operator, None, used, text_of(node).startswith(operator))

    # ---- operands that are not evaluated, or by name ----

    def _operand(self, node: Node, field_name: str) -> Node | None:
        """Returns this operand, if it has its own image or section."""
        operand = node.child_by_field_name(field_name)
        target = bare(operand) if operand is not None else None
        return target if target is not None and self.reader.written(target) else None

    def _address(self, node: Node) -> str | None:
        target = self._operand(node, "argument")
        if target is None:
            return None
        self.error(
            node.start_byte,
            f"`{self.written(target)}` has no address: it is {'on another image' if self.remote(target) else 'many'}",
            "use its value, or the address of this image's own part, without sections and images",
        )
        return "0"

    def remote(self, node: Node) -> bool:
        found = self.reader.read(node)
        return found is not None and found.remote

    def _sizeof(self, node: Node) -> str | None:
        """Returns the size of an object on another image: that of the local one."""
        target = self._operand(node, "value")
        ref = self.reader.read(target) if target is not None else None
        if ref is not None and all(step.index is not None or step.member for step in written_steps(ref)):
            return f"sizeof({self.element(replace(ref, images=(), steps=written_steps(ref)))})"
        return self._of_type(node)

    def _of_type(self, node: Node) -> str | None:
        """`sizeof(a:[1])` and `__typeof__(a:[1])`, where the parser sees a type: as if the images were not there."""
        images = [b for b in self.brackets.images if node.start_byte < b < node.end_byte]
        if not images:
            return None
        uses = [n for n in walk(node) if n.type in ("identifier", "type_identifier") and self.reader.shared(n)]
        changes = [(n.start_byte, n.end_byte, found.renamed) for n in uses if (found := self.reader.shared(n))]
        for bracket in images:
            changes.append((self.brackets.images[bracket], matching(self.brackets.original, bracket), ""))
        apart: list[tuple[int, int, str]] = []
        for change in sorted(changes):
            if not apart or change[0] >= apart[-1][1]:
                apart.append(change)
        return one_line(spliced(self.brackets.original, node.start_byte, node.end_byte, apart))


def written_steps(ref: Reference) -> tuple[Step, ...]:
    """Returns the steps without the dimensions that the program did not write."""
    return tuple(step for step in ref.steps if step.member or step.index is not None or step.section is not None)


@dataclass
class Names:
    """Returns unique names for generated variables."""

    count: int = field(default=0)  # of this statement

    def new(self, what: str) -> str:
        self.count += 1
        return f"hiroba_{what}_{self.count}"
