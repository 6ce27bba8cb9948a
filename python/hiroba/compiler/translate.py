"""From preprocessed C with Hiroba's notations to C. What each notation does, its folder says."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .core import pragmas
from .core.every_rank import EveryRank
from .core.notation import Part, Unit, find_directives
from .core.source import CompileError, Node, Source, text_of, walk
from .registry import NOTATIONS, STARTS


def has_notation(text: str) -> bool:
    return any(notation.may_be_written(text) for notation in NOTATIONS)


def translate(text: str, preprocess: Callable[[str], str], flags: Sequence[str] = ()) -> tuple[str, list[str], Source]:
    """The C for a compiler, what --explain prints, and what was edited. Raises CompileError after printing what is
    wrong. `preprocess` says what the preprocessor would make of some words at the end of the file."""
    # The paper's programs say `main()`, which was C once. The parser wants a type.
    source = Source(re.sub(r"^main[ \t]*\(", "int main(", text, flags=re.MULTILINE))
    source.downgraded = frozenset(flag[11:] for flag in flags if flag.startswith("-Wno-error="))
    source.silenced = frozenset(flag[5:] for flag in flags if flag.startswith("-Wno-"))
    unit = Unit(source, any(n.self_starting and n.self_starting in text for n in NOTATIONS))
    parts = find(unit, preprocess)
    if all(part.first_use() is None and not part.starts_by_header() for part in parts):
        return text, [], source
    for part in parts:
        missing_header(part)
    rewrite(unit, parts)
    explained = [line for part in parts for line in part.explain]
    return source.edited() if source.edits else text, explained, source


def find(unit: Unit, preprocess: Callable[[str], str]) -> list[Part]:
    """Each notation's part, which has taken out of the text what is its own."""
    parts = [notation.part(notation, unit) for notation in NOTATIONS]
    find_directives(unit.source, unit.found, NOTATIONS, preprocess)
    for part in parts:
        part.find()
    unit.found.declarations.sort(key=lambda declaration: declaration.begin)
    end_if_wrong(unit.source)
    return parts


def rewrite(unit: Unit, parts: list[Part]) -> None:
    source = unit.source
    unit.parse()
    for part in parts:
        part.declare()
    unit.rewriter.declare_all()
    for part in parts:
        end_if_wrong(source)
        part.rewrite()
    if not source.errors:
        for part in parts:
            part.check()
        EveryRank(unit.rewriter, unit.flow).check()
    unit.rewriter.rename_all()
    pragmas.rewrite(unit.rewriter, unit.bounds)
    unit.rewriter.rewrite_memory()
    start_in_main(source, unit.root, next(filter(None, (part.start() for part in parts)), ""))
    end_if_wrong(source)


def end_if_wrong(source: Source) -> None:
    if source.errors:
        raise CompileError


def missing_header(part: Part) -> None:
    """Ends the translation if a file uses what it has not included."""
    at, header = part.first_use(), part.notation.header
    if at is not None and not part.is_included:
        part.source.error(at, f"this file does not include <{header}>", f"put #include <{header}> at its beginning")
        raise CompileError


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
