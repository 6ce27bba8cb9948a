"""Follows the calls of a program from main through its files: finds what every rank does although one should, by what
core/summaries.py says of the functions of each object. What is not certain is no mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .core.every_rank import changed_by_all
from .core.functions import OURS, TIMES
from .core.summaries import Called, Changed, File, Functions

MAX_CALLS = 10_000
ENVIRONMENT = ("getenv", "secure_getenv", "getpid", "getrusage", "sched_getcpu")


@dataclass(frozen=True)
class Given:
    """An argument: true if it may differ from rank to rank, and the shared arrays to which it certainly points."""

    differs: bool
    objects: frozenset[str]


@dataclass(frozen=True)
class Mistake:
    place: str
    kind: str
    text: str
    remedy: str


@dataclass
class Calls:
    files: dict[str, File]  # by object
    symbols: Mapping[str, list[tuple[str, str]]]
    _known: dict[str, Functions] = field(default_factory=dict)
    _variables: dict[str, set[str]] = field(default_factory=dict)
    _gives: dict[str, bool] = field(default_factory=dict)
    _defined: dict[str, str] = field(default_factory=dict)  # the object of each name

    def __post_init__(self) -> None:
        for file in self.files.values():
            self._known |= file["functions"]
            for name, atoms in file["variables"].items():
                self._variables.setdefault(name, set()).update(atoms)
        for object_file, found in self.symbols.items():
            self._defined |= {name: object_file for kind, name in found if kind in "TWDBRCVGS"}

    def from_main(self) -> list[Mistake]:
        out: dict[tuple[str, str], Mistake] = {}
        waiting: list[tuple[str, tuple[Given, ...], str]] = [("main", (), "")]
        seen = set(waiting)
        while waiting and len(seen) < MAX_CALLS:
            name, given, path = waiting.pop()
            function = self._known.get(name)
            for change in function["changes"] if function is not None else ():
                text = self._text(change, given)
                if text and not self._differs(change["atoms"], given):
                    remedy = f"{change['remedy']}{path}"
                    found = Mistake(change["place"], change["kind"], text, remedy)
                    out.setdefault((found.place, found.text), found)
            for call in function["calls"] if function is not None else ():
                if call["name"] in self._known and not self._differs(call["atoms"], given):
                    step = (call["name"], self._bound(call, given), f"; {call['name']} is called at {call['place']}")
                    if step not in seen:
                        seen.add(step)
                        waiting.append(step)
        return sorted(out.values(), key=lambda found: found.place)

    def _bound(self, call: Called, given: tuple[Given, ...]) -> tuple[Given, ...]:
        return tuple(
            Given(self._differs(argument["atoms"], given), self._objects(argument["objects"], given))
            for argument in call["arguments"]
        )

    def _text(self, change: Changed, given: tuple[Given, ...]) -> str:
        objects = self._objects(change["objects"], given)
        return change["text"] or (changed_by_all(min(objects)) if objects else "")

    def _objects(self, objects: Iterable[str], given: tuple[Given, ...]) -> frozenset[str]:
        out: frozenset[str] = frozenset()
        for thing in objects:
            kind, _, number = thing.partition(" ")
            if number:
                here = given[int(number)].objects if int(number) < len(given) else frozenset[str]()
                if not here:
                    return here
                out |= here
            else:
                out |= {kind}
        return out

    def _differs(self, atoms: Iterable[str], given: tuple[Given, ...] = ()) -> bool:
        """Returns true if a value with these atoms may differ from rank to rank."""
        for atom in atoms:
            kind, _, name = atom.partition(" ")
            if kind == "rank" or (kind == "x" and self._gives_rank(name)):
                return True
            if kind == "p" and int(name) < len(given) and given[int(name)].differs:
                return True
            if kind == "v" and self._gives_rank(name, is_variable=True):
                return True
        return False

    def _gives_rank(self, name: str, *, is_variable: bool = False) -> bool:
        key = f"{is_variable} {name}"
        if key not in self._gives:
            self._gives[key] = False  # for a circle nothing is known yet
            function = self._known.get(name)
            if is_variable:
                self._gives[key] = self._is_used_elsewhere(name) or self._differs(self._variables.get(name, ()))
            elif function is not None:
                self._gives[key] = self._differs(function["gives"])
            else:
                file = self._defined.get(name)
                self._gives[key] = file is None or not self._is_alone(file)
        return self._gives[key]

    def _is_used_elsewhere(self, variable: str) -> bool:
        """Returns true if objects of which too little is known may set a variable."""
        unknown = [file for file in self.symbols if file not in self.files and not self._is_alone(file)]
        return any(name == variable for file in unknown for _, name in self.symbols[file])

    def _is_alone(self, object_file: str) -> bool:
        """Returns true if an object without notation uses nothing that tells ranks apart."""
        for kind, name in self.symbols[object_file]:
            if kind in "Uw" and (name.startswith(OURS) or name in (*TIMES, *ENVIRONMENT) or self._defined.get(name)):
                return False
        return True
