"""The words of a directive, with the contents of their brackets."""

from __future__ import annotations

import re

from .found import Directive
from .source import Source
from .text import matching


def clauses_of(source: Source, directive: Directive) -> list[tuple[str, str]]:
    out = []
    rest = words = directive.words
    where = directive.where or (lambda _: directive.at)
    while rest:
        name = re.match(r"\w+", rest)
        if name is None:
            at = where(len(words) - len(rest))
            source.error(at, f"cannot read `{rest}` in this directive", "write words, with brackets behind some")
            break
        rest = rest[name.end() :].lstrip()
        argument = ""
        if rest.startswith("("):
            end = matching(rest, 0)
            if end < 0:
                at = where(len(words) - len(rest))
                source.error(at, f"the bracket of `{name[0]}` is not closed", "close it on the same line")
                break
            argument, rest = rest[1 : end - 1], rest[end:]
        out.append((name[0], argument.strip()))
        rest = rest.lstrip(", \t")
    return out
