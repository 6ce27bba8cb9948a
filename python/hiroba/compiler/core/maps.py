"""Maps of shared arrays, `::[NPROCS][1](0,NPROCS)`, in a declaration or a directive."""

from __future__ import annotations

from collections.abc import Callable

from .found import Map
from .source import Source, one_line
from .text import matching, split_at_colon, split_list


def read_map(source: Source, text: str, at: int, where: Callable[[int], int] = lambda i: i) -> tuple[Map, int] | None:
    """Returns the map that begins with the :: at `at`, and its end; `where` maps a position in the text to the
    source."""
    found = Map(at, at, [])
    i = at + 2
    while (skipped := len(text[i:]) - len(text[i:].lstrip())) >= 0 and text[i + skipped : i + skipped + 1] == "[":
        i += skipped
        end = matching(text, i)
        if end < 0:
            source.error(
                where(i), "this map has a bracket that is not closed", "write for example ::[NPROCS][1](0,NPROCS)"
            )
            return None
        extent, pieces = split_at_colon(text[i + 1 : end - 1])
        found.pieces.append(one_line(pieces))
        found.extent.append(one_line(extent))
        i = end
    if not found.pieces:
        source.error(
            where(at), "a map begins with a bracket per dimension", "write for example ::[NPROCS][1](0,NPROCS)"
        )
        return None
    behind = i + len(text[i:]) - len(text[i:].lstrip())
    if text[behind : behind + 1] == "(":
        end = matching(text, behind)
        ranks = split_list(text[behind + 1 : end - 1]) if end > 0 else []
        if len(ranks) != 2 or "" in ranks:
            source.error(where(behind), "a map ends with (first rank, number of ranks)", "write for example (0,NPROCS)")
            return None
        found.first, found.count = one_line(ranks[0]), one_line(ranks[1])
        i = end
    found.end = i
    return found, i
