"""The tree as the rules see it: text files, and C code with comments and strings blanked out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

# What git ignores, git itself, and a text that is not ours.
SKIPPED = {".git", "build", "out", ".venv", ".cache", "__pycache__"}
C_SUFFIXES = {".c", ".h", ".cpp", ".hpp"}


@dataclass(frozen=True, order=True)
class Finding:
    """One breach of one rule: where, what, why the rule is there, and how to mend it."""

    path: str
    line: int
    rule: str
    what: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.what}. Why: {self.why}. Remedy: {self.remedy}."


@dataclass
class File:
    path: str  # from the root of the tree, with '/'
    text: str

    @property
    def parts(self) -> list[str]:
        return self.path.split("/")

    @property
    def suffix(self) -> str:
        return Path(self.path).suffix

    @property
    def is_c(self) -> bool:
        return self.suffix in C_SUFFIXES

    @property
    def is_header(self) -> bool:
        return self.suffix in {".h", ".hpp"}

    @property
    def is_program_text(self) -> bool:
        return (
            self.is_c
            or self.suffix in {".py", ".cmake", ".sh"}
            or self.parts[-1] == "CMakeLists.txt"
            or self.text.startswith("#!")
        )

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")[: -1 if self.text.endswith("\n") else None]

    @cached_property
    def code(self) -> list[str]:
        """The lines of a C or C++ file, with comments and the insides of literals replaced by blanks."""
        return blank_comments(self.text).split("\n")[: len(self.lines)]


def read_tree(root: Path) -> list[File]:
    """All text files below root, sorted by path."""

    def walk(folder: Path) -> Iterator[Path]:
        for entry in sorted(folder.iterdir()):
            if entry.name in SKIPPED or entry.is_symlink():
                continue
            if entry.is_dir():
                yield from walk(entry)
            else:
                yield entry

    files = []
    for path in walk(root):
        try:
            files.append(File(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue  # a picture
    return files


LITERAL = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | \bu?8?R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'
    """,
    re.DOTALL | re.VERBOSE,
)


def blank_comments(text: str) -> str:
    """Keeps every newline, and the quotes of literals, so that lines and columns stay what they were."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        blanks = re.sub(r"[^\n]", " ", found)
        return blanks if found.startswith("/") else found[0] + blanks[1:-1] + found[-1]

    return LITERAL.sub(blank, text)
