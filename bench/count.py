"""How much text a program is, in C or free-form Fortran: `python3 count.py PROGRAM..` shows it, and how much differs
from stencil2d/serial.c.

- Lines: physical lines on which there is code. Blank lines and comments are none, directives are (`#pragma omp`,
  `!$omp`). Programs are laid out by one formatter, so nobody wins by long lines.
- Tokens: words, numbers, strings, operators and brackets; `<sms.h>` is one.
- Lines that differ: the fewest lines that must be added, removed or replaced to make this program of another, as diff
  counts them, whatever their comments and blanks.

Tested by count_test.py. Python standard library only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# The alternatives are tried in this order, so comments and strings come first: each may contain what begins the other.
C_TEXT = re.compile(
    r"""(?P<nothing> /\*.*?\*/ | //(?:\\\n|[^\n])* | \\\n | \s+ )
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
      | (?<=include\s)<[^>\n]+>
      | \.?[0-9](?:[eEpP][+-]|[\w.])*
      | \w+
      | <<= | >>= | \.\.\. | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\| | [-+*/%&|^]= | :: | \#\#
      | .""",
    re.VERBOSE | re.DOTALL,
)
FORTRAN_TEXT = re.compile(
    r"""(?P<nothing> !(?!\$)[^\n]* | \s+ )
      | !\$
      | "(?:""|[^"\n])*" | '(?:''|[^'\n])*'
      | [0-9]+(?:\.[0-9]*)?(?:[eEdD][+-]?[0-9]+)?(?:_\w+)?
      | \w+
      | \.[a-zA-Z]+\. | \*\* | // | == | /= | <= | >= | => | ::
      | .""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Count:
    lines: int
    tokens: int
    differ: int  # lines that differ from another program


def code(text: str, fortran: bool = False) -> list[list[str]]:
    """The tokens of each line that has any; a token that goes over several lines belongs to the first of them."""
    lines: list[list[str]] = []
    last = -1
    for match in (FORTRAN_TEXT if fortran else C_TEXT).finditer(text):
        if match["nothing"] is not None:
            continue
        line = text.count("\n", 0, match.start())
        if line != last:
            lines.append([])
            last = line
        lines[-1].append(match[0])
    return lines


def distance(one: Sequence[object], other: Sequence[object]) -> int:
    """The fewest items to add, remove or replace that turn one list into the other (Levenshtein)."""
    row = list(range(len(other) + 1))
    for i, mine in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, theirs in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (mine != theirs))
    return row[-1]


def count_text(text: str, base: str, fortran: bool = False) -> Count:
    """`base` is in C."""
    lines = code(text, fortran)
    return Count(len(lines), sum(map(len, lines)), distance(code(base), lines))


def count(program: Path, base: Path) -> Count:
    return count_text(program.read_text(), base.read_text(), program.suffix == ".f90")


def main() -> int:
    if len(sys.argv) < 2:
        print("usage: count.py PROGRAM..    (.c or .f90)", file=sys.stderr)
        return 2
    base = Path(__file__).resolve().parent / "stencil2d" / "serial.c"
    print(f"{'':12} lines  tokens  differ from {base.name}")
    for name in sys.argv[1:]:
        found = count(Path(name), base)
        print(f"{Path(name).name:12} {found.lines:5}  {found.tokens:6}  {found.differ:6}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
