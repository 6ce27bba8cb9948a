"""C++ files: hirobacc passes them to the C++ compiler unchanged, which ignores notation in them. So notation in one
is refused."""

from __future__ import annotations

import re
from pathlib import Path

from .core.source import Source
from .registry import NOTATIONS

CXX = (".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".hpp", ".hh", ".hxx")
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|R"(\w*)\(.*?\)\1"', re.DOTALL)


def is_cxx(word: str, language: str) -> bool:
    """Returns true if this is a C++ file; `language` is the value of the last -x."""
    if word.startswith("-"):
        return False
    return language.startswith("c++") or (language == "none" and word.endswith(CXX))


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
