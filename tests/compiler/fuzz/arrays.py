"""Random shared arrays of the generated programs: element types, extents, maps, and ways to write an access."""

from __future__ import annotations

import random
from dataclasses import dataclass

KINDS = ("double", "float", "int", "long", "char", "rec")
MOST_RANKS = 5  # the jobs that fuzz.py starts

# What `fuzz.py --without NAME` leaves out of the programs, and what always stays out because the compiler or the
# runtime has a known bug with it (name and bug; it is printed at each start).
CONSTRUCTS = {
    "inner": "loops inside a parallel loop whose iterations depend on each other",
    "address": "addresses of elements that the shared variable does not index, taken in a parallel loop",
    "alias": "two pointers to the array that a loop writes",
    "pointers": "accesses by *p, (*p)[i], and pointers that the body of a loop declares",
}
LEFT_OUT: dict[str, str] = {}


@dataclass(frozen=True)
class Array:
    name: str
    kind: str
    dims: tuple[int, ...]
    map: str
    first_values: bool = False

    def declaration(self, mpc: bool) -> str:
        brackets = "".join(f"[{n}]" for n in self.dims)
        initial = " = {3, 1, 4}" if self.first_values else ""
        if mpc:
            return f"shared {self.kind} {self.name}{brackets} MAP({self.map}){initial};"
        return f"#pragma SMint shared {self.map}\n{self.kind} {self.name}{brackets}{initial};"


def draw_dims(dice: random.Random) -> tuple[int, ...]:
    count = dice.choice([1, 1, 2, 2, 2, 3])
    small = [1, 2, 3, 4, 5, 7, 8, 11, 13, 17]
    if count == 1:
        return (dice.choice([1, 2, 3, 5, 7, 13, 31, 64, 97, 128, 509, 1021, 3001]),)
    if count == 2:
        if dice.random() < 0.3:
            return (dice.choice([17, 31, 37, 61, 64]), dice.choice([29, 64, 67, 128, 129, 131]))
        return (dice.choice([*small, 23, 31]), dice.choice([*small, 23, 31, 67]))
    if dice.random() < 0.3:
        return (dice.choice([7, 11, 13]), dice.choice([8, 13, 16]), dice.choice([17, 31, 64]))
    return (dice.choice(small[:8]), dice.choice(small[:8]), dice.choice(small))


def at_most(n: int) -> str:
    """The smaller of NPROCS and n, without a conditional."""
    return " + ".join(["1", *(f"(NPROCS > {k})" for k in range(1, min(n, MOST_RANKS)))])


def draw_map(dice: random.Random, dims: tuple[int, ...]) -> str:
    pieces = [dice.choice(["", "1"]) for _ in dims]
    way = dice.choice(["nprocs"] * 5 + ["second half", "constant", "both", "whole", "whole", "around", "colon"])
    cut = dice.choice([d for d, n in enumerate(dims) if n > 1] or [0])
    if way == "whole":
        return f"::[{']['.join(pieces)}]({dice.randrange(MOST_RANKS)},1)"
    if way == "second half":
        pieces[cut] = "NPROCS - NPROCS / 2" if dims[cut] > 2 else "1"
        return f"::[{']['.join(pieces)}](NPROCS / 2, NPROCS - NPROCS / 2)"
    if way == "constant":
        pieces[cut] = at_most(min(dims[cut], dice.choice([2, 3, 4])))
    elif way == "both" and len(dims) > 1:
        other = dice.choice([d for d in range(len(dims)) if d != cut])
        pieces[cut] = "1 + (NPROCS > 1)" if dims[cut] > 1 else "1"
        pieces[other] = "1 + (NPROCS > 3)" if dims[other] > 1 else "1"
    elif way == "around":
        pieces[cut] = str(min(dims[cut], dice.choice([2, 3, 4])))
        return f"::[{']['.join(pieces)}]({dice.randrange(3)},4)"
    elif way == "colon":
        pieces[cut] = f"NPROCS > 1 ? {min(dims[cut], 2)} : 1"
    else:
        pieces[cut] = "NPROCS"
    return f"::[{']['.join(pieces)}](0,NPROCS)"


def draw_array(dice: random.Random, name: str) -> Array:
    dims = draw_dims(dice)
    kind = dice.choice(KINDS)
    initial = len(dims) == 1 and dims[0] >= 3 and kind != "rec" and dice.random() < 0.2
    return Array(name, kind, dims, draw_map(dice, dims), initial)


@dataclass(frozen=True)
class Way:
    """How one piece of the program writes accesses to an array: by its name, or through a pointer that it sets before.
    Reading and writing through different names is part of what is tested."""

    array: Array
    before: tuple[str, ...] = ()
    pointer: str = ""
    extents: tuple[str, ...] = ()  # for a flat pointer
    shift: int = 0  # of the first subscript
    star: bool = False  # a flat pointer is used without brackets

    def access(self, subscripts: list[str]) -> str:
        if not self.pointer:
            return self.array.name + "".join(f"[{s}]" for s in subscripts)
        if self.extents:
            index = f"({subscripts[0]})"
            for extent, subscript in zip(self.extents[1:], subscripts[1:], strict=True):
                index = f"({index} * {extent} + {subscript})"
            if self.star:
                return f"(*({self.pointer} + {index}))"
            return f"{self.pointer}[{index[1:-1] if len(subscripts) > 1 else index}]"
        first = f"{subscripts[0]} - {self.shift}" if self.shift else subscripts[0]
        return self.pointer + "".join(f"[{s}]" for s in [first, *subscripts[1:]])

    def field(self, dice: random.Random) -> str:
        return dice.choice([".a", ".b", ".c"]) if self.array.kind == "rec" else ""


def draw_way(dice: random.Random, array: Array, number: int, plain: bool) -> Way:
    way = dice.choice(["name"] * 5 + ["flat", "shifted", "row", "vla"] + ["star", "whole"] * (not plain))
    pointer, dims = f"p{number}", array.dims
    rest = "".join(f"[{n}]" for n in dims[1:])
    if way == "whole":
        brackets = "".join(f"[{n}]" for n in dims)
        return Way(array, (f"{array.kind} (*{pointer}){brackets} = &{array.name};",), f"(*{pointer})")
    if way in ("flat", "star"):
        zeros = "[0]" * len(dims)
        extents = tuple(f"e{number}_{d}" if dice.random() < 0.3 else str(n) for d, n in enumerate(dims))
        before = [f"int {e} = {n};" for e, n in zip(extents[1:], dims[1:], strict=True) if e.startswith("e")]
        return Way(
            array, (*before, f"{array.kind} *{pointer} = &{array.name}{zeros};"), pointer, extents, star=way == "star"
        )
    if way == "row":
        return Way(array, (f"{array.kind} (*{pointer}){rest} = {array.name};",), pointer)
    if way == "shifted" and dims[0] > 2:
        shift = dice.randint(1, 2)
        return Way(array, (f"{array.kind} (*{pointer}){rest} = {array.name} + {shift};",), pointer, shift=shift)
    if way == "vla" and len(dims) > 1:
        names = [f"m{number}_{d}" for d in range(1, len(dims))]
        before = [f"int {m} = {n};" for m, n in zip(names, dims[1:], strict=True)]
        brackets = "".join(f"[{m}]" for m in names)
        return Way(array, (*before, f"{array.kind} (*{pointer}){brackets} = {array.name};"), pointer)
    return Way(array)
