"""Pairs of accesses of a parallel loop by which iterations may depend on each other. What the compiler can prove or
refute is decided here; what follows from values of the run, by smint_apart of smint.h before the loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from ..core.affine import Form, add, integer, scale
from ..core.declared import ARRAY, POINTER
from ..core.functions import LOCKS
from ..core.integers import Integers, Row, UndecidedError
from ..core.source import Node, Place, text_of, walk
from .loops import LoopReader
from .plan import quoted
from .uses import Element, Use, Uses

OTHER = 1 << 16  # added to the numbers of the second access
MOST_VARIABLES = 24  # Integers::most_variables of src/loops/integers.hpp


@dataclass
class Pair:
    """Two uses, where each is at one place under one list of conditions."""

    written: Use
    other: Use
    places: tuple[Element, Element]
    equal: list[Form]
    least: list[Form]
    by_name: bool  # of a shared array

    @cached_property
    def numbers(self) -> list[int]:
        """Those of the variables: of each access, that of the iteration first."""
        used = {k for form in self.equal + self.least for k in form.factors}
        return sorted(used | {0, OTHER})


class Conflicts:
    def __init__(self, reader: LoopReader, locked: Callable[[Node], list[tuple[int, int]]]) -> None:
        """`locked` returns the parts of a node that one rank executes at a time."""
        self.reader, self.rewriter, self.declared = reader, reader.rewriter, reader.declared
        alone = locked(self.rewriter.root)
        self.uses = [] if takes_locks(reader.loop) else [
            use for use in Uses(reader).found
            if not any(a <= each.start_byte < b for each in (use.node, use.at) for a, b in alone)
        ]  # fmt: skip
        self.outer = reader.out.loops[0]
        self.certain: tuple[Use, Use] | None = None
        self.unknown: tuple[Use, Use] | None = None  # subscripts that only their functions know
        # By the two bases, "" for those of shared names; and the rows that are at least 0, of this number of variables.
        self._calls: dict[str, dict[tuple[str, int], dict[str, None]]] = {}
        self._conditions: dict[str, str] = {}

    def report(self, place: Place) -> bool:
        """Returns true, after an error, if iterations certainly use elements that others write, or if nothing can tell
        whether they do. `place` is that of the directive."""
        self._find(f"{place.file}:{place.line}")
        write, other = self.certain or self.unknown or (None, None)
        if write is None or other is None:
            return False
        at, remedy = write.node.start_byte, "write into a second array, or make it a reduction"
        if self.certain is not None:
            how = "writes the same element" if write is other else f"uses it as `{other.text}`"
            message = f"iterations of this loop depend on each other: `{write.text}` is written, and another one {how}"
        else:
            at = (other if other.by_call and not other.places else write).node.start_byte
            message = (
                f"it cannot be told if iterations depend on each other: `{write.text}` is written, and `{other.text}` "
                "has a subscript that its function computes"
            )
            remedy = (
                "if no iteration uses what another one writes, say `parallel for independent`; else write into a "
                "second array"
            )
        self.rewriter.source.error(at, message, remedy)
        return True

    def _find(self, place: str) -> None:
        for number, first in enumerate(self.uses):
            for second in self.uses[number:]:
                if not (first.writes or second.writes) or first.when is None or second.when is None:
                    continue
                written, other = (first, second) if first.writes else (second, first)
                if first is second and first.constant:
                    continue  # all write the same
                if self.unknown is None and self._is_unknown(written, other):
                    self.unknown = (written, other)
                for pair in self._pairs(written, other):
                    meet = self._meet(pair)
                    if meet:
                        self.certain = (written, other)
                        return
                    if meet is None and len(pair.numbers) <= MOST_VARIABLES:
                        self._call(pair, place)

    # ---- pairs ----

    def _is_unknown(self, written: Use, other: Use) -> bool:
        uses, bases = (written, other), [use.base for use in (written, other)]
        if written.text == other.text or any(base is None or self._is_private(base) for base in bases):
            return False
        alike = text_of(bases[0]) == text_of(bases[1]) and written.path == other.path
        return alike and any(use.by_call and not use.places for use in uses) and all(
            use.by_call or use.places for use in uses)  # fmt: skip

    def _pairs(self, written: Use, other: Use) -> Iterator[Pair]:
        for one, two in product(written.places, other.places):
            if written.path != other.path or not (one.certain and two.certain):
                continue
            renamed = tuple(map(beside, two.forms))
            equal = self._same(one, two, renamed)
            if equal is None or equal_in_one(equal):
                continue
            for when, then in product(written.when or [], other.when or []):
                loads = [row for use, rows in ((written, when), (other, then)) if use.loads for row in rows]
                if any(row.terms and not row.factors for row in loads):
                    continue  # the condition may be what makes a load possible
                least = [*when, *one.rows, *map(beside, (*then, *two.rows))]
                yield Pair(written, other, (one, two), equal, least, self._is_named(one) and self._is_named(two))

    def _same(self, one: Element, two: Element, renamed: tuple[Form, ...]) -> list[Form] | None:
        """Returns the rows that are 0 where both are the same element; None if they never are, or it is not known."""
        bases = [self.reader.render(place.base) for place in (one, two)]
        if self._is_private(one.base) or self._is_private(two.base) or one.open or two.open:
            return None
        if bases[0] == bases[1]:
            if len(one.forms) != len(renamed):
                return None
            equal = [add(a, b, -1) for a, b in zip(one.forms, renamed, strict=True)]
            return None if any(not form.factors and not form.terms and form.constant for form in equal) else equal
        if not self._may_overlap(one, two):
            return None
        apart = f"({self._address(two)} - {self._address(one)})"
        return [add(add(self._in_line(one, one.forms), self._in_line(two, renamed), -1), Form(0, apart), -1)]

    def _in_line(self, place: Element, forms: tuple[Form, ...]) -> Form:
        """Returns the number of the element, counted from where the base points to."""
        out, part = Form(), self.reader.render(place.base)
        whole = part + "[0]" * len(forms)
        for form in forms:
            part += "[0]"
            scaled = form if part == whole else scale(form, Form(0, f"(int64_t)(sizeof {part} / sizeof {whole})"))
            out = add(out, scaled)
        return out

    def _address(self, place: Element, first: bool = False) -> str:
        """Returns where the base points to, as C; or the element if all numbers of loops are 0."""
        indices = [value_of(form) if first else "0" for form in place.forms]
        return f"&{self.reader.render(place.base)}" + "".join(f"[{index}]" for index in indices)

    def _is_private(self, base: Node) -> bool:
        if base.type == "identifier" and (shared := self.rewriter.resolve(base)) is not None:
            return shared.codims > 0 or shared.dims == 0
        of = self.declared.type_of(base)
        return of is None or of.derived[:1] == (ARRAY,) or not of.derived

    def _may_overlap(self, one: Element, two: Element) -> bool:
        """Returns true if one is a pointer, and both have elements of the same type."""
        types = [self.declared.type_of(place.base) for place in (one, two)]
        if types[0] is None or types[1] is None or types[0].base != types[1].base:
            return False
        if len(types[0].derived) != len(one.forms) or len(types[1].derived) != len(two.forms):
            return False
        pointers = [of.derived[0] == POINTER for of in types if of is not None]
        restricted = any(re.search(r"\brestrict\b|__restrict", text_of(self._declarator(place.base)))
                         for place in (one, two))  # fmt: skip
        return any(pointers) and not restricted and not (self._is_named(one) and self._is_named(two))

    def _is_named(self, place: Element) -> bool:
        return place.base.type == "identifier" and self.rewriter.resolve(place.base) is not None

    def _declarator(self, base: Node) -> Node | None:
        return self.declared.declarator(base) if base.type == "identifier" else None

    # ---- decisions ----

    def _meet(self, pair: Pair) -> bool | None:
        """Returns if iterations certainly use the same element; None if that follows from values of the run."""
        rows = [*pair.equal, *pair.least]
        if any(integer(factor) is None for form in rows for factor in form.factors.values()):
            return None
        terms = sorted({term for form in rows for term in form.terms})
        met = False
        for later in (1, -1):
            order = Form(-1, "", {0: str(-later), OTHER: str(later)})
            system = Integers([row_of(form, pair.numbers, terms) for form in pair.equal],
                              [row_of(form, pair.numbers, terms) for form in (*pair.least, order)])  # fmt: skip
            try:
                met = met or not (system.is_empty() if terms else system.solution() is None)
            except UndecidedError:
                return None
        return None if met and (terms or not pair.by_name) else met

    def _call(self, pair: Pair, place: str) -> None:
        """Adds a call of smint_apart, and the condition under which it is needed."""
        near = "" if pair.by_name else ", ".join(map(self._address, pair.places))
        if near not in self._calls:
            first = ", ".join(self._address(place, True) for place in pair.places)
            alike = f"smint_near({near}) || smint_near({first})" if near != first else f"smint_near({near})"
            operator = ">" if self.reader.counted.step < 0 else "<"
            any_iteration = f"{wide(self.outer.first)} {operator} {wide(self.outer.end)}"
            self._conditions[near] = any_iteration + f" && ({alike})" * bool(near)
        least = ", ".join(dict.fromkeys(self._cells(form, pair.numbers) for form in pair.least))
        equal = list(dict.fromkeys(self._cells(form, pair.numbers) for form in pair.equal))
        counts = f"{len(pair.numbers)}, {pair.numbers.index(OTHER)}, {len(equal)}"
        names = ", ".join(map(quoted, (pair.written.text, pair.other.text, place, self.reader.counted.name)))
        calls = self._calls.setdefault(near, {}).setdefault((least, len(pair.numbers)), {})
        calls[f"{{{names}, {counts}}}, (const int64_t[]){{{', '.join(equal)}}}"] = None

    @staticmethod
    def _cells(form: Form, numbers: list[int]) -> str:
        return ", ".join([value_of(form), *(wide(form.factors.get(k, "0")) for k in numbers)])

    def at_run_time(self) -> str:
        """Returns the C that stands before the loop."""
        out, outer = "", f"&(const smint_values){{{self.outer.first}, {self.outer.end}, {self.outer.step}}}"
        for near, lists in self._calls.items():
            out += f"if ({self._conditions[near]}) {{ "
            for (least, variables), calls in lists.items():
                count = least.count(",") // (variables + 1) + 1
                out += f"{{ const int64_t hiroba_least[] = {{{least}}}; "
                out += "".join(f"smint_apart(&(const smint_pair){call}, hiroba_least, {count}, {outer}); "
                               for call in calls)  # fmt: skip
                out += "} "
            out += "} "
        return out


def takes_locks(node: Node) -> bool:
    calls = (text_of(n.child_by_field_name("function")) for n in walk(node) if n.type == "call_expression")
    return any(map(LOCKS.search, calls))


def beside(form: Form) -> Form:
    return replace(form, factors={k + OTHER: factor for k, factor in form.factors.items()})


def equal_in_one(equal: list[Form]) -> bool:
    """Returns true if the elements are the same in the same iteration only."""
    for form in equal:
        own, others = (integer(form.factors.get(k, "0")) for k in (0, OTHER))
        if len(form.factors) == 2 and own and others == -own and not (form.constant or form.terms):
            return True
    return False


def row_of(form: Form, numbers: list[int], terms: list[str]) -> Row:
    factors = [integer(form.factors.get(k, "0")) or 0 for k in numbers]
    return [form.constant, *factors, *(form.terms.get(term, 0) for term in terms)]


def wide(text: str) -> str:
    return text if integer(text) is not None else f"(int64_t)({text})"


def value_of(form: Form) -> str:
    """Returns the part without variables as C, in 64 bits with a sign."""
    parts = [f"{factor} * {wide(term)}" if factor != 1 else wide(term) for term, factor in form.terms.items()]
    return " + ".join([str(form.constant)] * (form.constant != 0 or not parts) + parts)
