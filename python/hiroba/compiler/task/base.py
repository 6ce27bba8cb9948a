"""A task, and the facts about a file that all modules for tasks need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..core.counted import Counted
from ..core.found import Directive
from ..core.notation import Notation, Part, Unit
from ..core.source import Node, parse, walk
from ..core.spelling import Variable
from .words import Clauses


@dataclass
class Task:
    directive: Directive
    clauses: Clauses
    statement: Node
    function: Node
    loop: Counted | None = None  # of a taskloop
    captured: dict[str, Variable] = field(default_factory=dict)
    shadows: list[str] = field(default_factory=list)  # C that declares its parts of the shared arrays that it reduces

    def replaces(self, at: int) -> bool:
        """Returns true for one of the bounds of the loop, which are not those of a task."""
        bounds = [self.loop.first, self.loop.compare] if self.loop is not None else []
        return any(bound.start_byte <= at < bound.end_byte for bound in bounds)

    def has(self, at: int) -> bool:
        return self.directive.end <= at < self.statement.end_byte


class Tasks(Part):
    def __init__(self, notation: Notation, unit: Unit) -> None:
        super().__init__(notation, unit)
        self.clauses: dict[int, Clauses] = {}  # by the place of the directive
        self.tasks: list[Task] = []
        self.functions: set[str] = set()  # the bodies' functions

    def task_of(self, directive: Directive) -> Task:
        return next(task for task in self.tasks if task.directive is directive)

    def around(self, at: int) -> Task | None:
        """Returns the innermost task that has this place in its body."""
        return max((t for t in self.tasks if t.has(at)), key=lambda t: t.directive.at, default=None)

    def fragment(self, directive: Directive, text: str) -> Node | None:
        """Parses an expression of a directive."""
        root = parse(f"void f(void) {{ return {text}; }}")
        body = root.named_children[0].child_by_field_name("body") if root.named_children else None
        statement = body.named_children[0] if body is not None and body.named_children else None
        if root.has_error or statement is None or not statement.named_children:
            self.source.error(directive.place(text), f"cannot read `{text}`", "write a C expression here")
            return None
        return statement.named_children[0]

    def names(self, directive: Directive, text: str) -> Iterator[tuple[str, Node]]:
        """Returns the variables of an expression, or of a section, with their declarators."""
        anchor = self.anchor(directive)
        for part in re.split(r"[:;]", text) if "?" not in text else [text]:
            root = parse(f"void f(void) {{ return {part}; }}")
            for node in walk(root):
                top = self.declared.declarator(node, anchor) if node.type == "identifier" else None
                if top is not None:
                    yield node.text.decode("latin-1") if node.text else "", top

    def render(self, directive: Directive, text: str) -> str:
        """Returns an expression of a directive as C: shared arrays are pointers, and so are variables of an outer
        function."""
        anchor, outer = self.anchor(directive), self.around(directive.at)

        def renamed(found: re.Match[str]) -> str:
            shared = self.rewriter.resolve_name(found[0], anchor.at)
            if shared is not None and shared.pointer:
                return f"(*{self.rewriter.pointer_at(shared, anchor.at)})"
            variable = outer.captured.get(found[0]) if outer is not None else None
            if variable is None or not variable.by_address or variable.top.id not in known:
                return found[0]
            return variable.renamed

        known = {top.id for _, top in self.names(directive, text)}
        return re.sub(r"(?<![\w.])(?<!->)[A-Za-z_]\w*", renamed, text)
