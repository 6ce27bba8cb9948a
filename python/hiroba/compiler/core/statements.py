"""The statements that directives stand above, and how they may be left."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

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

    def below(self, directive: Directive) -> Node | None:
        """The statement below the directive. Lines that begin with # may stand between."""
        if not self._statements:
            nodes = [n for n in walk(self.rewriter.root) if n.type.endswith("_statement")]
            self._statements = sorted(((n.start_byte, -n.end_byte, n) for n in nodes), key=lambda s: s[:2])
        next_one = bisect.bisect_left(self._statements, directive.end, key=lambda s: s[0])
        best = self._statements[next_one][2] if next_one < len(self._statements) else None
        between = self.source.text[directive.end : best.start_byte] if best is not None else ";"
        return None if HASH_LINE.sub("", between).strip() else best

    def statement(self, directive: Directive) -> Node | None:
        """The statement below the directive, which must have one."""
        best = self.below(directive)
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

    def _left_by(self, statement: Node, shared_out: bool) -> Node | None:
        """What jumps out of a statement; out of a loop that is shared out also what ends it."""
        loops = ("for_statement", "while_statement", "do_statement")
        for node in walk(statement):
            if node.type in ("return_statement", "goto_statement"):
                return node
            kinds = {"break_statement": (*loops, "switch_statement"), "continue_statement": loops}.get(node.type)
            if kinds is None:
                continue
            target = enclosing(node, *kinds)
            if target is None or target.start_byte < statement.start_byte:
                return node
            if shared_out and node.type == "break_statement" and target.id == statement.id:
                return node
        return None

    def stays(self, directive: Directive, statement: Node) -> bool:
        leaving = self._left_by(statement, directive.kind.shares_loop)
        if leaving is not None:
            word = text_of(leaving).split()[0].rstrip(";")
            self.source.error(
                leaving.start_byte,
                f"`{word}` leaves what #pragma {directive.family} {directive.name} stands above",
                "set a variable there, and decide behind it",
            )
        return leaving is None
