"""A loop whose body becomes a function, its accesses and variables: all that it uses must be known."""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass

from ..core.counted import Counted
from ..core.declarators import innermost
from ..core.declared import ARRAY, POINTER
from ..core.found import Directive
from ..core.source import Node, subscripts, text_of, walk
from .loops import LoopReader
from .part import Smint


@dataclass
class OutlinedLoop:
    """A loop with a directive whose body becomes a function."""

    smint: Smint
    directive: Directive
    loop: Node
    counted: Counted
    clauses: list[tuple[str, str]]

    def _error(self, at: int, message: str, remedy: str) -> None:
        self.smint.source.error(at, message, remedy)

    def _fits(self, clauses: Container[str], word: str, refusal: str, kind: str) -> bool:
        """Returns whether only these clauses stand in the directive, and no directive in the loop. `word`: the clause
        that makes it one of its kind."""
        for name, _ in self.clauses:
            if name not in clauses:
                self._error(
                    self.directive.place(name),
                    f"`{name}` in #pragma SMint parallel for {word} {refusal}",
                    f"take `{name}` away, or `{word}`",
                )
                return False
        inside = [d for d in self.smint.found.directives if self.loop.start_byte <= d.at < self.loop.end_byte]
        if inside:
            self._error(
                inside[0].at,
                f"#pragma {inside[0].family} {inside[0].name} stands in a loop {kind}",
                "put it outside of the loop",
            )
        return not inside


class OutlinedReader(LoopReader):
    apart: Collection[str] = ()  # arrays that a reduction names: their elements are no accesses

    def _access(self, node: Node) -> None:
        base, indices = subscripts(node)
        if base.type != "identifier" or text_of(base) not in self.apart or text_of(base) in self.locals:
            return super()._access(node)
        for index in indices:
            self._walk(index)
        return None

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

    def shared_scalar(self) -> str:
        """Returns what is wrong with the first shared variable that is no array, or nothing."""
        for node in walk(self.loop):
            shared = self.rewriter.resolve(node) if node.type == "identifier" else None
            if shared is not None and shared.dims == 0:
                return f"`{text_of(node)}` is a shared variable, which is no array"
        return ""

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
