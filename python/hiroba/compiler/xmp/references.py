"""A name with the brackets and members after it, read as XcalableMP defines it: `v[0:4].x[i]:[2]`."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.declared import ARRAY, POINTER, Declared, Type
from ..core.shared import Anchor, Rewriter, Shared
from ..core.source import Node, bare, one_line, text_of, walk
from .sections import Brackets, Section

CHAIN = ("subscript_expression", "field_expression")


@dataclass(frozen=True)
class Step:
    """One bracket or member. A bracket has an index, or a section; without both it is a whole dimension that the
    program did not write."""

    index: Node | None = None
    section: Section | None = None
    member: str = ""  # ".x" or "->x"
    extent_known: bool = False  # the bracket subscripts an array
    pointer: bool = False  # it subscripts a pointer

    @property
    def ranges(self) -> bool:
        return not self.member and self.index is None


@dataclass(frozen=True)
class Reference:
    node: Node
    root: Node
    steps: tuple[Step, ...]
    shared: Shared | None  # of the root, if it is a coarray
    images: tuple[Node, ...]  # the indices after `:`
    type: Type | None  # of one element
    each: bool = False  # `:[:]`, all images, which are the first dimension
    bits: bool = False  # a bit-field

    @property
    def rank(self) -> int:
        return sum(step.ranges for step in self.steps) + self.each

    @property
    def regular(self) -> bool:
        """Returns true if its elements are at fixed distances: no pointer follows a range."""
        first = next((i for i, step in enumerate(self.steps) if step.ranges), len(self.steps))
        behind = self.steps[first + 1 :]
        return all(step.extent_known if not step.member else step.member.startswith(".") for step in behind)

    @property
    def remote(self) -> bool:
        return bool(self.images)

    @property
    def name(self) -> str:
        return text_of(bare(self.root))


def opening(node: Node) -> int:
    """Returns the position of the bracket of a subscript."""
    return next((c.start_byte for c in node.children if c.type == "["), node.start_byte)


class ReferenceReader:
    """Reads references in one text, which may be that of a directive; names are looked up at `anchor`."""

    def __init__(
        self, rewriter: Rewriter, declared: Declared, brackets: Brackets, anchor: Anchor | None = None
    ) -> None:
        self.rewriter, self.declared, self.brackets, self.anchor = rewriter, declared, brackets, anchor
        self.problem: tuple[int, str, str] | None = None  # of the last read(): place, message, remedy

    def shared(self, identifier: Node) -> Shared | None:
        return self.rewriter.resolve(identifier, self.anchor)

    def type_of(self, node: Node | None) -> Type | None:
        return self.declared.type_of(node, self.anchor)

    def written(self, node: Node) -> bool:
        """Returns true if the chain that ends here has its own image or section."""
        at: Node | None = node
        while at is not None and at.type in CHAIN:
            if at.type == "subscript_expression":
                place = opening(at)
                if place in self.brackets.sections or place in self.brackets.images:
                    return True
            at = at.child_by_field_name("argument")
        return False

    def read(self, node: Node, whole: bool = False) -> Reference | None:
        """Returns the reference that this expression is. With `whole`, arrays stand for all their elements."""
        self.problem = None
        chain, at = [], node
        while at.type in CHAIN:
            chain.append(at)
            argument = at.child_by_field_name("argument")
            if argument is None:
                return None
            at = argument
        root = at
        inner = bare(root)
        shared = self.shared(inner) if inner.type == "identifier" else None
        steps: list[Step] = []
        images: list[Node] = []
        kind = self.type_of(root)
        behind_image = bits = False
        for link in reversed(chain):
            index = link.child_by_field_name("index")
            if link.type == "field_expression":
                operator = "->" if any(c.type == "->" for c in link.children) else "."
                field = text_of(link.child_by_field_name("field"))
                steps.append(Step(member=operator + field))
                bits, kind = self.declared.is_bit_field(kind, field), self.declared.member_of(kind, field)
                behind_image = False
                continue
            place = opening(link)
            behind_image = behind_image or place in self.brackets.images
            if index is not None and behind_image:
                images.append(index)
                continue
            known = kind is not None and kind.derived[:1] == (ARRAY,)
            section = self.brackets.sections.get(place)
            pointer = kind is not None and kind.derived[:1] == (POINTER,)
            steps.append(Step(None if section is not None else index, section, "", known, pointer))
            kind = kind.inside() if kind is not None else None
        if kind is not None and (images or whole or any(step.ranges for step in steps)):
            steps += [Step(extent_known=True)] * kind.dims
            kind = kind.element()
        ranges = [s for i in images if (s := self.brackets.sections.get(opening(i.parent or i))) is not None]
        each = len(images) == len(ranges) == 1 and all(part.begin == part.end for part in ranges[0].parts)
        found = Reference(node, root, tuple(steps), shared, tuple(images), kind, each, bits)
        if ranges and not each:
            self.problem = (ranges[0].at, "an image is one of all, or they are all meant", "write :[k], or a[0:n]:[:]")
            return found
        if bits and (whole or found.rank or steps[-1].member.startswith("->")):
            what = one_line(self.brackets.original[node.start_byte : node.end_byte])
            self.problem = (
                node.start_byte,
                f"`{what}` is a bit-field, which has no address",
                "to read it, assign its value to a variable; to write it, copy the struct, change that, and assign it",
            )
            return found
        self._examine(found)
        return found

    def _examine(self, found: Reference) -> None:
        """Reports its error."""
        at = found.node.start_byte
        if found.images:
            if found.shared is None or not found.shared.codims:
                self.problem = (
                    at,
                    f"`{found.name}` is no coarray, so it is on this image only",
                    f"declare it as one at file scope: {found.name}:[*]",
                )
            elif len(found.images) != found.shared.codims:
                self.problem = (
                    found.images[0].start_byte,
                    f"`{found.name}` has {count(found.shared.codims, 'codimension')}, and"
                    f" {count(len(found.images), 'image index is', 'image indices are')} given",
                    "give one index per codimension, behind one colon: a[i]:[k][l]",
                )
            elif any(s.pointer or s.member.startswith("->") for s in found.steps[not found.shared.pointer :]):
                self.problem = (
                    at,
                    "what a pointer on another image points to is not part of the coarray",
                    "read the pointer's coarray by name, or keep an index instead of a pointer",
                )
        for step in found.steps:
            section = step.section
            if section is None:
                continue
            if len(section.parts) > 3:
                self.problem = (section.at, "a section has at most three parts", "write [base:length:step]")
            elif len(section.parts) > 1 and section.parts[1].begin == section.parts[1].end and not step.extent_known:
                self.problem = (
                    section.at,
                    "how long this section is cannot be known: it is not that of an array",
                    "write its length, as in p[0:n]",
                )

    def has_section(self, node: Node) -> bool:
        """Returns true if an expression contains an element-by-element operand."""
        return any(
            n.type in CHAIN and self.written(n) and (found := self.read(n)) is not None and found.rank > 0
            for n in walk(node)
        )


def count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
