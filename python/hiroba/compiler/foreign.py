"""C++ files: hirobacc passes them to the C++ compiler unchanged, which ignores notation in them. So notation in one
is refused."""

from __future__ import annotations

import re
from pathlib import Path

from .core.source import Source
from .registry import NOTATIONS

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|R"(\w*)\(.*?\)\1"', re.DOTALL)


def refuse_notation(files: list[str]) -> bool:
    """Prints the first notation of each file, and returns true if there is any."""
    any_found = False
    for file in files:
        try:
            text = Path(file).read_text(encoding="latin-1")
        except OSError:
            continue  # the compiler reports it
        code = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        found = [first for notation in NOTATIONS for first in notation.first_in_cxx(code)]
        if not found:
            continue
        at, what = min(found)
        any_found = True
        at += len(code[at:]) - len(code[at:].lstrip())
        source = Source(f'# 1 "{file}"\n{text}')
        source.error(
            at + len(f'# 1 "{file}"\n'),
            f"{what} C, and this is C++, whose compiler would ignore it",
            "put it into a C file, or call the library: sms.h and smint.h, or coarrays by hiroba.hpp",
        )
        source.diagnostics.print()
    return any_found
