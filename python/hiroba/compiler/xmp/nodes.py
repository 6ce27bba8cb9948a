"""#pragma xmp that declares, nodes and coarray, and that gives work to parts of node arrays, task and tasks."""

from __future__ import annotations

import re

from ..core.found import Directive
from ..core.shared import PREFIX, at_start
from ..core.source import one_line
from ..core.text import quoted, split_list
from .coarrays import directive_names
from .part import Xmp
from .sections import Codimensions
from .words import NO_NODES, Nodes, one_by_one


def coarray(xmp: Xmp, directive: Directive) -> None:
    on, pairs = directive_names(directive.words)
    if not pairs:
        xmp.error(directive, "#pragma xmp coarray names no array", "write for example coarray a:[*]")
    if on and xmp.find_nodes(on, directive.at) is None:
        xmp.unknown_nodes(directive, on)
    scope = xmp.scope_of(directive)
    for name, codimensions in pairs:
        if codimensions:
            extents = tuple(one_line(e) for e in re.findall(r"\[([^\]]*)\]", codimensions))
            at = directive.place(name)
            xmp.named[name] = Codimensions(at, at, extents)
        elif not on:
            xmp.error(directive, f"`{name}` has no codimensions", f"write {name}:[*]")
        xmp.coarrays.on[name, scope.start_byte if scope is not None else -1] = on
    xmp.source.replace(directive.at, directive.end, "")


def nodes(xmp: Xmp, directive: Directive) -> None:
    for each in one_by_one(directive.words):
        found = re.match(r"(\w+)\s*([\[(].*?)\s*(?:=\s*(.*))?$", each, re.DOTALL)
        brackets = xmp.brackets_of(found[2]) if found is not None else None
        if found is None or brackets is None or "" in brackets:
            xmp.error(directive, f"cannot read the node array `{each}`", "write p[4], p[2][*] or p(2,*)")
            return
        node_array(xmp, directive, found[1], found[2].startswith("("), brackets, (found[3] or "").strip())


def node_array(xmp: Xmp, directive: Directive, name: str, round_: bool, extents: list[str], of: str) -> None:
    scope = xmp.scope_of(directive)
    place = xmp.place(directive)
    variable = f"{PREFIX}nodes_{name}"
    anchor = xmp.anchor(directive)
    counts = [None if e == "*" else xmp.known(e, anchor) for e in extents]
    if any(each is not None and each < 1 for each in counts):
        xmp.error(directive, f"node array `{name}` has a dimension without nodes", "write * for what the others leave")
        return
    end = scope.end_byte if scope is not None else len(xmp.source.text)
    if any(each.name == name and each.end == end for each in xmp.nodes):
        xmp.source.error(directive.place(name), f"node array `{name}` is declared already", "give it another name")
        return
    # 0 stands for `*`.
    values = ", ".join("0" if e == "*" else f"__extension__(({xmp.expression(directive, e)}) ?: -1)" for e in extents)
    before, parent = "", ""
    if of == "**":
        parent = ", .of = (const xmp_node_reference*)1"  # XMP_ALL_NODES
    elif of == "*":
        parent = ", .of_executing = 1"
    elif of:
        reference = xmp.reference(directive, of)
        before = f" static xmp_node_reference {variable}_of; {variable}_of = *{reference};"
        parent = f", .of = &{variable}_of"
    define = (
        f"{before} {variable} = (xmp_nodes){{.name = {quoted(name)}, .place = {place}, .dims = {len(extents)},"
        f" .extent = {{{values}}}, .first_fastest = {int(round_)}{parent}}}; xmp_nodes_define(&{variable});"
    )
    declared = f"static xmp_nodes {variable};"
    text = declared + (define if scope is not None else at_start(f"nodes_{name}", define))
    xmp.nodes.append(Nodes(name, directive.at, end, extents, round_, counts))
    xmp.write(directive, text)


def static_desc(xmp: Xmp, directive: Directive) -> None:
    """Asks for descriptors that are made once, as all are here."""
    xmp.write(directive, "")
    names = split_list(directive.words.removeprefix("::"))
    for name in (each.strip() for each in names):
        if not xmp.descriptor_of(name, directive.at) and xmp.aligned.of_name(name, directive.at) is None:
            remedy = "declare it before: by #pragma xmp nodes, template or align"
            xmp.source.error(directive.place(name), f"`{name}` is no node array, template or aligned array", remedy)


def task(xmp: Xmp, directive: Directive) -> None:
    words = re.sub(r"\s+nocomm$", "", directive.words, flags=re.IGNORECASE)
    clauses = xmp.clauses(directive, words)
    statement = xmp.statements.statement(directive)
    if clauses.on == NO_NODES and xmp.clean:
        xmp.error(directive, "#pragma xmp task without `on`", "write task on p[0:2]")
    if statement is None or xmp.statements.is_entered(directive, statement):
        return
    xmp.unit.covered.append((statement.start_byte, statement.end_byte))
    begin = f"xmp_task_begin({clauses.on}, {xmp.place(directive)})"
    if xmp.statements.is_left(statement):  # the C compiler ends it at each jump, outer tasks after inner ones
        entered = f"{PREFIX}{sum(d.at < directive.at for d in xmp.directives)}_entered"
        declared = f"const int {entered} __attribute__((cleanup(xmp_task_leave))) = {begin};"
        xmp.call(directive, f"{{ {declared} if ({entered}) {{")
        xmp.source.insert(xmp.end(statement), " } }")
        return
    xmp.call(directive, f"{{ if ({begin}) {{")
    xmp.source.insert(xmp.end(statement), " xmp_task_end(); } }")


def tasks(xmp: Xmp, directive: Directive) -> None:
    statement = xmp.statements.statement(directive)
    if statement is not None and statement.type != "compound_statement":
        xmp.error(directive, "#pragma xmp tasks stands above a block of tasks", "write tasks, and { below it")
    xmp.source.replace(directive.at, directive.end, "")
