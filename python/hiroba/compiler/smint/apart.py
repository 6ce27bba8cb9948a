"""Finds places that a rank may reach without the others: no barrier is inserted there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..core.operations import RANK, Call, Function, Key, Region
from ..core.pragmas import PRAGMA
from ..core.scopes import Declaration

if TYPE_CHECKING:
    from .part import Smint


class Apart:
    """Finds functions that ranks call by conditions which depend on the rank, from threads, or by pointers; and the
    parameters and variables at file scope that decide about it."""

    def __init__(self, smint: Smint) -> None:
        self.smint, self.flow = smint, smint.unit.flow
        self.threads = self._threads()
        self.variables = {key for summary in self.flow.summaries.values() for key, atoms in summary.atoms.items()
                          if isinstance(key, Declaration) and RANK in atoms}  # fmt: skip
        self.parameters: set[tuple[str, int]] = set()
        self.functions = set(smint.unit.addressed)
        before = -1
        while before != (before := len(self.functions) + len(self.parameters)):
            for caller in self.flow.functions.values():
                for call in caller.calls:
                    self._called(caller, call)

    def _called(self, caller: Function, call: Call) -> None:
        if call.name not in self.flow.functions:
            return
        if caller.name in self.functions or self.decides(caller, call.guard) or self.by_thread(call):
            self.functions.add(call.name)
        for k, atoms in enumerate(call.given):
            if self.decides(caller, atoms):
                self.parameters.add((call.name, k))

    def decides(self, function: Function, atoms: Iterable[Key]) -> bool:
        """Returns true if a value with these atoms may differ from rank to rank."""
        return any(atom == RANK or (isinstance(atom, tuple) and (
            (atom[0] == "p" and (function.name in self.functions or (function.name, atom[1]) in self.parameters))
            or (atom[0] == "g" and atom[1] in self.variables))) for atom in atoms)  # fmt: skip

    def by_thread(self, operation: Call | Region) -> bool:
        """Returns true if each thread of OpenMP does this itself. A loop below both directives begins before they
        do."""
        at, is_call = operation.node.start_byte, isinstance(operation, Call)
        return any(begin < at < end or (is_call and at == begin) for begin, end in self.threads)

    def _threads(self) -> list[tuple[int, int]]:
        out = []
        for line in PRAGMA.finditer(self.smint.found.text):
            statement = self.smint.statements.below(line.end()) if line[1] == "omp" else None
            if statement is not None:
                out.append((statement.start_byte, statement.end_byte))
        return out
