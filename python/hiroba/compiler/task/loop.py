"""#pragma hiroba taskloop: chunks of a counted loop are tasks. In a section `[i + c]` and `[i + c:length]`, i being
the variable of the loop, mean the chunk's part."""

from __future__ import annotations

import re

from ..core.counted import REAL, Counted, assigned_names, read_for
from ..core.found import Directive
from ..core.source import Node, text_of
from ..core.spelling import GIVEN
from .base import Task, Tasks

CHUNK = ("hiroba_first", "hiroba_last")  # iterations of a task
MEMBERS = f"long long {', '.join(CHUNK)};"
VALUES = [f".{name} = {name}" for name in CHUNK]


def read_loop(tasks: Tasks, directive: Directive, statement: Node) -> Counted | None:
    """Returns the loop below the directive; None, with a message, if it cannot be divided."""
    found = read_for(statement) if statement.type == "for_statement" else "is no for loop"
    wrong, remedy = "", "write for (int i = first; i < end; i++)"
    body = statement.child_by_field_name("body")
    if isinstance(found, str):
        wrong = f"the loop below #pragma hiroba taskloop {found}"
    elif found.step != 1 or found.by is not None or found.declared in REAL:
        wrong = f"`{found.name}` in the loop below #pragma hiroba taskloop does not go up by 1"
    elif body is None or found.name in assigned_names(body):
        wrong = f"the body of the loop changes `{found.name}`"
    elif "grainsize" not in tasks.clauses[directive.at].values:
        wrong, remedy = "#pragma hiroba taskloop without `grainsize`", "write grainsize(n), for n iterations per task"
    else:
        return found
    tasks.source.error(directive.at, wrong, remedy)
    return None


def chunk(
    tasks: Tasks, directive: Directive, loop: Counted, section: str, brackets: list[list[str]]
) -> list[list[str]]:
    """Returns the brackets of a section, for all iterations of a task. The variable has its first value there."""
    of_loop = re.compile(rf"\b{loop.name}\b")
    alone = re.compile(rf"{loop.name}(\s*[+-](?!.*\b{loop.name}\b).*)?|(?!.*\b{loop.name}\b.*\+).*\+\s*{loop.name}")
    length, out = f"{CHUNK[1]} - {CHUNK[0]}", []
    base = section[: section.find("[")] if "[" in section else section
    used = sum(any(map(of_loop.search, parts)) for parts in brackets)
    wrong = of_loop.search(base) is not None or used > 1
    for parts in brackets:
        if not any(map(of_loop.search, parts)):
            out.append(parts)
            continue
        wrong = wrong or alone.fullmatch(parts[0]) is None or any(map(of_loop.search, parts[1:]))
        wrong = wrong or len(parts) > 2 or parts[1:] == [""]
        out.append([parts[0], length if len(parts) == 1 else f"{length} - 1 + ({parts[1]})"])
    if wrong:
        tasks.source.error(
            directive.place(section),
            f"what a task uses of `{section}` does not follow from `{loop.name}`",
            f"write one index {loop.name} + c, or [{loop.name} + c:length]",
        )
    return out


def head(tasks: Tasks, loop: Counted) -> None:
    """Gives the loop in a task's function only its iterations."""
    variable = f"(__typeof__({loop.name}))"
    tasks.source.replace(loop.first.start_byte, loop.first.end_byte, f"{variable}{GIVEN}->{CHUNK[0]}")
    text = f"{loop.name} < {variable}{GIVEN}->{CHUNK[1]}"
    tasks.source.replace(loop.compare.start_byte, loop.compare.end_byte, text)


def around(tasks: Tasks, made: Task, loop: Counted, create: str) -> str:
    """Returns a loop over the chunks."""
    first, bound, grain = (
        tasks.render(made.directive, text)
        for text in (text_of(loop.first), text_of(loop.bound), made.clauses.values["grainsize"])
    )
    end = f"(long long)({bound}) + {loop.past}" if loop.past else f"(long long)({bound})"
    kind = loop.declared or f"__typeof__({loop.name})"
    return (
        f"{{ const long long hiroba_end = {end}, hiroba_asked = (long long)({grain});"
        " const long long hiroba_grain = hiroba_asked > 1 ? hiroba_asked : 1;"
        f" for (long long hiroba_first = (long long)({first}), hiroba_last; hiroba_first < hiroba_end;"
        " hiroba_first = hiroba_last) {"
        " hiroba_last = hiroba_end - hiroba_first > hiroba_grain ? hiroba_first + hiroba_grain : hiroba_end;"
        f" const {kind} {loop.name} = ({kind})hiroba_first; (void){loop.name}; {create} }} }}"
    )
