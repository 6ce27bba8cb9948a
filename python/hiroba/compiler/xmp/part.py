"""The work of XcalableMP on one file: coarrays and node arrays are declared first, then coindexed objects, sections
and directives become calls of xmp.h."""

from __future__ import annotations

from ..core.declarators import enclosing
from ..core.found import Stands
from ..core.notation import Notation, Unit
from ..core.source import Node
from .arrays import Arrays
from .coarrays import Coarrays
from .references import CHAIN
from .sections import Brackets, Codimensions, lift
from .words import XmpWords


class Xmp(XmpWords):
    coarrays: Coarrays  # from declare() on

    def __init__(self, notation: Notation, unit: Unit) -> None:
        super().__init__(notation, unit)
        self.brackets = Brackets("", "")
        self.named: dict[str, Codimensions] = {}  # names that directives declare as coarrays

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
        lowering.is_nodes = lambda name, at: self.find_nodes(name, at) is not None
        self.rewriter.coindexed = lambda node: self._coindexed(node)
        self.lower(d for d in self.directives if d.kind.stands is Stands.DECLARING)
        self.coarrays.declare_all(self.named)

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
            text = None if node.type.endswith("identifier") else self.lowering.special(node)
            if text is None:
                stack += reversed(node.children)
            elif enclosing(node, "function_definition") is None and node.type != "sizeof_expression":
                self.source.error(
                    node.start_byte, "images are not there before the program starts", "write this in a function"
                )
                self.source.replace(node.start_byte, node.end_byte, "0")
            else:
                self.source.replace(node.start_byte, node.end_byte, text)
        told = sorted(dict.fromkeys(self.lowering.explain))
        self.explain = [*(f"{self.source.place(at)}: {what}" for at, what in told), *self.explain]
