"""#pragma SMint single: rank 0 executes the statement below, and all ranks may get copies of variables that it has
set."""

from __future__ import annotations

import re

from ..core.clauses import clauses_of
from ..core.declarators import enclosing
from ..core.declared import ARRAY
from ..core.found import Directive
from ..core.source import Node, text_of, walk
from .part import Smint


def single(smint: Smint, directive: Directive) -> None:
    statement = smint.statements.statement(directive)
    if statement is None or not smint.statements.stays(directive, statement):
        return
    copied = copied_names(smint, directive, statement)
    smint.unit.covered.append((statement.start_byte, statement.end_byte))
    smint.own.singles.append((statement.start_byte, statement.end_byte, frozenset(copied)))
    smint.unit.same[statement.start_byte] = frozenset(copied)
    place = smint.source.place(directive.at)
    copies = "".join(f' smint_copy(&({n}), sizeof({n}), "{place.file}:{place.line}");' for n in copied)
    smint.source.replace(directive.at, directive.end, "{ if (smint_single())")
    smint.source.insert(statement.end_byte, f"{copies} sms_barrier(); }}")


def copied_names(smint: Smint, directive: Directive, statement: Node) -> list[str]:
    """Returns the variables of single copy(x, y), which all ranks get from rank 0."""
    names = []
    for name, argument in clauses_of(smint.source, directive):
        if name not in directive.kind.clauses:
            smint.source.error(directive.place(name), f"unknown word `{name}` in #pragma SMint single",
                              "write single, or single copy(x, y)")  # fmt: skip
            return []
        names += [word.strip() for word in argument.split(",")]
    uses = {text_of(n): n for n in walk(statement) if n.type == "identifier"}
    for name in names:
        of = smint.declared.type_of(uses[name]) if name in uses else None
        declarator = smint.declared.declarator(uses[name]) if name in uses else None
        passed = declarator is not None and enclosing(declarator, "parameter_declaration") is not None
        pointer = of is not None and (of.derived[:1] not in ((), (ARRAY,)) or (passed and of.derived != ()))
        if re.fullmatch(r"[A-Za-z_]\w*", name) is None or name not in uses or pointer:
            smint.source.error(
                directive.place(name),
                f"copy({name}) does not name a variable or an array that the statement below sets",
                "what a pointer points to has no size here: name the array itself, or read into one"
                if pointer else "write copy(x), x a variable, an array or a struct",
            )  # fmt: skip
            return []
    return names
