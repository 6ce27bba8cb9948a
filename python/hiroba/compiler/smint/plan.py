"""A parallel loop as C: its accesses, the values of its variables, and its smint_plan. They are constants where that is
possible, because the C compiler translates these much faster than assignments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..core.text import quoted
from .loops import Access, Values

WORD = re.compile(r"(?<!\w)[A-Za-z_]\w*")
CONSTANT = re.compile(rf"(?:[-+*/%()\s]|(?<!\w)(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\b|{WORD.pattern})*")


def braces(values: Iterable[str]) -> str:
    return "{" + ", ".join(values) + "}"


@dataclass
class Table:
    kind: str  # the type of its elements
    words: list[str]
    constant: bool

    def declared(self, name: str) -> str:
        return f"static const {self.kind} {name}[] = {braces(self.words)}; " if self.constant and self.words else ""

    def given(self, name: str) -> str:
        """Returns an argument. `name`: of the constant."""
        if not self.words:
            return "0"
        return name if self.constant else f"(const {self.kind}[]){braces(self.words)}"


class Writer:
    """Writes the tables of a loop. `is_enumerator`: a name is that of an enumerator where the loop begins."""

    def __init__(self, is_enumerator: Callable[[str], bool]) -> None:
        self._is_enumerator = is_enumerator

    def _is_constant(self, *texts: str) -> bool:
        return all(CONSTANT.fullmatch(text) and all(map(self._is_enumerator, WORD.findall(text))) for text in texts)

    def _is_constant_access(self, access: Access) -> bool:
        """Returns true if only the address of its array, a shared one, is not known before the program runs."""
        forms = [*access.low, *access.high]
        factors = [factor for form in forms for factor in form.factors.values()]
        return access.base.startswith("(*") and self._is_constant(*(form.value() for form in forms), *factors)

    def accesses(self, known: list[tuple[Access, bool, bool]], anywhere: Iterable[Access] = ()) -> Table:
        """Each with its flags for ownership and uncertainty; and those whose subscripts are not known."""
        unknown = list(anywhere)
        constant = all(map(self._is_constant_access, [*(access for access, _, _ in known), *unknown]))
        words = [write_access(access, owns, perhaps, constant) for access, owns, perhaps in known]
        words += [write_anywhere(access, constant) for access in unknown]
        return Table("smint_access", list(dict.fromkeys(words)), constant)

    def values(self, loops: list[Values]) -> Table:
        constant = all(self._is_constant(each.first, each.end, each.step) for each in loops)
        return Table("smint_values", [braces([each.first, each.end, each.step]) for each in loops], constant)


def begin(used: Table, touched: Table, values: Table, shared: int, place: str) -> tuple[str, str, str]:
    """Returns declarations; the call of smint_begin up to the flags of the loop; and the rest of it."""
    declared = used.declared("hiroba_used") + values.declared("hiroba_values")
    again = touched == used and used.constant
    given = touched.given("hiroba_used" if again else "hiroba_touched") if touched.constant else "0"
    declared += "" if again else touched.declared("hiroba_touched")
    count = len(touched.words) if touched.constant else 0
    plan = (
        f"{'static ' * used.constant}const smint_plan hiroba_plan = {{{used.given('hiroba_used')}, {given},"
        f" {len(used.words)}, {count}, {len(values.words)}, {shared}, "
    )
    rest = f", {quoted(place)}}}; smint_begin(&hiroba_plan, {values.given('hiroba_values')});"
    if touched.words and not touched.constant:
        rest += f" if (smint_checking()) smint_touches({touched.given('')}, {len(touched.words)});"
    return declared, plan, rest


def used_flags(access: Access) -> list[str]:
    return ["SMINT_READS"] * access.reads + ["SMINT_WRITES"] * access.writes


def write_access(access: Access, owns: bool, perhaps: bool = False, indirect: bool = False) -> str:
    """`indirect`: the base is the address of the pointer to the array."""
    element, strides = access.base, []
    for _ in access.low:
        element += "[0]"
        strides.append(f"(int64_t)sizeof {element}")
    flags = [*used_flags(access), *["SMINT_OWNS"] * owns, *["SMINT_PERHAPS"] * perhaps, *["SMINT_INDIRECT"] * indirect]
    factors = [braces([f"[{k}] = {f}" for k, f in form.factors.items()] or ["0"]) for form in access.low]
    base = f"&{access.base[2:-1]}" if indirect else f"(const void*)&{element}"
    return (
        f"{{{quoted(access.text.replace(chr(10), ' '))}, {base}, {' | '.join(flags) or 0}, {len(access.low)},"
        f" {strides[-1]},"
        f" {braces(strides)}, {braces(f.value() for f in access.low)}, {braces(f.value() for f in access.high)},"
        f" {braces(factors)}}}"
    )


def write_anywhere(access: Access, indirect: bool) -> str:
    flags = [*used_flags(access), "SMINT_ANYWHERE", *["SMINT_INDIRECT"] * indirect]
    base = f"&{access.base[2:-1]}" if indirect else f"(const void*)({access.base})"
    return f"{{.text = {quoted(access.text)}, .base = {base}, .flags = {' | '.join(flags)}}}"
