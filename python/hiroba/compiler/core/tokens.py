"""C text as tokens: words, numbers, literals and punctuation. Blanks, comments and lines that begin with # are left
out."""

from __future__ import annotations

import re
from dataclasses import dataclass

WORD = r"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*"
TOKEN = re.compile(
    r"\s+|^[ \t]*#.*$|//[^\n]*|/\*[\s\S]*?\*/"
    r"|((?:u8|[LuU])?\"(?:[^\"\\\n]|\\.)*\"|[LuU]?'(?:[^'\\\n]|\\.)*'"
    rf"|{WORD}|\.?[0-9](?:[eEpP][+-]|[\w.])*"
    r"|->|\+\+|--|&&|\|\||\.\.\.|<<=|>>=|<<|>>|[-+*/%&|^<>=!]=|<:|:>|<%|%>|.)",
    re.MULTILINE,
)
DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}"}


@dataclass(frozen=True)
class Tokens:
    """`words` ends with an empty one, at the end of the text."""

    words: list[str]
    places: list[int]


def is_word(token: str) -> bool:
    """Returns true for an identifier or a keyword."""
    first = token[:1]
    return (first.isalpha() or first in "_$" or first >= "\x80") and token[-1:] not in "\"'" if first else False


def tokens_of(text: str) -> Tokens:
    words, places = [], []
    for found in TOKEN.finditer(text):
        if found[1] is not None:
            words.append(DIGRAPHS.get(found[1], found[1]))
            places.append(found.start())
    return Tokens([*words, ""], [*places, len(text)])
