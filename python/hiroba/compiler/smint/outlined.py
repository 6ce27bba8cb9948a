"""The accesses and variables of a loop whose body becomes a function: all that it uses must be known."""

from __future__ import annotations

from ..core.declarators import innermost
from ..core.declared import ARRAY, POINTER
from ..core.source import Node, text_of, walk
from .loops import LoopReader


class OutlinedReader(LoopReader):
    def _walk_inside(self, node: Node) -> None:
        if node.type == "identifier":
            self._bare(node)
        super()._walk_inside(node)

    def _bare(self, node: Node) -> None:
        """Handles a name without subscripts: the uses of an address are not known."""
        name, of, parent = text_of(node), self.declared.type_of(node), node.parent
        shared = self.rewriter.resolve(node)
        if shared is not None and shared.codims:
            self.out.irregular.append(f"each image has its own `{name}`")
        elif parent is None or parent.type in ("sizeof_expression", "field_expression") or name in self.locals:
            return
        elif of is not None and of.derived[:1] in ((ARRAY,), (POINTER,)):
            self.out.irregular.append(f"{name}: what is done with this address is not known")

    def scalars(self) -> list[Node]:
        """Returns uses of shared variables that are no arrays."""
        out = []
        for node in walk(self.loop):
            shared = self.rewriter.resolve(node) if node.type == "identifier" else None
            if shared is not None and shared.dims == 0:
                out.append(node)
        return out

    def outer_names(self, declared_before: int) -> dict[str, Node]:
        """Returns variables around the nest that it uses, with their declarators, except shared ones."""
        out = {}
        for node in walk(self.loop):
            top = self.declared.declarator(node) if node.type == "identifier" else None
            if top is None or self.rewriter.resolve(node) is not None:
                continue
            if top.start_byte < declared_before and text_of(innermost(top)) == text_of(node):
                out[text_of(node)] = top
        return out
