"""The data of an access: a variable, an element, or a section `[base:length:step]` of an array or of a pointer's
target, as a hiroba_access."""

from __future__ import annotations

from ..core.declarators import enclosing
from ..core.declared import ARRAY, POINTER, Type
from ..core.found import Directive
from ..core.source import Node, text_of
from . import reductions
from .base import Tasks
from .loop import chunk
from .words import Clauses, brackets_of

MOST_STRIDES = 3  # HIROBA_SECTION_DIMS
WRITE = "write [base:length] or [base:length:step]"


def list_of(tasks: Tasks, directive: Directive, clauses: Clauses) -> str:
    """Returns C for all accesses, which declares `hiroba_used`; "" if there are none."""
    texts = [
        reductions.access(tasks, directive, one) if one.operator else access(tasks, directive, one.mode, one.section)
        for one in clauses.accesses
    ]
    return f"const hiroba_access hiroba_used[] = {{{', '.join(texts)}}}; " if texts else ""


def access(tasks: Tasks, directive: Directive, mode: str, section: str) -> str:
    base, brackets = brackets_of(section)
    node = tasks.fragment(directive, base + "[0]" * len(brackets))
    if node is None or not fits(tasks, directive, section, base, brackets):
        return ""
    made = next((task for task in tasks.tasks if task.directive is directive), None)
    if made is not None and made.loop is not None:
        brackets = chunk(tasks, directive, made.loop, section, brackets)
    first = element = tasks.render(directive, base)  # its begin; one unit of this bracket
    counts, strides, gaps = [], [], False
    for parts in brackets:
        around, element = element, f"{element}[0]"
        low, length, step = [tasks.render(directive, part) for part in [*parts, "", ""][:3]]
        first += f"[{low or 0}]"
        gaps = len(parts) == 1 or bool(step)  # after the blocks of the last one
        if len(parts) == 1:
            continue
        by = f"({step})" if step else "1"
        rest = f"(sizeof {around} / sizeof {element} - ({low or 0}) + {by} - 1) / {by}"
        counts.append(f"(int64_t)({length or rest})")
        strides.append(f"{by} * (int64_t)sizeof {element}")
    size, shape = f"sizeof {element}", ""
    if len(counts) > MOST_STRIDES and gaps:
        tasks.source.error(
            directive.place(base),
            f"`{section}` is a section in {len(counts)} dimensions with gaps in all of them",
            "let the last bracket be [base:length]",
        )
    if len(counts) > MOST_STRIDES:
        size = f"(size_t){counts.pop()} * {size}"
        strides.pop()
    if counts:
        shape = f", .dims = {len(counts)}, .count = {{{', '.join(counts)}}}, .stride = {{{', '.join(strides)}}}"
    return f"{{.mode = {mode}, .section = {{.address = (void*)&{first}, .bytes = {size}{shape}}}}}"


def fits(tasks: Tasks, directive: Directive, section: str, base: str, brackets: list[list[str]]) -> bool:
    """Returns true if the brackets fit their base."""
    at = directive.place(base)
    of = tasks.declared.type_of(tasks.fragment(directive, base), tasks.anchor(directive))
    ranges = sum(len(parts) > 1 for parts in brackets)
    if any(len(parts) > 3 or parts == [""] for parts in brackets):
        tasks.source.error(at, f"cannot read the section `{section}`", WRITE)
    elif ranges > MOST_STRIDES + 1:
        tasks.source.error(at, f"`{section}` is a section in {ranges} dimensions; at most 4", "name several sections")
    elif of is not None and len(brackets) > len(of.derived):
        tasks.source.error(at, f"`{section}` is a section of what is no array", f"`{base}` is {shown(of)}")
    elif of is not None and not brackets and is_pointer(tasks, directive, base, of):
        tasks.source.error(
            at, f"`{base}` is a pointer, and tasks use what it points to", f"write for example {base}[0:n], or *{base}"
        )
    else:
        return all(has_length(tasks, directive, section, of, i, parts) for i, parts in enumerate(brackets))
    return False


def has_length(
    tasks: Tasks, directive: Directive, section: str, of: Type | None, number: int, parts: list[str]
) -> bool:
    """Returns true if the length is given or known, as only that of an array is."""
    if len(parts) == 1 or parts[1] or (of is not None and of.derived[number] == ARRAY):
        return True
    tasks.source.error(
        directive.place(section), f"`{section}` has no length, and is no array whose extent is known", WRITE
    )
    return False


def shown(of: Type) -> str:
    dims = len(of.derived)
    return f"a {of.base}" if dims == 0 else f"an array or a pointer in {dims} dimension{'s' * (dims > 1)}"


def is_pointer(tasks: Tasks, directive: Directive, base: str, of: Type) -> bool:
    node = tasks.fragment(directive, base)
    return of.derived[:1] == (POINTER,) and node is not None and node.type == "identifier"


def own_variable(tasks: Tasks, directive: Directive, section: str) -> str:
    """Returns the variable that contains the whole section; "" if a pointer leads there."""
    base, brackets = brackets_of(section)
    node: Node | None = tasks.fragment(directive, base + "[0]" * len(brackets))
    anchor = tasks.anchor(directive)
    while node is not None and node.type != "identifier":
        argument = node.child_by_field_name("argument")
        if node.type == "parenthesized_expression":
            argument = node.named_children[0]
        elif node.type == "field_expression":
            argument = argument if text_of(node.child_by_field_name("operator")) == "." else None
        elif node.type != "subscript_expression":
            return ""
        of = tasks.declared.type_of(argument, anchor)
        if node.type == "subscript_expression" and (of is None or of.derived[:1] != (ARRAY,)):
            return ""
        node = argument
    top = tasks.declared.declarator(node, anchor) if node is not None else None
    if node is None or top is None or enclosing(top, "function_definition") is None:
        return ""
    of = tasks.declared.type_of(node, anchor)
    return text_of(node) if of is None or of.derived[:1] != (POINTER,) else ""
