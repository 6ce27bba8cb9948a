"""From preprocessed C with Hiroba's notations to C."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from . import clauses
from .arrays import Arrays
from .coarrays import Coarrays
from .declarators import enclosing
from .declared import Declared
from .directives import CLAUSES, Directives
from .expand import Expand
from .notation import DIRECTIVE, KNOWN, STARTS, XMP, XMP_CLAUSES, Found, find
from .references import CHAIN
from .sections import Brackets, lift
from .shared import Rewriter
from .source import CompileError, Node, Source, parse, text_of, walk
from .xmp_directives import XmpDirectives

PLAIN = {*KNOWN, *CLAUSES, *XMP, *XMP_CLAUSES}  # words that need not be looked up as macros
OURS = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(SMint|xmp)\b|\bshared\b|:\s*\[|\[[^]\n]*:", re.MULTILINE | re.IGNORECASE)


def has_notation(text: str) -> bool:
    return OURS.search(text) is not None


def translate(text: str, preprocess: Callable[[str], str], flags: Sequence[str] = ()) -> tuple[str, list[str], Source]:
    """The C for a compiler, what --explain prints, and what was edited. Raises CompileError after printing what is
    wrong. `preprocess` says what the preprocessor would make of some words at the end of the file."""
    # The paper's programs say `main()`, which was C once. The parser wants a type.
    source = Source(re.sub(r"^main[ \t]*\(", "int main(", text, flags=re.MULTILINE))
    source.downgraded = frozenset(flag[11:] for flag in flags if flag.startswith("-Wno-error="))
    source.silenced = frozenset(flag[5:] for flag in flags if flag.startswith("-Wno-"))
    found = find(source, Expand([line[1] for line in DIRECTIVE.findall(text)], PLAIN, preprocess))
    brackets = lift(source, found.text)
    found.text = brackets.text
    if source.errors:
        raise CompileError
    if not found.declarations and not found.directives and not brackets and not starts_by_header(text):
        return text, [], source
    missing_header(source, found, brackets)
    root = parse(found.text)
    rewriter = Rewriter(source, found, root)
    declared = Declared(root, source.text)
    rewriter.of_block = lambda node, top: declared.of_block(node, top, constants=False)
    explain = []
    if "xmp_coarray_allocate" in text:
        explain = rewrite_xmp(rewriter, brackets)
    else:
        rewriter.declare_all()
    directives = Directives(rewriter)
    if not source.errors:
        directives.rewrite_all()
        if not source.errors:
            directives.check_every_rank()
        rewriter.rename_all()
        clauses.rewrite(rewriter, directives.bounds)
        rewriter.rewrite_memory()
        start_in_main(source, root, starting(found, text))
    if source.errors:
        raise CompileError
    return source.edited() if source.edits else text, [*explain, *directives.explain], source


def starts_by_header(text: str) -> bool:
    """Whether main starts the job because of what its file includes, though it has nothing else of Hiroba's."""
    is_main = re.search(r"^[^#\n]*\bmain\s*\(", text, re.MULTILINE) is not None
    return "xmp_coarray_allocate" in text or (is_main and "smint_start" in text and "mpc_init" not in text)


def missing_header(source: Source, found: Found, brackets: Brackets) -> None:
    """Ends the translation if a file uses what it has not included."""
    mine = [d.at for d in found.directives if d.family == "xmp"] + ([brackets.first()] if brackets else [])
    others = [d.at for d in found.declarations] + [d.at for d in found.directives if d.family != "xmp"]
    if mine and "xmp_coarray_allocate" not in source.text:
        at, header = min(mine), "xmp.h"
    elif others and "smint_allocate" not in source.text:
        at = (found.declarations or found.directives)[0].at
        header = "mpc.h" if any(not d.directive for d in found.declarations) else "smint.h"
    else:
        return
    source.error(at, f"this file does not include <{header}>", f"put #include <{header}> at its beginning")
    raise CompileError


def rewrite_xmp(rewriter: Rewriter, brackets: Brackets) -> list[str]:
    """All declarations, then coindexed objects and #pragma xmp; what --explain prints about them is returned."""
    source, declared = rewriter.source, Declared(rewriter.root, rewriter.source.text)
    lowering, coarrays = Arrays(rewriter, declared, brackets), Coarrays(rewriter, declared, brackets)
    directives = XmpDirectives(rewriter, lowering=lowering, coarrays=coarrays)
    rewriter.coindexed = lambda node: lowering.special(node) if node.type in CHAIN and lowering.remote(node) else None
    lowering.is_nodes = lambda name, at: directives.find_nodes(name, at) is not None
    coarrays.declare_all(directives.declare_all())
    rewriter.declare_all()
    if source.errors:
        raise CompileError
    directives.rewrite_all()
    stack = [child for child in reversed(rewriter.root.children) if source.of_user(child.start_byte)]
    while stack:
        node = stack.pop()
        lowering.names.count = 0
        text = None if node.type.endswith("identifier") else lowering.special(node)
        if text is None:
            stack += reversed(node.children)
        elif enclosing(node, "function_definition") is None and node.type != "sizeof_expression":
            source.error(node.start_byte, "images are not there before the program starts", "write this in a function")
        else:
            source.replace(node.start_byte, node.end_byte, text)
    told = [f"{source.place(at)}: {what}" for at, what in sorted(dict.fromkeys(lowering.explain))]
    return told + directives.explain


def starting(found: Found, text: str) -> str:
    """What main has to begin with, if it does not start the job itself."""
    if "xmp_coarray_allocate" in text:
        return "xmp_start"
    directives = any(d.directive for d in found.declarations) or found.directives
    return "smint_start" if directives or starts_by_header(text) else ""


def start_in_main(source: Source, root: Node, start: str) -> None:
    """Programs with directives start by themselves; others say mpc_init."""
    for node in root.children:
        if node.type != "function_definition":
            continue
        declarator, body = node.child_by_field_name("declarator"), node.child_by_field_name("body")
        if declarator is None or body is None or not re.match(r"main\s*\(", text_of(declarator)):
            continue
        calls = {text_of(c.named_children[0]) for c in walk(body) if c.type == "call_expression" and c.named_children}
        if calls & STARTS:
            return
        if not start:
            source.error(
                declarator.start_byte,
                "this program has shared arrays, and main does not start the job",
                "call mpc_init(&argc, &argv) first, and mpc_exit() at the end",
            )
            return
        source.insert(body.start_byte + 1, f" {start}(0, 0);")
