"""Corrects the C compiler's messages, which are about the translated text, so that they point at the user's text."""

from __future__ import annotations

import bisect
import re
from functools import cached_property

from .core.source import LINE_MARKER, Source, as_written, original_line
from .core.wide import spell, write

COLOUR = r"(?:\x1b\[[0-9;]*[mK])*"
HEAD = re.compile(rf"({COLOUR})([^\s:][^:\n]*):(\d+):(\d+)(:.*)")


class Pointing:
    """`written`: the text for the C compiler."""

    def __init__(self, source: Source, written: str) -> None:
        self.source, self.written = source, written

    @cached_property
    def _pieces(self) -> list[tuple[int, int, bool, str]]:
        """Returns the begin of a piece of the text, its position in the source, true if it is unchanged, and itself."""
        out, begin = [], 0
        for text, at, same in self.source.pieces():
            written = write(text)
            out.append((begin, at, same, written))
            begin += len(written)
        return out

    @cached_property
    def _lines(self) -> dict[tuple[str, int], list[tuple[int, str]]]:
        """Returns the lines that came from a line of the user."""
        out: dict[tuple[str, int], list[tuple[int, str]]] = {}
        file, number, at = "", 0, 0
        for line in self.written.split("\n"):
            marker = LINE_MARKER.fullmatch(line)
            if marker is not None:
                file, number = marker[2].replace("\\\\", "\\"), int(marker[1])
            else:
                out.setdefault((file, number), []).append((at, line))
                number += 1
            at += len(line) + 1
        return out

    def column(self, file: str, line: int, column: int) -> int:
        for at, text in reversed(self._lines.get((file, line), [])):  # blanks replace the text of the others
            if len(text) - len(text.lstrip()) < column <= len(text) + 1:
                place = at + column - 1
                piece = bisect.bisect_right(self._pieces, place, key=lambda piece: piece[0]) - 1
                begin, source, same, inside = self._pieces[piece]
                return self.source.place(source + len(spell(inside[: place - begin])) if same else source).column
        return column

    def rewrite(self, messages: str) -> str:
        out: list[str] = []
        shift, told = 0, None
        for line in messages.split("\n"):
            head = HEAD.fullmatch(line)
            if head is not None:
                file, number, column = head[2], int(head[3]), int(head[4])
                mine = self.column(file, number, column)
                shift, told = mine - column, (file, number)
                out.append(f"{head[1]}{file}:{number}:{mine}{head[5]}")
                continue
            if told is not None:
                line = self._quoted(line, *told, shift)
            out.append(line)
        return "\n".join(out)

    def _quoted(self, line: str, file: str, number: int, shift: int) -> str:
        """Returns a line below a message: the user's line for a translated one, and a caret below the word."""
        bare, original = re.fullmatch(r"( *\d+ \| )?(.*)", line), original_line(file, number)
        if bare is not None and (bare[1] or bare[2]) and original is not None:
            as_it_was = as_written(original.rstrip())
            written = {as_written(text).rstrip() for _, text in self._lines.get((file, number), [])}
            if bare[2].rstrip() in {*written, as_it_was.expandtabs(8)}:
                return f"{bare[1] or ''}{as_it_was.expandtabs(1)}"
        gutter = re.match(r"[ \d]*\| ", line)
        begin = gutter.end() if gutter is not None else 0
        rest = line[begin:]
        if gutter is None and "^" not in rest or re.match(r" *\d+ \|", line):
            return line
        blanks = len(rest) - len(rest.lstrip(" "))
        return line[:begin] + " " * max(0, blanks + shift) + rest[blanks:].rstrip(" ")
