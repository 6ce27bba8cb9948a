"""#pragma SMint master: rank 0 does the statement below, and no rank waits for it."""

from __future__ import annotations

from ..core.found import Directive
from .part import Smint


def master(smint: Smint, directive: Directive) -> None:
    statement = smint.statements.statement(directive)
    if statement is not None and smint.statements.stays(directive, statement):
        smint.unit.covered.append((statement.start_byte, statement.end_byte))
        smint.source.replace(directive.at, directive.end, "if (sms_rank == 0)")
