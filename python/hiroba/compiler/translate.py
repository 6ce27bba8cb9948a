"""From preprocessed C with Hiroba's notations to C."""

from __future__ import annotations

import re
from collections.abc import Callable

from .directives import CLAUSES, Directives
from .notation import DIRECTIVE, KNOWN, Expand, find
from .shared import Rewriter
from .source import CompileError, Node, Source, parse, text_of, walk

PLAIN = {*KNOWN, *CLAUSES}  # words that need not be looked up as macros
OURS = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+SMint\b|\bshared\b", re.MULTILINE | re.IGNORECASE)


def has_notation(text: str) -> bool:
    return OURS.search(text) is not None


def translate(text: str, macros: Callable[[], dict[str, str]]) -> tuple[str, list[str]]:
    """The C for a compiler, and what --explain prints. Raises CompileError after printing what is wrong."""
    # The paper's programs say `main()`, which was C once. The parser wants a type.
    source = Source(re.sub(r"^main[ \t]*\(", "int main(", text, flags=re.MULTILINE))
    words = {word for line in DIRECTIVE.findall(text) for word in re.findall(r"[A-Za-z_]\w*", line)}
    found = find(source, Expand(macros() if words - PLAIN else {}))
    if source.errors:
        raise CompileError
    if not found.declarations and not found.directives:
        return text, []
    if "smint_allocate" not in text:
        at = (found.declarations or found.directives)[0].at
        header = "mpc.h" if any(not d.directive for d in found.declarations) else "smint.h"
        source.error(at, f"this file does not include <{header}>", f"put #include <{header}> at its beginning")
        raise CompileError
    root = parse(found.text)
    rewriter = Rewriter(source, found, root)
    rewriter.declare_all()
    directives = Directives(rewriter)
    if not source.errors:
        directives.rewrite_all()
        if not source.errors:
            directives.warn_of_writes_by_all()
        rewriter.rename_all()
        start_in_main(source, root, any(d.directive for d in found.declarations) or bool(found.directives))
    if source.errors:
        raise CompileError
    return source.edited(), directives.explain


def start_in_main(source: Source, root: Node, smint: bool) -> None:
    """Programs with directives start by themselves; others say mpc_init."""
    for node in root.children:
        if node.type != "function_definition":
            continue
        declarator, body = node.child_by_field_name("declarator"), node.child_by_field_name("body")
        if declarator is None or body is None or not re.match(r"main\s*\(", text_of(declarator)):
            continue
        calls = {text_of(c.named_children[0]) for c in walk(body) if c.type == "call_expression" and c.named_children}
        if calls & {"mpc_init", "sms_startup", "smint_start"}:
            return
        if not smint:
            source.error(
                declarator.start_byte,
                "this program has shared arrays, and main does not start the job",
                "call mpc_init(&argc, &argv) first, and mpc_exit() at the end",
            )
            return
        source.insert(body.start_byte + 1, " smint_start(0, 0);")
