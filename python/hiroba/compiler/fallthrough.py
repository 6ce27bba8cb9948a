"""Comments above labels, which the preprocessor drops: `/* fall through */` is a statement for GCC."""

from __future__ import annotations

import re
from pathlib import Path

from .core.source import LINE_MARKER

LABEL = re.compile(r"[ \t]*(?:case\b|default\b|[A-Za-z_]\w*[ \t]*:)")
COMMENT = re.compile(r'//(?:[^\n\\]|\\.)*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)


class Comments:
    """The comments of one file."""

    def __init__(self, file: str) -> None:
        try:
            self.text = Path(file).read_text(encoding="latin-1")
        except OSError:
            self.text = ""
        spans = [found.span() for found in COMMENT.finditer(self.text) if found[0][0] == "/"]
        self._ends, self._begins = dict(spans), {end: begin for begin, end in spans}
        self._lines = [0, *(found.end() for found in re.finditer("\n", self.text))]

    def above(self, line: int) -> tuple[int, str]:
        """Returns the line where the comments directly before the first word of a line begin; and the text from
        there to that word."""
        text = self.text
        word = self._lines[line - 1] if 0 < line <= len(self._lines) else 0
        while word < len(text) and (text[word] in " \t" or word in self._ends):
            word = self._ends.get(word, word + 1)
        first = at = word
        while at > 0 and (text[at - 1].isspace() or at in self._begins):
            if at in self._begins:
                first = at = self._begins[at]
            else:
                at -= 1
        return text.count("\n", 0, first) + 1, text[first:word]


def with_comments(written: str) -> str:
    """Returns the text of a file for the compiler, with the comments of the user above each label."""
    out: list[str] = []
    known: dict[str, Comments] = {}
    file, number, is_user = "", 0, False
    for line in written.split("\n"):
        marker = LINE_MARKER.fullmatch(line)
        if marker is not None:
            file, number, is_user = marker[2], int(marker[1]), " 3" not in marker[3]
            out.append(line)
            continue
        if is_user and LABEL.match(line) is not None:
            if file not in known:
                known[file] = Comments(file.replace("\\\\", "\\"))
            begin, comments = known[file].above(number)
            if comments:
                out.append(f'# {begin} "{file}"')
                line = comments + line.lstrip()
        out.append(line)
        number += 1
    return "\n".join(out)
