"""reduction(op: x) of a task: in its body, x is the part of its thread."""

from __future__ import annotations

import re

from ..core.arithmetic import KINDS, by_type, name_of
from ..core.declared import ARRAY, POINTER, Type
from ..core.found import Directive
from ..core.operators import OF_OPENMP
from .base import Task, Tasks
from .words import REDUCTIONS, Access, brackets_of, is_name

NUMBERS = {name: list(dict.fromkeys(KINDS.values())).index(kind) for name, kind in KINDS.items()}  # of the types
WRITE = "name a variable, an element x[i], *p, or contiguous elements x[base:length]"


def plain(section: str) -> str:
    """Rewrites `*p` as `p[0]`."""
    found = re.fullmatch(r"\(?\s*\*\s*([A-Za-z_]\w*)\s*\)?", section.strip())
    return f"{found[1]}[0]" if found is not None else section


def part(number: int, address: str) -> str:
    return f"hiroba_task_part({number}, {address})"


def reduced(tasks: Tasks, task: Task) -> dict[str, int]:
    """Returns the variables that reductions name, with the number of the access, except shared arrays. For a pointer
    it is its target: in the body another variable of that name points to the part."""
    anchor, out = tasks.anchor(task.directive), {}
    for number, one in enumerate(task.clauses.accesses):
        if not one.operator:
            continue
        name, _ = brackets_of(plain(one.section))
        shared = tasks.rewriter.resolve_name(name, anchor.at)
        if shared is None or not shared.pointer:
            out[name] = number
            continue
        pointer, kept = shared.pointer, f"hiroba_part_{number}"
        task.shadows.append(
            f" __typeof__({pointer}) {kept} = {part(number, pointer)}; __typeof__({kept}) {pointer} = {kept};"
        )
    return out


def access(tasks: Tasks, directive: Directive, one: Access) -> str:
    """Returns C for a hiroba_access."""
    base, brackets = brackets_of(plain(one.section))
    of = tasks.declared.type_of(tasks.fragment(directive, base), tasks.anchor(directive))
    message = wrong(tasks, directive, base, brackets, of)
    if message:
        tasks.source.error(directive.place(base), f"a reduction of `{one.section}`, {message}", WRITE)
        return ""
    numbers = "[0]" * (len(of.derived) if of is not None else len(brackets))
    refuse_type(tasks, directive, one, of)
    element = tasks.render(directive, base) + numbers
    whole = first = tasks.render(directive, base)
    for parts in brackets:
        low, length = [tasks.render(directive, text) for text in [*parts, ""][:2]]
        first += f"[{low or 0}]"
        whole += "[0]"
        if len(parts) > 1 and not length:
            length = f"(sizeof {whole[:-3]} / sizeof {whole} - ({low or 0}))"
    size = f"sizeof {whole}"
    if brackets and len(brackets[-1]) > 1:
        size = f"(size_t)({length}) * {size}"
    return (
        f"{{.mode = HIROBA_REDUCTION, .op = {OF_OPENMP[one.operator].number}, .type = {by_type(element, NUMBERS)},"
        f" .section = {{.address = (void*)&{first}, .bytes = {size}}}}}"
    )


def wrong(tasks: Tasks, directive: Directive, base: str, brackets: list[list[str]], of: Type | None) -> str:
    if not is_name(base):
        return "which is no variable"
    if of is not None and len(brackets) > len(of.derived):
        return "which is no array"
    if of is not None and not brackets and of.derived[:1] == (POINTER,):
        return "which is a pointer"
    if any(len(parts) > 2 for parts in brackets) or any(len(parts) > 1 for parts in brackets[:-1]):
        return "which has gaps"
    last = brackets[-1] if brackets else []
    if len(last) > 1 and not last[1] and (of is None or of.derived[len(brackets) - 1] != ARRAY):
        return "whose length is not known"
    if of is not None and POINTER in of.derived[max(len(brackets), 1) :]:
        return "whose elements are pointers"
    task = next((task for task in tasks.tasks if task.directive is directive), None)
    if (
        task is not None
        and task.loop is not None
        and any(re.search(rf"\b{task.loop.name}\b", text) for parts in brackets for text in parts)
    ):
        return f"which follows from `{task.loop.name}`"
    return ""


def refuse_type(tasks: Tasks, directive: Directive, one: Access, of: Type | None) -> None:
    misfit = OF_OPENMP[one.operator].misfit(name_of(of.element()) if of is not None else None)
    if misfit is not None:
        tasks.source.error(directive.place(REDUCTIONS[0]), f"`{one.section}` {misfit[0]}", misfit[1])
