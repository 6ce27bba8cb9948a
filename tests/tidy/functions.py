"""Finds the functions of C and C++ code by its braces: no parser, right for code that clang-format has seen."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SCOPE = re.compile(r"\b(?:namespace|struct|class|union|enum|extern)\b")
AFTER_PARAMETERS = re.compile(r"\)\s*(?:(?:const|noexcept|override|final|mutable|&&?)\s*)*(?:->[^;{}]*|:[^:][^;{}]*)?$")
TEMPLATE = re.compile(r"\btemplate\s*<[^{};]*?>(?=\s*[\w:])")
ACCESS = re.compile(r"\b(?:public|private|protected)\s*:")


@dataclass
class Brace:
    kind: str  # "scope": functions may be inside; "function"; "other": an initialiser, or inside a function
    name: str
    line: int


def name_of(head: str) -> str:
    words = re.findall(r"[\w:~]+(?=\s*\()", head)
    return words[0] if words else "a function"


def kind_of(head: str, inside: str) -> str:
    if inside != "scope":
        return "other"
    if AFTER_PARAMETERS.search(head):
        return "function"
    return "scope" if SCOPE.search(head) else "other"


def without_preprocessor(code: list[str]) -> Iterator[str]:
    continued = False
    for line in code:
        directive = continued or line.lstrip().startswith("#")
        continued = directive and line.rstrip().endswith("\\")
        yield "" if directive else line


def c_functions(code: list[str]) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of every function, in blanked code (source.File.code)."""
    stack: list[Brace] = []
    head, head_line = "", 0
    closed: Brace | None = None  # a function that has just ended, in whose place its body may begin: A() : x{1} {}
    for number, line in enumerate(without_preprocessor(code), 1):
        for character in line + " ":
            if character == "{":
                inside = stack[-1].kind if stack else "scope"
                plain = ACCESS.sub("", TEMPLATE.sub("", head)).strip()
                if closed and (not plain or plain.startswith(",")):
                    stack.append(closed)
                else:
                    stack.append(Brace(kind_of(plain, inside), name_of(plain), head_line or number))
                head, head_line, closed = "", 0, None
            elif character == "}":
                closed = stack.pop() if stack else None
                if closed and closed.kind == "function":
                    yield closed.name, closed.line, number
                else:
                    closed = None
                head, head_line = "", 0
            elif character == ";":
                head, head_line, closed = "", 0, None
            else:
                if not head_line and not character.isspace():
                    head_line = number
                head += character
                if ACCESS.fullmatch(head.strip()):
                    head, head_line = "", 0
