"""The work of XcalableMP on one file: coarrays, node arrays, templates and aligned arrays are declared first, then
coindexed objects, sections, elements of aligned arrays and directives become C with calls of xmp.h."""

from __future__ import annotations

import re

from ..core.declarators import enclosing, may_be_use
from ..core.found import Directive, Stands
from ..core.notation import Notation, Unit
from ..core.shared import PREFIX
from ..core.source import Node
from .aligned import AlignedArrays
from .arrays import Arrays
from .coarrays import Coarrays
from .forgotten import warn_of_forgotten
from .parts import declare_all, explain
from .pointed_sums import SharedOut, warn_of_pointed_sums
from .references import CHAIN
from .sections import Brackets, Codimensions, lift
from .templates import nodes_of
from .words import XmpWords


class Xmp(XmpWords):
    coarrays: Coarrays  # from declare() on

    def __init__(self, notation: Notation, unit: Unit) -> None:
        super().__init__(notation, unit)
        self.brackets = Brackets("", "")
        self.named: dict[str, Codimensions] = {}  # names that directives declare as coarrays
        self.aligned = AlignedArrays(self)
        self.taken: set[int] = set()  # nodes that a directive has replaced
        self.divided: set[int] = set()  # loops whose iterations nodes share
        self.shared_out: list[SharedOut] = []  # directives loop with these

    def find(self) -> None:
        self.brackets = lift(self.source, self.found.text)
        self.found.text = self.brackets.text

    def first_use(self) -> int | None:
        places = [d.at for d in self.directives] + ([self.brackets.first()] if self.brackets else [])
        return min(places, default=None)

    def starts_by_header(self) -> bool:
        return self.is_included

    def start(self) -> str:
        return "xmp_start" if self.is_included else ""

    def declare(self) -> None:
        if not self.is_included:
            return
        self.lowering = lowering = Arrays(self.rewriter, self.declared, self.brackets)
        self.coarrays = Coarrays(self.rewriter, self.declared, self.brackets)
        lowering.declared_by_directive = self.descriptor_of
        lowering.aligned = self.aligned.use
        lowering.is_aligned = self.aligned.has
        lowering.aligned_descriptor = self.aligned.descriptor
        self.rewriter.coindexed = lambda node: self._coindexed(node)
        self.lower(d for d in self.directives if d.kind.stands is Stands.DECLARING)
        declare_all(self)
        self.coarrays.declare_all(self.named)

    def reference(self, directive: Directive, text: str) -> str:
        """Returns the address of an xmp_node_reference for a part of a node array, or for the nodes of a part of a
        template."""
        found = re.fullmatch(r"(\w+)\s*(.*)", text.strip(), re.DOTALL)
        template = self.find_template(found[1], directive.at) if found is not None else None
        if template is None or found is None:
            return super().reference(directive, text)
        return nodes_of(self, directive, template, found[2])

    def descriptor_of(self, name: str, at: int) -> str:
        """Returns the variable of a node array or template; "" if the name is none."""
        template = self.find_template(name, at)
        if template is not None:
            return template.variable
        return f"{PREFIX}nodes_{name}" if self.find_nodes(name, at) is not None else ""

    def _coindexed(self, node: Node) -> str | None:
        return self.lowering.special(node) if node.type in CHAIN and self.lowering.remote(node) else None

    def rewrite(self) -> None:
        """Lowers directives from the last one to the first: if two end at one place, the inner one ends first."""
        if not self.is_included:
            return
        statements = (d for d in reversed(self.directives) if d.kind.stands is not Stands.DECLARING)
        self.lower(d for d in statements if self.statements.in_function(d))
        stack = [child for child in reversed(self.unit.root.children) if self.source.of_user(child.start_byte)]
        while stack:
            node = stack.pop()
            self.lowering.names.count = 0
            if node.id in self.taken:
                continue
            plain = node.type.endswith("identifier") and (not may_be_use(node) or self.aligned.of_node(node) is None)
            text = None if plain else self.lowering.special(node)
            if text is None:
                stack += reversed(node.children)
            elif enclosing(node, "function_definition") is None and node.type != "sizeof_expression":
                self.source.error(
                    node.start_byte, "images are not there before the program starts", "write this in a function"
                )
                self.source.replace(node.start_byte, node.end_byte, "0")
            else:
                self.source.replace(node.start_byte, node.end_byte, text)
        explain(self)
        told = sorted(dict.fromkeys(self.lowering.explain))
        lines = [*(f"{self.source.place(at)}: {what}" for at, what in told), *self.explain]
        self.explain = sorted(lines, key=place_in)

    def check(self) -> None:
        if self.is_included:
            warn_of_forgotten(self)
            warn_of_pointed_sums(self)


def place_in(line: str) -> tuple[str, int, int]:
    """Returns the place that a line of --explain begins with."""
    found = re.match(r"(.*?):(\d+):(\d+): ", line)
    return (found[1], int(found[2]), int(found[3])) if found is not None else ("", 0, 0)
