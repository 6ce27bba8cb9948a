"""Tests count.py: `python3 count_test.py` says nothing and ends with 0, or shows what is wrong."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from count import Count, code, count, distance

FOLDER = Path(__file__).resolve().parent / "stencil2d"


def test_comments_and_blanks_are_no_lines() -> None:
    text = """
      /* one */

      // two
      int a; /* behind code */ int b; // and again
      /* over
         several lines */ int c;
    """
    assert code(text) == [["int", "a", ";", "int", "b", ";"], ["int", "c", ";"]], code(text)


def test_what_looks_like_a_comment_is_none() -> None:
    assert code('puts("/* no */ // no"); x = a / *p;') == [
        ["puts", "(", '"/* no */ // no"', ")", ";", "x", "=", "a", "/", "*", "p", ";"]
    ]
    assert code(r'"a \" // b" + 1') == [[r'"a \" // b"', "+", "1"]]
    assert code("c = '\"'; // a quote") == [["c", "=", "'\"'", ";"]]
    assert code("// over \\\n two lines\nint a;") == [["int", "a", ";"]]


def test_directives_are_lines() -> None:
    assert code('#pragma omp parallel for\n#include <sms.h>\n#include "common.h"') == [
        ["#", "pragma", "omp", "parallel", "for"],
        ["#", "include", "<sms.h>"],
        ["#", "include", '"common.h"'],
    ]


def test_tokens() -> None:
    assert code("a->b[i++] <<= 1.5e-3 + .5f;") == [
        ["a", "->", "b", "[", "i", "++", "]", "<<=", "1.5e-3", "+", ".5f", ";"]
    ]
    assert code("if (a < b && c > d) x = -1;")[0][2:9] == ["a", "<", "b", "&&", "c", ">", "d"]
    assert code("double a[N]::[2][](0,1);")[0][5:7] == ["::", "["]


def test_continued_lines_count_each() -> None:
    assert len(code("#define A \\\n  1 \\\n  + 2\n")) == 3
    assert len(code("call(a,\n  b);\n")) == 2


def test_fortran() -> None:
    text = """
    ! a comment
    x = 'it''s ! no comment' // "" ! but this
    !$omp parallel do
    if (a /= 1.0_real64 .and. b) y = x(1, :)[2]**3
    """
    assert code(text, fortran=True) == [
        ["x", "=", "'it''s ! no comment'", "//", '""'],
        ["!$", "omp", "parallel", "do"],
        [*("if", "(", "a", "/=", "1.0_real64", ".and.", "b", ")"), *("y", "=", "x", "(", "1", ",", ":", ")")]
        + ["[", "2", "]", "**", "3"],
    ], code(text, fortran=True)


def test_distance() -> None:
    assert distance("", "") == 0
    assert distance("abc", "abc") == 0
    assert distance("abc", "") == distance("", "abc") == 3
    assert distance("abcd", "axcd") == 1  # replaced
    assert distance("abcd", "abxcd") == 1  # added
    assert distance("abcd", "bcd") == 1  # removed
    assert distance("kitten", "sitting") == distance("sitting", "kitten") == 3


def test_layout_of_comments_does_not_matter() -> None:
    """A program with a comment and a blank line more, and other blanks, counts the same and differs nowhere."""
    base = FOLDER / "serial.c"
    text = base.read_text()
    lines = code(text)
    more = re.sub(r"\n", "\n\n  /* more */\n", text).replace(" = ", "  =  ")
    assert code(more) == lines


def test_programs() -> None:
    base = FOLDER / "serial.c"
    serial, omp = count(base, base), count(FOLDER / "omp.c", base)
    assert serial.differ == 0
    directive = ["#", "pragma", "omp", "parallel", "for"]
    reduction = ["reduction", "(", "+", ":", "change", ")"]
    assert omp == Count(serial.lines + 3, serial.tokens + 3 * len(directive) + len(reduction), 3), omp


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
