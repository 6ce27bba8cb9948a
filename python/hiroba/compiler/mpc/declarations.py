"""`shared` declarations: the word and its maps are removed from the text for the C parser."""

from __future__ import annotations

import re

from ..core.found import Declaration, Found
from ..core.maps import read_map
from ..core.source import HASH_LINE, Source, blank

SHARED = re.compile(r"\bshared\b")
SKIP = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#.*$', re.MULTILINE)


def find_shared(source: Source, found: Found) -> None:
    """`shared` is no word of C, so it is MpC only where a declaration begins and a type follows."""
    skipped = [(s.start(), s.end()) for s in SKIP.finditer(source.text)]
    text = found.text
    # Elsewhere it may be a type of the program's; with a map it is not C.
    ours = "smint_allocate" in text and not re.search(r"\btypedef\b[^;]*\bshared\s*;", text)
    for word in SHARED.finditer(source.text):
        at = word.start()
        if not source.of_user(at) or any(a <= at < b for a, b in skipped):
            continue
        before = HASH_LINE.sub("", source.text[max(0, at - 4000) : at]).rstrip()
        behind = source.text[word.end() : word.end() + 4000].lstrip()
        if ours and before[-1:] in ("(", ",") and re.match(r"[A-Za-z_][\w \t]*[ \t*]+[A-Za-z_]\w*[ \t]*[],[)]", behind):
            source.error(
                at, "a parameter cannot be shared", "take a pointer: those to shared arrays are plain pointers"
            )
            continue
        if before and before[-1] not in ";{}" and not re.search(r"\b(extern|static)$", before):
            continue
        if not re.match(r"[A-Za-z_]", behind):
            continue
        begin = at
        near = source.text[max(0, at - 200) : at]
        prefix = re.search(r"\b(extern|static)\s*$", near)
        if prefix:
            begin = at - len(near) + prefix.start()
        declaration = Declaration(at, begin, [], False)
        text = blank(text, at, word.end())
        end = declaration_end(text, at)
        i = at
        while (i := find_map(text, i, end)) >= 0:
            read = read_map(source, text, i)
            if read is None:
                break
            declaration.maps.append(read[0])
            text = blank(text, i, read[1])
            i = read[1]
        if declaration.maps or ours:
            found.declarations.append(declaration)
            found.text = text
        text = found.text


def find_map(text: str, begin: int, end: int) -> int:
    """Returns the next :: outside of brackets."""
    depth = 0
    for i in range(begin, end):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0 and text.startswith("::", i):
            return i
    return -1


def declaration_end(text: str, begin: int) -> int:
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if text[i] == ";" and depth <= 0:
            return i
    return len(text)
