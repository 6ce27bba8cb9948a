"""Macros in directives, which the preprocessor does not expand there: their expansion, and the position of each
character of the result in the user's line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

WORD = re.compile(r"[A-Za-z_]\w*")
ANSWER = re.compile(r"hiroba_macro (\d+) : (.*?) hiroba_then (.*?) hiroba_end", re.DOTALL)


@dataclass
class Words:
    """The words of a directive."""

    text: str = ""
    pieces: list[tuple[int, int, bool]] = field(default_factory=list)  # begin, source, true for a macro

    def where(self, at: int) -> int:
        """Returns the position in the source; for the expansion of a macro, that of the macro."""
        begin, source, macro = max((piece for piece in self.pieces if piece[0] <= at), default=(0, 0, True))
        return source if macro else source + at - begin

    def add(self, text: str, source: int, macro: bool) -> None:
        if text:
            self.pieces.append((len(self.text), source, macro))
            self.text += text


def call_end(text: str, at: int) -> int:
    """Returns the position after the arguments that begin at or after `at`; -1 if there are none."""
    begin = at + len(text[at:]) - len(text[at:].lstrip())
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1 if text[begin] == "(" else -1
    return -1


class Expand:
    """`preprocess` returns the preprocessor's result for the text that belongs to each of `lines`, at its place; it is
    called at most once. Names in `plain` are words of the directives, even if the program has such macros."""

    def __init__(self, lines: list[str], plain: set[str], preprocess: Callable[[list[str]], str]) -> None:
        self._plain = plain
        # By line, and name with arguments: the expansion of the name, and of all.
        self._known: dict[tuple[int, str], tuple[str, str]] = {}
        keys: list[tuple[int, str]] = []
        questions: list[str] = []
        for line, words in enumerate(lines):
            questions.append("")
            for text in sorted({text for _, text in self._candidates(words)}):
                name = WORD.match(text)[0]  # type: ignore[index]
                question = f"hiroba_macro {len(keys)} : {name} hiroba_then {text} hiroba_end"
                questions[-1] += f"#ifdef {name}\n{question}\n#endif\n"
                keys.append((line, text))
        answers = preprocess(questions) if keys else ""
        for number, name, whole in ANSWER.findall(re.sub(r"^#.*$", "", answers, flags=re.MULTILINE)):
            self._known[keys[int(number)]] = (" ".join(name.split()), " ".join(whole.split()))

    def _candidates(self, line: str) -> list[tuple[int, str]]:
        """Returns names, with the arguments that follow, and their positions."""
        out = []
        for word in WORD.finditer(line):
            if word[0] not in self._plain:
                end = call_end(line, word.end())
                out.append((word.start(), line[word.start() : end] if end >= 0 else word[0]))
        return out

    def __call__(self, number: int, line: str, at: int) -> Words:
        """`number`: that of the line; `at`: its position in the source."""
        out, done = Words(), 0
        for begin, text in self._candidates(line):
            name = WORD.match(text)
            if begin < done or (number, text) not in self._known or name is None:
                continue
            alone, whole = self._known[number, text]
            out.add(line[done:begin], at + done, False)
            with_arguments = alone == name[0]
            out.add(whole if with_arguments else alone, at + begin, True)
            done = begin + (len(text) if with_arguments else len(name[0]))
        out.add(line[done:], at + done, False)
        return out
