"""The statements below directives, and the jumps out of them."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from functools import cached_property

from .declarators import enclosing
from .found import Directive
from .shared import Rewriter
from .source import HASH_LINE, Node, Source, text_of, walk


@dataclass
class Statements:
    rewriter: Rewriter
    _statements: list[tuple[int, int, Node]] = field(default_factory=list)  # begin, -end; outer ones first

    @property
    def source(self) -> Source:
        return self.rewriter.source

    def below(self, end: int) -> Node | None:
        """Returns the statement below a directive that ends here. Lines that begin with # may be between."""
        if not self._statements:
            nodes = [n for n in walk(self.rewriter.root) if n.type.endswith("_statement")]
            self._statements = sorted(((n.start_byte, -n.end_byte, n) for n in nodes), key=lambda s: s[:2])
        next_one = bisect.bisect_left(self._statements, end, key=lambda s: s[0])
        best = self._statements[next_one][2] if next_one < len(self._statements) else None
        between = self.source.text[end : best.start_byte] if best is not None else ";"
        return None if HASH_LINE.sub("", between).strip() else best

    def statement(self, directive: Directive) -> Node | None:
        """Returns the statement below the directive, which must have one."""
        best = self.below(directive.end)
        if best is None:
            self.source.error(
                directive.at,
                f"#pragma {directive.family} {directive.name} stands before no statement",
                "put it above a loop or a statement, in a function",
            )
            return None
        return best

    def in_function(self, directive: Directive) -> bool:
        node = self.rewriter.root.descendant_for_byte_range(directive.at, directive.at)
        if node is not None and (node.type == "compound_statement" or enclosing(node, "compound_statement")):
            return True
        self.source.error(
            directive.at,
            f"#pragma {directive.family} {directive.name} stands outside of a function",
            "put it where it is to be done",
        )
        return False

    @cached_property
    def _jumps(self) -> list[tuple[Node, Node | None]]:
        """Returns all goto with the statements whose labels they name; none for a computed one."""
        nodes = [n for n in walk(self.rewriter.root) if n.type in ("goto_statement", "labeled_statement")]
        labels: dict[tuple[int, str], Node] = {}
        for node in nodes:
            if node.type == "labeled_statement":
                labels[function_at(node), text_of(node.child_by_field_name("label"))] = node
        jumps = [n for n in nodes if n.type == "goto_statement"]
        return [(n, labels.get((function_at(n), text_of(n.child_by_field_name("label"))))) for n in jumps]

    def _left_by(self, statement: Node, shared_out: bool) -> Node | None:
        """Returns the first jump out of a statement; for a shared-out loop also those that end it."""
        leaving = [
            n for n, label in self._jumps if inside(n, statement) and (label is None or not inside(label, statement))
        ]
        loops = ("for_statement", "while_statement", "do_statement")
        for node in walk(statement):
            if node.type == "return_statement" and function_at(node) < statement.start_byte:
                leaving.append(node)
            kinds = {"break_statement": (*loops, "switch_statement"), "continue_statement": loops}.get(node.type)
            if kinds is None:
                continue
            target = enclosing(node, *kinds)
            out = target is None or target.start_byte < statement.start_byte
            if out or (
                shared_out and node.type == "break_statement" and target is not None and target.id == statement.id
            ):
                leaving.append(node)
        return min(leaving, key=lambda node: node.start_byte, default=None)

    def is_left(self, statement: Node) -> bool:
        return self._left_by(statement, False) is not None

    def is_entered(self, directive: Directive, statement: Node) -> bool:
        """Reports a jump into a statement."""
        entering = next((n for n, to in self._jumps if to and inside(to, statement) and not inside(n, statement)), None)
        if entering is not None:
            self.source.error(
                entering.start_byte,
                f"`goto` enters what #pragma {directive.family} {directive.name} stands above",
                "let the statement begin with what is jumped to",
            )
        return entering is not None

    def stays(self, directive: Directive, statement: Node, may_end: bool = False) -> bool:
        """Reports jumps into and out of a statement. `may_end`: `break` may end a shared-out loop."""
        if self.is_entered(directive, statement):
            return False
        leaving = self._left_by(statement, directive.kind.shares_loop and not may_end)
        if leaving is not None:
            word = text_of(leaving).split()[0].rstrip(";")
            self.source.error(
                leaving.start_byte,
                f"`{word}` leaves what #pragma {directive.family} {directive.name} stands above",
                "set a variable there, and decide behind it",
            )
        return leaving is None


def inside(node: Node, statement: Node) -> bool:
    return statement.start_byte <= node.start_byte < statement.end_byte


def function_at(node: Node) -> int:
    """Returns the begin of the function around it."""
    function = enclosing(node, "function_definition")
    return function.start_byte if function is not None else -1
