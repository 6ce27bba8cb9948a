"""The states of flow.py: at a place of a function, and of a function as a whole.

A value depends on a set of atoms: RANK, or ("p", 2), the atoms of the third argument of a call, or ("g", v), those of
the variable v at file scope where the function is called; ("true", 2) means that this argument is not 0; ("x", f), the
result of f, a function of another file, and ("o", v), a variable that such functions may have changed: only a link
knows these. So a function is analysed once, and each call substitutes its own arguments.

A pointer has a set of objects as targets: variables; ("placed", p), the shared array of a pointer; ("heap", n) and
("own", n), the memory that the n-th call allocates, shared or not; ("p", k) and ("g", v), the targets of an argument
or a variable at the call; ("?", type), anything of that type, "" if that is not known either; ("?", type, name), the
target of a member of this name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .operations import Access, Call, Function, Key

Atoms = frozenset[Key]
NONE: Atoms = frozenset()


class State:
    """The state at one place. Variables of blocks that are not here have no atoms and no targets."""

    __slots__ = ("atoms", "points")

    def __init__(self, atoms: dict[Key, Atoms], points: dict[Key, Atoms]) -> None:
        self.atoms, self.points = atoms, points

    def copy(self) -> State:
        return State(dict(self.atoms), dict(self.points))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.atoms == other.atoms and self.points == other.points


@dataclass(eq=False)
class Change:
    """A write, or a call that every rank should not make, or one of a function of another file, with the atoms of the
    ranks that execute it."""

    operation: Access | Call
    objects: Atoms
    decided: Atoms
    function: Function
    given: list[Atoms] = field(default_factory=list)  # of a call: the atoms of its arguments, ...
    points: list[Atoms] = field(default_factory=list)  # ... and their targets


@dataclass(eq=False)
class Summary:
    """The effects of a call of a function."""

    returns: Atoms = NONE
    points: Atoms = NONE
    atoms: dict[Key, Atoms] = field(default_factory=dict)  # added, by object, variable, and member
    added: dict[Key, Atoms] = field(default_factory=dict)  # the new possible targets of pointers there
    changes: dict[tuple[int, ...], Change] = field(default_factory=dict)
    locks: bool = False  # it takes a lock and does not release it
    unlocks: bool = False
    opens: bool = False  # it calls functions of other files


def join(first: State | None, second: State | None, default: Callable[[Key, bool], Atoms]) -> State | None:
    if first is None or second is None:
        return first or second
    out = []
    for one, other, of_points in ((first.atoms, second.atoms, False), (first.points, second.points, True)):
        both = dict(one)
        if one != other:
            for key, value in other.items():
                old = both.get(key)
                if old is not value:
                    both[key] = value | (default(key, of_points) if old is None else old)
            for key in one.keys() - other.keys():
                both[key] = both[key] | default(key, of_points)
        out.append(both)
    return State(*out)
