"""#pragma hiroba task, taskloop and taskwait. The body of a task becomes a function before the one around it, whose
lines are still those of the program; the call that creates the task replaces it."""

from __future__ import annotations

from ..core import outline
from ..core.found import Directive
from ..core.source import text_of, walk
from ..core.spelling import Variable
from ..core.text import quoted
from . import loop, sections
from .base import Task, Tasks
from .words import is_name


def taskwait(tasks: Tasks, directive: Directive) -> None:
    clauses, place = tasks.clauses[directive.at], tasks.place(directive)
    used = sections.list_of(tasks, directive, clauses)
    text = f"hiroba_taskwait_at({place});"
    if used:
        spec = spec_of(tasks, directive, "taskwait")
        text = f"{{ {used}{spec} hiroba_taskwait_on_at({arguments(used)}); }}"
    tasks.source.replace(directive.at, directive.end, text)


def task(tasks: Tasks, directive: Directive) -> None:
    made = tasks.task_of(directive)
    function = function_name(tasks, made)
    variables = list(made.captured.values())
    used = sections.list_of(tasks, directive, made.clauses)
    create = creation(tasks, made, function, variables, used)
    condition = made.clauses.values.get("if", "")
    if condition:
        create = conditional(tasks, made, function, variables, create, bool(used))
    declared = "".join(f" {variable.prologue}" for variable in variables) + "".join(made.shadows)
    begin = (made.directive.at, made.directive.end)
    outline.move(tasks.source, begin, made.statement, made.function, function, members(made, variables), declared)
    text = f"{{ {used}{create} }}"
    if made.loop is not None:
        loop.head(tasks, made.loop)
        text = loop.around(tasks, made, made.loop, used + create)
    tasks.source.replace(directive.at, made.statement.end_byte, text)
    told = ", ".join(f"`{v.name}` {v.how.value}" for v in variables) or "no variables"
    shown = ", ".join(f"{a.mode[7:].lower()} {a.section}" for a in made.clauses.accesses) or "no data"
    tasks.explain.append(f"{tasks.source.place(directive.at)}: task {function}: {shown}; it has {told}")


def arguments(used: str) -> str:
    """Returns the last arguments of a call that gets accesses."""
    count = "(int)(sizeof hiroba_used / sizeof hiroba_used[0])"
    return f"hiroba_used, {count}, &hiroba_spec" if used else "0, 0, &hiroba_spec"


def spec_of(tasks: Tasks, directive: Directive, label: str, values: dict[str, str] | None = None) -> str:
    texts = values or {}
    on, priority = (tasks.render(directive, texts[name]) if name in texts else "" for name in ("on", "priority"))
    return (
        f"static const hiroba_task_label hiroba_label = {{{quoted(label)}, {tasks.place(directive)}}};"
        f" const hiroba_task_spec hiroba_spec = {{&hiroba_label, {on or 'HIROBA_ANYWHERE'}, {priority or 0}}};"
    )


def label_of(made: Task) -> str:
    """Returns the program's name; else the function that the body calls first, else the one around it."""
    label = made.clauses.values.get("label", "").strip('"')
    calls = [n for n in walk(made.statement) if n.type == "call_expression"]
    called = text_of(calls[0].child_by_field_name("function")) if calls else ""
    return label or (called if is_name(called) else outline.name_of(made.function))


def function_name(tasks: Tasks, made: Task) -> str:
    name = f"{outline.name_of(made.function)}_task_{tasks.source.place(made.directive.at).line}"
    while name in tasks.functions:
        name += "_"
    tasks.functions.add(name)
    return name


def given(tasks: Tasks, made: Task, variables: list[Variable], function: str) -> str:
    """Returns C that declares `hiroba_data`, the task's argument."""
    values = list(loop.VALUES if made.loop is not None else [])
    return outline.given(function, values, [(v, tasks.render(made.directive, v.name)) for v in variables])


def creation(tasks: Tasks, made: Task, function: str, variables: list[Variable], used: str) -> str:
    spec = spec_of(tasks, made.directive, label_of(made), made.clauses.values)
    accesses = arguments(used)
    if not members(made, variables):
        return f"{spec} hiroba_task_at({function}, 0, {accesses});"
    data = given(tasks, made, variables, function)
    return f"{spec} {data} hiroba_task_copy_at({function}, &hiroba_data, sizeof hiroba_data, {accesses});"


def conditional(
    tasks: Tasks, made: Task, function: str, variables: list[Variable], create: str, has_accesses: bool
) -> str:
    """Returns the C of if(..): if it is false, the program waits for the task; without data that is a call."""
    condition = tasks.render(made.directive, made.clauses.values["if"])
    if has_accesses or "on" in made.clauses.values:
        return f"{create} if (!({condition})) hiroba_taskwait_at({tasks.place(made.directive)});"
    call = f"{function}(0);"
    if members(made, variables):
        call = f"{{ {given(tasks, made, variables, function)} {function}(&hiroba_data); }}"
    return f"if ({condition}) {{ {create} }} else {call}"


def members(made: Task, variables: list[Variable]) -> str:
    """Returns the members of the struct that the function of a task gets."""
    own = [loop.MEMBERS] if made.loop is not None else []
    return " ".join([*own, *(variable.members for variable in variables if variable.members)])
