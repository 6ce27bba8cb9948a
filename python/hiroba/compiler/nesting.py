"""Where directives may not stand: what all ranks do together is not for one rank, for one thread, or for the iterations
of a loop that ranks share."""

from __future__ import annotations

import bisect
import re

from .clauses import PRAGMA
from .notation import Directive
from .shared import Rewriter
from .source import Node, walk
from .statements import Statements

TOGETHER = ("parallel", "single", "barrier")
BODIES = ("if_statement", "else_clause", "for_statement", "while_statement", "do_statement", "switch_statement")
THREADS = re.compile(r"\b(parallel|task|taskloop|sections|teams)\b")


def shown(directive: Directive) -> str:
    return "#pragma SMint parallel for" if directive.name == "parallel" else f"#pragma SMint {directive.name}"


def regions(rewriter: Rewriter) -> list[tuple[int, int, str]]:
    """What the threads of OpenMP do: begin, end, and the directive."""
    lines = [line for line in PRAGMA.finditer(rewriter.source.text) if line[1] == "omp" and THREADS.search(line[2])]
    if not lines:
        return []
    nodes: list[Node] = [n for n in walk(rewriter.root) if n.type.endswith("_statement")]
    out = []
    for line in lines:
        first = bisect.bisect_left(nodes, line.end(), key=lambda n: n.start_byte)
        if first < len(nodes):
            word = THREADS.search(line[2])
            out.append((nodes[first].start_byte, nodes[first].end_byte, f"omp {word[1] if word is not None else ''}"))
    return out


def check(rewriter: Rewriter, statements: Statements) -> None:
    """Says what is wrong."""
    ours = [d for d in rewriter.found.directives if d.family == "SMint"]
    threads = regions(rewriter) if any(d.name in TOGETHER for d in ours) else []
    around = [
        (statement.start_byte, statement.end_byte, d)
        for d in ours
        if d.name in ("parallel", "single", "critical") and (statement := statements.behind(d)) is not None
    ]
    for directive in ours:
        at, name = directive.at, shown(directive)
        if directive.name in ("barrier", "preload"):
            node = rewriter.root.descendant_for_byte_range(at, at)
            if node is not None and node.type in BODIES:
                rewriter.source.error(
                    at,
                    f"{name} would be all that the `{node.type.split('_')[0]}` above it does",
                    "put braces around it and the statement behind it",
                )
                continue
        if directive.name not in TOGETHER:
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
            who = "ranks do different iterations" if outer.name == "parallel" else "one rank at a time is"
            rewriter.source.error(
                at,
                f"{name} is for all ranks together, and stands in {shown(outer)}, where {who}",
                "take one of them away" if directive.name == "parallel" else "put it behind the statement",
            )
