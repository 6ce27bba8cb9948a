"""Notes on shared arrays in an object file for a link: a constant per declaration, which C computes and link.py
finds by its first number. Only the C compiler needs to know extents."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .text import quoted

MAGIC = 0x9D1A6F30B52EC847
MOST_DIMS = 8
NUMBERS = struct.Struct(f"={5 + MOST_DIMS}Q")


@dataclass(frozen=True)
class Note:
    name: str
    place: str  # file:line:column
    defined: bool  # else extern
    bytes: int  # of all; 0 if the declaration leaves its first extent open
    element: int
    extents: tuple[int, ...]

    def shape(self) -> str:
        return "".join(f"[{n or ''}]" for n in self.extents) or "no extents"

    def agrees(self, other: Note) -> bool:
        if 0 in (self.bytes, other.bytes):
            return self.element == other.element and self.extents[1:] == other.extents[1:]
        same_extents = self.extents == other.extents or len(self.extents) != len(other.extents)  # typedefs hide some
        return self.bytes == other.bytes and same_extents


def written(
    number: int, name: str, place: str, *, defined: bool, array: str, extents: list[str], complete: bool
) -> str:
    """Returns C at file scope. `array`: an expression for all of it, of which the first extent may be open."""
    element = array + "[0]" * len(extents)
    shape = ["0" if i == 0 and not complete else extent for i, extent in enumerate(extents[:MOST_DIMS])]
    whole = f"sizeof {array}" if complete else "0"
    numbers = [f"{MAGIC:#x}ull", str(int(defined)), whole, f"sizeof {element}", str(len(shape)), *shape]
    text = f'{quoted(name)} "\\0" {quoted(place)}'
    members = f"unsigned long long n[{5 + MOST_DIMS}]; char text[sizeof {text}];"
    return (
        f" __attribute__((used)) static const struct {{ {members} }}"
        f" hiroba_note_{number}_{name} = {{{{{', '.join(numbers)}}}, {text}}};"
    )


def notes_in(contents: bytes) -> list[Note]:
    out, mark, at = [], struct.pack("=Q", MAGIC), -1
    while (at := contents.find(mark, at + 1)) >= 0:
        if at + NUMBERS.size > len(contents):
            break
        _, defined, whole, element, dims, *extents = NUMBERS.unpack_from(contents, at)
        name, place = contents[at + NUMBERS.size : at + NUMBERS.size + 8192].split(b"\0")[:2]
        if dims <= MOST_DIMS:
            shape = tuple(extents[:dims])
            out.append(Note(name.decode("latin-1"), place.decode("latin-1"), bool(defined), whole, element, shape))
    return out
