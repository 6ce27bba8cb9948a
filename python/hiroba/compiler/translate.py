"""Translates preprocessed C with Hiroba's notations to C. The folders of the notations have their rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .core import pragmas, summaries
from .core.every_rank import EveryRank
from .core.notation import Part, Unit, find_directives
from .core.some_ranks import SomeRanks
from .core.source import CompileError, Source
from .core.statements import Statements
from .core.tokens import tokens_of
from .registry import NOTATIONS, STARTS

# Returns the preprocessor's result for texts, each at its line: at those of this form, in their order.
Preprocess = Callable[[re.Pattern[str], list[str]], str]


def translate(text: str, preprocess: Preprocess, flags: Sequence[str] = ()) -> tuple[str, list[str], Source]:
    """Returns the C for a compiler, the output of --explain, and the edits. Raises CompileError after printing
    errors: it has the output of --explain for what is right."""
    source = Source(with_type_of_main(text))
    source.downgraded = frozenset(flag[11:] for flag in flags if flag.startswith("-Wno-error="))
    source.silenced = frozenset(flag[5:] for flag in flags if flag.startswith("-Wno-"))
    source.checks = "--check" in flags
    source.sanitizes = any(re.match(r"-fsanitize=.*\b(undefined|bounds)", flag) for flag in flags)
    unit = Unit(source, any(n.self_starting and n.self_starting in text for n in NOTATIONS))
    parts: list[Part] = []
    try:
        parts += find(unit, preprocess)
        if all(part.first_use() is None and not part.starts_by_header() for part in parts):
            end_if_wrong(source)
            return text, [], source
        missing_headers(parts)
        rewrite(unit, parts)
    except CompileError as error:
        error.explained = explained(parts)
        raise
    finally:
        source.diagnostics.print()
    return source.edited() if source.edits else text, explained(parts), source


def explained(parts: list[Part]) -> list[str]:
    return [line for part in parts for line in part.explain]


def functions_of(text: str) -> summaries.File:
    """Describes the functions of a file without notation."""
    unit = Unit(Source(with_type_of_main(text)), self_starting=False)
    unit.parse()
    return summaries.Summaries(EveryRank(unit.rewriter, unit.flow)).file()


def find(unit: Unit, preprocess: Preprocess) -> list[Part]:
    """Returns each notation's part, which has removed its own text."""
    parts = [notation.part(notation, unit) for notation in NOTATIONS]
    find_directives(unit.source, unit.found, NOTATIONS, preprocess)
    before = unit.source.errors
    for part in parts:
        part.find()
    unit.found.misdeclared = unit.found.misdeclared or unit.source.errors > before
    unit.found.declarations.sort(key=lambda declaration: declaration.begin)
    return parts


def rewrite(unit: Unit, parts: list[Part]) -> None:
    """Reports all errors except those that follow from wrong declarations."""
    source, before = unit.source, unit.source.errors
    unit.parse()
    for part in parts:
        part.declare()
    unit.rewriter.declare_all()
    if unit.found.misdeclared or source.errors > before:
        end_if_wrong(source)
    for end in unit.found.refused:
        covered = len(unit.covered)
        parts[0].cover(end)
        source.refused += unit.covered[covered:]  # what the statement means depends on the directive
    for part in parts:
        part.rewrite()
    if not source.errors:
        for part in parts:
            part.finish()
        for part in parts:
            part.check()
    every_rank = EveryRank(unit.rewriter, unit.flow)
    every_rank.check()
    SomeRanks(unit, Statements(unit.rewriter)).check()
    unit.rewriter.rename_all()
    pragmas.rewrite(unit.rewriter, unit.bounds)
    unit.rewriter.rewrite_memory()
    start = next(filter(None, (part.start() for part in parts)), "")
    if start or any(part.needs_job() for part in parts):
        start_in_main(unit, start)
    end_if_wrong(source)
    if source.edits:
        summaries.add(summaries.Summaries(every_rank).file(), source)


def end_if_wrong(source: Source) -> None:
    if source.errors:
        raise CompileError


def missing_headers(parts: list[Part]) -> None:
    """Ends the translation if a file uses a header that it has not included."""
    missing = False
    for part in parts:
        at, header = part.first_use(), part.notation.header
        if at is not None and not part.is_included:
            part.source.error(at, f"this file does not include <{header}>", f"put #include <{header}> at its beginning")
            missing = True
    if missing:
        raise CompileError


def with_type_of_main(text: str) -> str:
    """Adds the type that the parser needs to `main()`, which is old C in the paper's programs."""
    if re.search(r"^[ \t]*main\s*\(", text, re.MULTILINE) is None:
        return text
    tokens, depth = tokens_of(text), 0
    for i, word in enumerate(tokens.words):
        depth += (word in ("(", "{", "[")) - (word in (")", "}", "]"))
        if word == "main" and depth == 0 and tokens.words[i + 1] == "(" and (i == 0 or tokens.words[i - 1] in ";}"):
            return f"{text[: tokens.places[i]]}int {text[tokens.places[i] :]}"
    return text


def start_in_main(unit: Unit, start: str) -> None:
    """Programs with directives start by themselves; others call mpc_init."""
    source, scopes = unit.source, unit.rewriter.scopes
    main = scopes.function("main")
    if main is None or main.body is None:
        return
    begin, end = main.body
    if any(begin <= at < end and denoted.name in STARTS for at, denoted in scopes.uses()):
        return
    if not start:
        source.error(
            main.at,
            "this program has shared arrays, and main does not start the job",
            "call mpc_init(&argc, &argv) first, and mpc_exit() at the end",
        )
        return
    source.insert(begin + 1, f" {start}(0, 0);")
