"""#pragma SMint barrier, critical and preload."""

from __future__ import annotations

import re
import zlib

from ..core.found import Directive
from .part import Smint
from .plan import braces


def barrier(smint: Smint, directive: Directive) -> None:
    if not smint.statements.in_function(directive):
        return
    smint.source.replace(directive.at, directive.end, "sms_barrier();")


def critical(smint: Smint, directive: Directive) -> None:
    statement = smint.statements.statement(directive)
    if statement is None:
        return
    if not smint.statements.stays(directive, statement):
        return
    smint.unit.covered.append((statement.start_byte, statement.end_byte))
    lock = zlib.crc32(directive.words.strip("() \t").encode()) % 32768 + 32768
    smint.source.replace(directive.at, directive.end, f"{{ sms_lock({lock}); {{")
    smint.source.insert(statement.end_byte, f" }} sms_unlock({lock}); }}")


def preload(smint: Smint, directive: Directive) -> None:
    if not smint.statements.in_function(directive):
        return
    words = directive.words.strip()
    if words.startswith("(") and words.endswith(")"):
        words = words[1:-1]
    found = re.fullmatch(r"\s*(\w+)\s*((?:\[[^\]]*\]\s*)+)", words)
    if found is None:
        smint.source.error(
            directive.place(words), "preload needs a section of an array", "write for example preload A[0:n][0:m]"
        )
        return
    shared = smint.rewriter.resolve_name(found[1], directive.at)
    base = shared.renamed if shared is not None else found[1]
    ranges = []
    for bracket in re.findall(r"\[([^\]]*)\]", found[2]):
        parts = [p.strip() for p in bracket.split(":")]
        if len(parts) not in (1, 2, 3) or "" in parts:
            at = directive.place(f"[{bracket}]")
            smint.source.error(at, f"cannot read the section [{bracket}]", "write [base:length:step]")
            return
        ranges.append(braces([parts[0], parts[1] if len(parts) > 1 else "1", parts[2] if len(parts) > 2 else "1"]))
    smint.source.replace(directive.at, directive.end, f"sms_preload({base}, (const sms_range[]){braces(ranges)});")
