"""Texts with brackets: their ends, the parts between commas, and the words of a directive with their brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable


def matching(text: str, at: int) -> int:
    """Returns the position after the bracket that closes the one at `at`; -1 if none does."""
    closing = {"(": ")", "[": "]", "{": "}"}
    stack = []
    for i in range(at, len(text)):
        c = text[i]
        if c in closing:
            stack.append(closing[c])
        elif c in ")]}":
            if not stack or stack.pop() != c:
                return -1
            if not stack:
                return i + 1
    return -1


def split_list(text: str) -> list[str]:
    """Returns the parts between commas that are in no bracket."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [*parts, text[begin:].strip()]


def split_at_colon(text: str) -> tuple[str, str]:
    """Returns the text before and after the colon that belongs to no bracket and no ?:."""
    depth = questions = 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c == "?":
            questions += 1
        elif depth == 0 and c == ":":
            if questions == 0:
                return text[:i], text[i + 1 :]
            questions -= 1
    return "", text


def words_with_brackets(words: str) -> list[tuple[str, str]]:
    """Returns words with the contents of their brackets, in a directive of another compiler, which reports errors in
    it."""
    out, at = [], 0
    while (found := re.compile(r"(\w+)[ \t]*(\(?)").search(words, at)) is not None:
        end = matching(words, found.start(2)) if found[2] else found.end()
        if end < 0:
            break
        out.append((found[1], words[found.end() : end - 1].strip() if found[2] else ""))
        at = end
    return out


def spliced(text: str, begin: int, end: int, edits: Iterable[tuple[int, int, str]]) -> str:
    """Returns a part of a text, with other words in these places, which are in order."""
    pieces, at = [], begin
    for first, last, words in edits:
        pieces += [text[at:first], words]
        at = last
    return "".join([*pieces, text[at:end]])


def quoted(text: str) -> str:
    """Returns the text as a string literal of C."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def asserted(condition: str, message: str) -> str:
    """Returns C that does not compile if a condition is constant, and false."""
    return (
        f"_Static_assert(__builtin_choose_expr(__builtin_constant_p({condition}), {condition}, 1), {quoted(message)});"
    )
