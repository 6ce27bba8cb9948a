"""#pragma SMint shared ::[a][b](first, count), above a declaration."""

from __future__ import annotations

from ..core.found import Declaration, Found, Line
from ..core.maps import read_map
from ..core.source import Source


def take_shared(source: Source, found: Found, line: Line) -> None:
    expanded = line.words
    words = expanded.text
    begin = words.find("::")
    if begin < 0:
        source.error(line.at, "#pragma SMint shared without a map", "write for example ::[NPROCS][](0,NPROCS)")
        return
    read = read_map(source, words, begin, expanded.where)
    if read is None:
        return
    rest = words[read[1] :].strip().rstrip(";").strip()
    if rest:
        source.error(
            expanded.where(words.index(rest, read[1])),
            f"`{rest}` behind the map of #pragma SMint shared",
            "end the line behind the map",
        )
    read[0].at = line.at
    found.declarations.append(Declaration(line.at, line.end, [read[0]], True))
