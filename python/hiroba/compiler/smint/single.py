"""#pragma SMint single: rank 0 executes the statement below, and all ranks may get copies of variables that it has
set."""

from __future__ import annotations

import re

from ..core.clauses import clauses_of
from ..core.counted import read_for
from ..core.declarators import enclosing
from ..core.declared import ARRAY
from ..core.found import Directive
from ..core.source import Node, text_of, walk
from .checks import JUMPS
from .independence import conditional
from .loops import LoopReader
from .nesting import may_wrap
from .part import Smint


def single(smint: Smint, directive: Directive) -> None:
    statement = smint.statements.statement(directive)
    if statement is None or not smint.statements.stays(directive, statement):
        return
    copied = copied_names(smint, directive, statement)
    smint.unit.covered.append((statement.start_byte, statement.end_byte))
    smint.own.singles.append((statement.start_byte, statement.end_byte, frozenset(copied)))
    smint.unit.same[statement.start_byte] = frozenset(copied)
    copies = "".join(f" smint_copy(&({n}), sizeof({n}), {smint.place(directive)});" for n in copied)
    for loop in loops_of(statement):
        announce(smint, loop)
    smint.source.replace(directive.at, directive.end, "{ if (smint_single())")
    smint.source.insert(statement.end_byte, f"{copies} sms_barrier(); }}")


def loops_of(statement: Node) -> list[Node]:
    """Returns the loops that are the statement, or in its block."""
    inside = statement.named_children if statement.type == "compound_statement" else [statement]
    return [node for node in inside if node.type == "for_statement"]


def announce(smint: Smint, loop: Node) -> None:
    """Tells the library which arrays the loop is about to fill: a serial initialisation is the first use of most."""
    counted = read_for(loop)
    jumps = any(node.type in JUMPS for node in walk(loop))
    if isinstance(counted, str) or jumps or not may_wrap(smint.source, loop):
        return
    analysis = LoopReader(smint.rewriter, smint.declared, loop, counted).read()
    filled = [a for a in analysis.accesses if a.writes and not conditional(a.node, loop) and smint.may_be_shared(a)]
    if not filled:
        return
    writer, place = smint.writer(loop), smint.source.place(loop.start_byte)
    entries = [writer.entry(access, False, False) for access in filled]
    declared, opening, behind = writer.begin(
        entries, [], analysis.loops, 1, f"{place.file}:{place.line}", call="smint_fill"
    )
    smint.source.insert(loop.start_byte, f"{{ {declared}{opening}0{behind} ")
    smint.source.insert(loop.end_byte, " }")


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
