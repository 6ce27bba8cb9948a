"""Files of other languages: hirobacc passes them to their compiler unchanged, which ignores notation in them. So
notation in one is refused."""

from __future__ import annotations

import re

from .core.source import Source
from .plain import read
from .registry import FAMILIES, NOTATIONS

COMMENT = re.compile(r'_Pragma\s*\([^)\n]*\)|//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|R"(\w*)\(.*?\)\1"', re.DOTALL)
# !$xmp in any form of source; c$xmp and *$xmp in fixed form, where ! may stand in the first column, too.
SENTINEL = re.compile(rf"^(?:[ \t]*!|[cCdD*])\$({'|'.join(FAMILIES)})\b", re.MULTILINE | re.IGNORECASE)
IN_FORTRAN = (
    "write it in C (docs/from-xcalablemp.md), call the library by iso_c_binding, or use OpenMP with -fopenmp-nodes; "
    "gfortran alone compiles the program as a serial one"
)


def code_of(text: str) -> str:
    """Returns C with blanks in place of comments and strings; directives that are operators stay."""
    return COMMENT.sub(
        lambda found: found[0] if found[0].startswith("_Pragma") else re.sub(r"[^\n]", " ", found[0]), text
    )


def refuse(file: str, text: str, at: int, message: str, remedy: str) -> bool:
    """Prints an error at this place of a file."""
    head = f'# 1 "{file}"\n'
    source = Source(head + text)
    source.error(at + len(head), message, remedy)
    source.diagnostics.print()
    return True


def refuse_in_others(files: list[tuple[str, str]]) -> bool:
    """Prints the first notation of each file, which has a language, and returns true if there is any."""
    any_found = False
    for file, language in files:
        text = read(file).decode("latin-1")
        code = code_of(text)
        found = [first for notation in NOTATIONS for first in notation.first_in_cxx(code)]
        if not found:
            continue
        at, what = min(found)
        at += len(code[at:]) - len(code[at:].lstrip())
        message = f"{what} C, and this is {language}, whose compiler would ignore it"
        remedy = "put it into a C file, or call the library: sms.h and smint.h, or coarrays by hiroba.hpp"
        any_found = refuse(file, text, at, message, remedy)
    return any_found


def refuse_in_fortran(files: list[str]) -> bool:
    """The same for the sentinels of directives."""
    any_found = False
    for file in files:
        text = read(file).decode("latin-1")
        found = SENTINEL.search(text)
        if found is not None:
            at = found.start() + len(found[0]) - len(found[0].lstrip())
            message = f"directives of `{found[1]}` are C, and this is Fortran, whose compiler would ignore them"
            any_found = refuse(file, text, at, message, IN_FORTRAN)
    return any_found
