"""The variables around it that a task captures, and the form: as in OpenMP it has copies, made at its creation,
except of variables that outlive all tasks, that shared(..) names, and that its own accesses name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..core import outline
from ..core.declared import POINTER, VARIABLES, Declared
from ..core.source import Node
from ..core.spelling import How, Spelling, Variable
from . import reductions
from .base import Task, Tasks
from .sections import own_variable
from .words import is_name

PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma\b(.*)$", re.MULTILINE)
EXPLICIT = {"firstprivate": How.COPY, "private": How.OWN, "shared": How.ADDRESS}


def captured(tasks: Tasks, task: Task) -> dict[str, Variable]:
    tops = {name: top for name, top in used(tasks, task) if top.start_byte < task.directive.at}
    listed = explicit(tasks, task)
    named = {own_variable(tasks, task.directive, access.section) for access in task.clauses.accesses}
    reduced = reductions.reduced(tasks, task)
    spelling = Spelling(tasks.declared, tasks.rewriter)
    out = {}
    for name, top in tops.items():
        how = listed.get(name) or (How.ADDRESS if name in named else How.COPY)
        of = tasks.declared.type_of_declarator(top)
        if name in reduced and of is not None:
            how = How.COPY if of.derived[:1] == (POINTER,) else How.ADDRESS
        elif is_global(task, top) and (name not in listed or how is How.ADDRESS):
            continue
        else:
            how = outline.by_storage(tasks.declared, task.statement, top, how)
        nested = next((d for d in tasks.rewriter.scopes.named(name) if d.block and d.body and holds(top, d.at)), None)
        variable = spelling.variable(name, top, how) if nested is None else "it is a function in a function"
        if isinstance(variable, Variable):
            given = reductions.part(reduced[name], "{}") if name in reduced else variable.given
            out[name] = replace(variable, given=given)
            continue
        outline.refuse_variable(
            tasks.source,
            task.directive.at,
            name,
            variable,
            f"name it in shared({name}), if it lives until the task has ended"
            if "array whose extent" in variable
            else "declare it outside of the function, or use a pointer",
        )
    outline.refuse_types_of_block(tasks.source, tasks.declared, task.statement)
    begin, end = task.statement.start_byte, task.statement.end_byte
    for name, made in out.items():
        rename(tasks, task, made)
        tasks.unit.spelled.append((begin, end, made.top.id, made.renamed if made.by_address else name))
    return out


def used(tasks: Tasks, task: Task) -> Iterator[tuple[str, Node]]:
    """Returns names in the statement, in the directives of tasks in it, and in other directives."""
    begin, end = task.statement.start_byte, task.statement.end_byte
    for at, denoted in tasks.rewriter.scopes.between(begin, end):
        if denoted.kind not in VARIABLES or task.replaces(at) or begin <= denoted.at < end:
            continue
        top = tasks.declared.top_of(denoted)
        if top is not None:
            yield denoted.name, top
        elif denoted.block:
            outline.refuse_variable(tasks.source, at, denoted.name, "its declaration cannot be read", "declare it so")
    for at, clauses in tasks.clauses.items():
        if task.has(at):
            directive = next(d for d in tasks.directives if d.at == at)
            for text in clauses.texts():
                yield from tasks.names(directive, text)
    text = tasks.source.text
    for line in PRAGMA.finditer(text, task.directive.end, end):
        if line.start() + line[0].index("#") in tasks.clauses:
            continue
        for word in set(re.findall(r"[A-Za-z_]\w*", line[1])):
            named = tasks.rewriter.scopes.visible(word, line.start())
            top = (
                tasks.declared.top_of(named) if named is not None and named.block and named.kind in VARIABLES else None
            )
            if top is not None:
                yield word, top


def holds(top: Node, at: int) -> bool:
    return top.start_byte <= at < top.end_byte


def is_global(task: Task, top: Node) -> bool:
    return not Declared.is_local(top, task.statement)


def explicit(tasks: Tasks, task: Task) -> dict[str, How]:
    """Returns the forms that clauses declare for variables."""
    out = {}
    for name, clause in task.clauses.variables.items():
        anchor = tasks.anchor(task.directive)
        node = tasks.fragment(task.directive, name) if is_name(name) else None
        top = tasks.declared.declarator(node, anchor) if node is not None else None
        shared = tasks.rewriter.resolve_name(name, anchor.at)
        if top is None:
            at = task.directive.place(name)
            tasks.source.error(at, f"{clause}({name}) does not name a variable", f"write {clause}(x), x a variable")
        elif shared is not None and clause != "shared":
            at = task.directive.place(name)
            tasks.source.error(at, f"{clause}({name}) wants copies of what is shared", "name it in in(..) or out(..)")
        out[name] = EXPLICIT[clause]
    return out


def rename(tasks: Tasks, task: Task, variable: Variable) -> None:
    """Renames uses of a variable that the task has by its address, where no inner task has it otherwise."""
    if not variable.by_address:
        return
    for at, denoted in tasks.rewriter.scopes.between(task.statement.start_byte, task.statement.end_byte):
        if denoted.name != variable.name or tasks.around(at) is not task:
            continue
        top = tasks.declared.top_of(denoted)
        if top is not None and top.id == variable.top.id:
            tasks.source.replace(at, at + len(variable.name), variable.renamed)
    for line in PRAGMA.finditer(tasks.source.text, task.directive.end, task.statement.end_byte):
        if tasks.around(line.start(1)) is not task or line.start() + line[0].index("#") in tasks.clauses:
            continue
        word = re.search(rf"\b{variable.name}\b", line[1])
        if word is not None:
            tasks.source.error(
                line.start(1) + word.start(),
                f"`{variable.name}` is shared with the program, and stands here in another directive",
                "use a variable of the task there",
            )
