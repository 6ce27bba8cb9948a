"""Checks again a text that plain.py does not classify as plain C: without comments and strings, word by word."""

from __future__ import annotations

import re

from .plain import marks_in, name_at

COMMENT = re.compile(rb'//(?:[^\n\\]|\\.)*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
INCLUDE = re.compile(
    rb"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:include|import)(?:(?=_next\b)|\b)|__has_include(?:(?=_next\b)|\b)", re.MULTILINE
)
FAMILY = re.compile(rb"smint|hiroba|\bxmp(?:\b|_)|\bsms_|\bmpc_init")
NOTATION = re.compile(rb"\bshared\s+[A-Za-z_*]|:\s*\[|\[[^]\n?]*:|<:|\?\?\(")


def names_closely(text: bytes, *, system: bool) -> list[str] | None:
    """As included_names of plain.py, with fewer false results."""
    text = re.sub(rb"\\[ \t]*\r?\n", b"", text)
    code = COMMENT.sub(lambda found: found[0] if found[0][:1] == b'"' else b" ", text)
    bare = COMMENT.sub(b'""', code)
    if (not system and NOTATION.search(bare)) or FAMILY.search((code if b"_Pragma" in bare else bare).lower()):
        return None
    names = [] if system else marks_in(bare)
    for found in INCLUDE.finditer(code):
        name = name_at(code, found.end())
        if name is None:
            return None
        names += [name] if name else []
    return names
