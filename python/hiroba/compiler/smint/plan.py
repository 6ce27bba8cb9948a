"""A parallel loop as C: its accesses and its smint_plan are constants, which the C compiler translates much faster than
assignments, and a list has the values that are not known before the program runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ..core.text import quoted
from .loops import Access, Values

WORD = re.compile(r"(?<!\w)[A-Za-z_]\w*")
CONSTANT = re.compile(rf"(?:[-+*/%()\s]|(?<!\w)(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\b|{WORD.pattern})*")
BASE, ELEMENT, STRIDE, LOW, HIGH, FACTOR, DIMS = 1, 3, 4, 12, 20, 28, 8  # numbers of 8 bytes in a smint_access
Entry = tuple[str, tuple[tuple[int, str], ...]]  # a smint_access as C, and the values that belong into it


def braces(values: Iterable[str]) -> str:
    return "{" + ", ".join(values) + "}"


class Writer:
    """Writes one loop. `is_enumerator`: a name is that of an enumerator where the loop begins; `is_sized`: the size of
    the elements of an access is a constant."""

    def __init__(self, is_enumerator: Callable[[str], bool], is_sized: Callable[[Access], bool]) -> None:
        self._is_enumerator, self._is_sized = is_enumerator, is_sized

    def _is_constant(self, text: str) -> bool:
        if text.isdigit():
            return True
        return CONSTANT.fullmatch(text) is not None and all(map(self._is_enumerator, WORD.findall(text)))

    def entry(self, access: Access, owns: bool, perhaps: bool) -> Entry:
        """The access with its flags for ownership and uncertainty; without subscripts, if they are not known."""
        later: list[tuple[int, str]] = []
        sized = self._is_sized(access)

        def constant(word: int, text: str) -> str:
            if word == BASE and access.base.startswith("(*"):
                return f"&{access.base[2:-1]}"
            if self._is_constant(text) or (sized and ELEMENT <= word < LOW):
                return text
            later.append((word, f"(int64_t){text}" if word == BASE else text))
            return "0"

        return write_access(access, owns, perhaps, constant), tuple(later)

    def begin(
        self,
        used: list[Entry],
        touched: list[Entry],
        loops: list[Values],
        shared: int,
        place: str,
        chunk: str = "",
        call: str = "smint_begin",
        more: str = "",
    ) -> tuple[str, str, str]:
        """Returns declarations; the plan up to the flags of the loop; and the rest with the call. `chunk`: the
        iterations that ranks take at once, if they take them while the loop runs; `more`: arguments of the call."""
        used, touched = list(dict.fromkeys(used)), list(dict.fromkeys(touched))
        entries = used if touched == used else used + touched
        known = list(dict.fromkeys([chunk] * (chunk != "") + [text for _, later in entries for _, text in later]))
        patches = [braces([str(number), str(word), str(known.index(text))])
                   for number, (_, later) in enumerate(entries) for word, text in later]  # fmt: skip
        values = [braces([each.first, each.end, each.step]) for each in loops]
        fixed = all(self._is_constant(text) for each in loops for text in (each.first, each.end, each.step))
        declared = ""
        for kind, name, words in (
            ("smint_access", "accesses", [text for text, _ in entries]),
            ("smint_patch", "patches", patches),
            ("smint_values", "values", values if fixed else []),
        ):
            declared += f"static const {kind} hiroba_{name}[] = {braces(words)}; " if words else ""
        plan = (
            f"static const smint_plan hiroba_plan = {{{'hiroba_accesses' if entries else '0'}, {len(used)},"
            f" {len(entries) - len(touched)}, {len(touched)}, {'hiroba_patches' if patches else '0'}, {len(patches)},"
            f" {len(values)}, {shared}, "
        )
        given = "hiroba_values" if fixed else f"(const smint_values[]){braces(values)}"
        list_of_known = f"(const int64_t[]){braces(known)}" if known else "0"
        return declared, plan, f", {quoted(place)}}}; {call}(&hiroba_plan, {given}, {list_of_known}{more});"


def write_access(
    access: Access, owns: bool, perhaps: bool = False, number: Callable[[int, str], str] = lambda word, text: text
) -> str:
    """Returns a smint_access as C. `number` is asked for each member that may not be a constant."""
    element, strides = access.base, []
    for d in range(len(access.low)):
        element += "[0]"
        strides.append(number(STRIDE + d, f"(int64_t)sizeof {element}"))
    base = number(BASE, f"(const void*)&{element}" if access.low else f"(const void*)({access.base})")
    flags = [*["SMINT_READS"] * access.reads, *["SMINT_WRITES"] * access.writes, *["SMINT_OWNS"] * owns]
    flags += ["SMINT_PERHAPS"] * (perhaps and bool(access.low)) + ["SMINT_ANYWHERE"] * (not access.low)
    flags += ["SMINT_INDIRECT"] * base.startswith("&")
    text, words = quoted(access.text.replace("\n", " ")), " | ".join(flags) or "0"
    if not access.low:
        return f"{{.text = {text}, .base = {base}, .flags = {words}}}"
    size = number(ELEMENT, f"(int64_t)sizeof {element}")
    bounds = [
        braces(number(word + d, form.value()) for d, form in enumerate(forms))
        for word, forms in ((LOW, access.low), (HIGH, access.high))
    ]
    factors = [
        braces([f"[{k}] = {number(FACTOR + DIMS * d + k, f)}" for k, f in form.factors.items()] or ["0"])
        for d, form in enumerate(access.low)
    ]
    members = [text, base, words, str(len(access.low)), size, braces(strides), *bounds, braces(factors)]
    return braces(members)
