"""Places where directives may not stand: operations of all ranks together are not for one rank, for one thread, or
for the iterations of a shared-out loop."""

from __future__ import annotations

import bisect

from ..core.found import Directive, Stands
from ..core.pragmas import PRAGMA
from ..core.shared import Rewriter
from ..core.source import Node, Source, walk
from ..core.statements import Statements
from ..core.text import words_with_brackets

BODIES = ("if_statement", "else_clause", "for_statement", "while_statement", "do_statement", "switch_statement")
THREADS = ("parallel", "task", "taskloop", "sections", "teams")  # directives of OpenMP


def shown(directive: Directive) -> str:
    return f"#pragma {directive.family} {directive.kind.shown}"


def threads_word(words: str) -> str:
    """Returns the word of an OpenMP directive that makes threads, or ""."""
    return next((word for word, _ in words_with_brackets(words) if word in THREADS), "")


def may_wrap(source: Source, node: Node) -> bool:
    """Returns true if braces can be put around a loop: no directive of another compiler is above it."""
    before = source.text[: node.start_byte].rstrip()
    line = before[before.rfind("\n") + 1 :].lstrip()
    return not line.startswith("#pragma") or line.startswith("#pragma SMint")


def regions(rewriter: Rewriter) -> list[tuple[int, int, str]]:
    """Returns the statements that threads of OpenMP execute: begin, end, and the directive."""
    lines = [line for line in PRAGMA.finditer(rewriter.source.text) if line[1] == "omp" and threads_word(line[2])]
    if not lines:
        return []
    nodes: list[Node] = [n for n in walk(rewriter.root) if n.type.endswith("_statement")]
    out = []
    for line in lines:
        first = bisect.bisect_left(nodes, line.end(), key=lambda n: n.start_byte)
        if first < len(nodes):
            out.append((nodes[first].start_byte, nodes[first].end_byte, f"omp {threads_word(line[2])}"))
    return out


def check(rewriter: Rewriter, ours: list[Directive], statements: Statements) -> None:
    """Reports errors."""
    threads = regions(rewriter) if any(d.kind.together for d in ours) else []
    around = [
        (statement.start_byte, statement.end_byte, d)
        for d in ours
        if d.kind.stands is Stands.ABOVE and (statement := statements.below(d.end)) is not None
    ]
    for directive in ours:
        at, name = directive.at, shown(directive)
        if directive.kind.stands is Stands.ALONE:
            node = rewriter.root.descendant_for_byte_range(at, at)
            if node is not None and node.type in BODIES:
                rewriter.source.error(
                    at,
                    f"{name} would be all that the `{node.type.split('_')[0]}` above it does",
                    "put braces around it and the statement behind it",
                )
                continue
        if not directive.kind.together:
            continue
        region = next((words for begin, end, words in threads if begin <= at < end), None)
        outer = next((d for begin, end, d in around if begin <= at < end), None)
        if region is not None:
            rewriter.source.error(
                at,
                f"{name} stands below `{region}`, and each thread would do it",
                "end the region before it; for loops, write it above `omp parallel for`",
            )
        elif outer is not None:
            who = "ranks do different iterations" if outer.kind.shares_loop else "one rank at a time is"
            rewriter.source.error(
                at,
                f"{name} is for all ranks together, and stands in {shown(outer)}, where {who}",
                "take one of them away" if directive.kind.shares_loop else "put it behind the statement",
            )
