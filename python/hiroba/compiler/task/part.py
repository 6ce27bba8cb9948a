"""The work of the notation of tasks on one file: it reads all directives, finds the captures of each task, then
turns each directive into calls of task.h, and its body into a function."""

from __future__ import annotations

from ..core.declarators import enclosing
from ..core.found import Directive
from . import capture
from .base import Task, Tasks
from .loop import read_loop
from .words import read


class TaskPart(Tasks):
    def rewrite(self) -> None:
        wrong: set[int] = set()  # directives that cannot be lowered
        for directive in self.directives:
            before = self.source.errors
            self.clauses[directive.at] = read(self.source, directive)
            if directive.at < self.source.text.index(self.notation.symbol):
                header = self.notation.header
                self.source.error(directive.at, f"this stands before #include <{header}>", "include it before")
                return
            if self.statements.in_function(directive) and directive.name != "taskwait":
                self._add(directive)
            if self.source.errors > before:
                wrong.add(directive.at)
                self.cover(directive.end)
        for task in self.tasks:
            before = self.source.errors
            task.captured = capture.captured(self, task)
            if self.source.errors > before:
                wrong.add(task.directive.at)
        self.lower(d for d in self.directives if d.at not in wrong)

    def _add(self, directive: Directive) -> None:
        statement = self.statements.statement(directive)
        function = enclosing(statement, "function_definition") if statement is not None else None
        if statement is not None and function is None:
            self.source.error(
                directive.at,
                "the function around this directive cannot be read as C",
                "look for what is wrong with the lines above it",
            )
        if statement is None or function is None or not self.statements.stays(directive, statement):
            return
        for other in self.found.directives:
            below = self.statements.below(other.end) if directive.at < other.at < statement.end_byte else None
            if other.at == statement.start_byte or (below is not None and below.end_byte == statement.end_byte):
                self.source.error(
                    other.at,
                    f"#pragma {other.family} {other.name} ends where the task above it ends",
                    f"put {{ and }} around what #pragma {directive.family} {directive.name} stands above",
                )
                return
        loop = read_loop(self, directive, statement) if directive.name == "taskloop" else None
        self.unit.covered.append((statement.start_byte, statement.end_byte))
        self.tasks.append(Task(directive, self.clauses[directive.at], statement, function, loop))
