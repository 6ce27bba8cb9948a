"""What flow.py knows: at a place of a function, and of a function as a whole.

What a value depends on is a set of atoms: RANK, or ("p", 2), what the third argument of a call depends on, or ("g", v),
what the variable v at file scope does where the function is called; ("true", 2) says that this argument is not 0. So a
function is looked at once, and each call puts its own arguments in.

What a pointer points to is a set of objects: variables; ("placed", p), the shared array of a pointer; ("heap", n) and
("own", n), what the n-th call allocates, shared or not; ("p", k) and ("g", v), what an argument or a variable pointed
to at the call; ("?", type), anything of that type, "" if that is not known either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .operations import Access, Call, Function, Key

Atoms = frozenset[Key]
NONE: Atoms = frozenset()


class State:
    """What is known at one place. Variables of blocks that are not here have no atoms and point to nothing."""

    __slots__ = ("atoms", "points")

    def __init__(self, atoms: dict[Key, Atoms], points: dict[Key, Atoms]) -> None:
        self.atoms, self.points = atoms, points

    def copy(self) -> State:
        return State(dict(self.atoms), dict(self.points))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.atoms == other.atoms and self.points == other.points


@dataclass(eq=False)
class Change:
    """A write, or a call of what every rank should not call, with what decides which ranks do it."""

    operation: Access | Call
    objects: Atoms
    decided: Atoms
    function: Function


@dataclass(eq=False)
class Summary:
    """What a call of a function does."""

    returns: Atoms = NONE
    points: Atoms = NONE
    atoms: dict[Key, Atoms] = field(default_factory=dict)  # that it adds, by object, variable at file scope, and member
    added: dict[Key, Atoms] = field(default_factory=dict)  # what pointers there may point to then
    changes: dict[tuple[int, ...], Change] = field(default_factory=dict)
    locks: bool = False  # a lock is held after it that was not before
    unlocks: bool = False


def join(first: State | None, second: State | None, default: Callable[[Key, bool], Atoms]) -> State | None:
    if first is None or second is None:
        return first or second
    out = []
    for one, other, of_points in (
        (first.atoms, second.atoms, False),
        (first.points, second.points, True),
    ):
        both = dict(one)
        for key, value in other.items():
            old = both.get(key)
            both[key] = value | (default(key, of_points) if old is None else old)
        for key in one.keys() - other.keys():
            both[key] = both[key] | default(key, of_points)
        out.append(both)
    return State(*out)
