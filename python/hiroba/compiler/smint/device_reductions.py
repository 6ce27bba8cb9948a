"""Reductions of loops on devices: the function of a share has variables of these names, whose values smint_devices
combines; its directive of OpenACC or OpenMP reduces within the share."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..core.declared import ARRAY
from ..core.operators import OF_OPENMP
from ..core.shared import PREFIX
from ..core.source import Node, Source
from ..core.spelling import GIVEN, How, Spelling, Variable
from ..core.text import split_list, words_with_brackets
from .reductions import Reduced

SHARE = f"{GIVEN}_share"
LOOPS = ("for", "loop", "simd", "distribute")  # words of a directive that divides the loop below it
CLAUSE = re.compile(r"\breduction[ \t]*\(")


@dataclass
class DeviceReduction:
    of: Reduced
    variable: Variable | None = None  # its declaration in the function; None: the loop does not use it
    number: int = 0  # among those that it uses

    def find(self, spelling: Spelling, top: Node) -> str:
        """Finds the declaration; returns the reason why there is none, or nothing."""
        found = spelling.variable(self.of.name, top, How.ADDRESS)
        of = spelling.declared.type_of_declarator(top)
        if isinstance(found, Variable) and (of is None or of.derived[:1] != (ARRAY,)):
            found = spelling.variable(self.of.name, top, How.COPY if self.of.first else How.OWN)
        self.variable = found if isinstance(found, Variable) else None
        return found if isinstance(found, str) else ""

    @property
    def _numbers(self) -> str:
        return f"{GIVEN}->{SHARE}.reduced[{self.number}]"

    @property
    def _base(self) -> str:
        return f"{PREFIX}base_{self.number}"

    @property
    def _rows(self) -> str:
        return f"{PREFIX}rows_{self.number}"

    @property
    def members(self) -> str:
        """Returns members of the struct of the function."""
        own = f"int64_t {self._base}, {self._rows};" if self.of.first else ""
        return own + (f" {self.variable.members}" if self.variable is not None and self.variable.members else "")

    @property
    def values(self) -> list[str]:
        return [f".{self._base} = {self.of.base}", f".{self._rows} = {self.of.rows}"] if self.of.first else []

    @property
    def begins(self) -> str:
        """Returns its declaration in the function, with the neutral value."""
        name, identity = self.of.name, OF_OPENMP[self.of.operator].identity
        if self.variable is None:
            return ""
        if not self.of.first:
            value = identity or f"*(__typeof__({name})*){self._numbers}"
            return f" {self.variable.prologue} {name} = {value};"
        base, rows = (f"{GIVEN}->{member}" for member in (self._base, self._rows))
        address = f"(void*)((char*){self._numbers} - {base} * (int64_t)sizeof {name}[0])"
        if self.variable.by_address:  # an array: a pointer to its rows
            rows_of = f"__typeof__((*({self.variable.declared('(*)')})0)[0])"
            text = f" {rows_of}* const {name} = {address};"
        else:
            text = f" {replace(self.variable, given=address).prologue}"
        text += f" const int64_t {self._base} = {base}, {self._rows} = {rows};"
        text += f" (void){name}; (void){self._base}; (void){self._rows};"
        if identity:
            count = f"{self._rows} * (int64_t)(sizeof {name}[0] / sizeof {self.of.element})"
            text += (
                f" {{ int64_t {PREFIX}i; for ({PREFIX}i = 0; {PREFIX}i < {count}; {PREFIX}i++)"
                f" ((__typeof__({self.of.element})*){self._numbers})[{PREFIX}i] = {identity}; }}"
            )
        return text

    @property
    def ends(self) -> str:
        """Returns what gives its value to smint_devices."""
        if self.of.first or self.variable is None:
            return ""
        return f" *(__typeof__({self.of.name})*){self._numbers} = {self.of.name};"

    @property
    def object(self) -> str:
        """Returns its spelling in a clause."""
        if not self.of.first:
            return self.of.name
        text, row = f"{self.of.name}[{self._base}:{self._rows}]", f"{self.of.name}[0]"
        for _ in range(self.of.element.count("[0]") - 1):
            text += f"[0:sizeof {row} / sizeof {row}[0]]"
            row += "[0]"
        return text

    @property
    def clause(self) -> str:
        return f"reduction({self.of.operator.replace('-', '+')}:{self.object})"  # parts of differences are added

    @property
    def entry(self) -> str:
        """Returns a smint_reduction."""
        one = self.of
        kind = one.kind or (
            f"((__typeof__({one.name}))0.5 != 0 ? SMINT_REAL :"
            f" (__typeof__({one.name}))-1 < 0 ? SMINT_SIGNED : SMINT_UNSIGNED)"
        )
        address, element = one.first or f"&{one.name}", one.element or one.name
        return f"{{{address}, {one.count}, sizeof {element}, {kind}, {OF_OPENMP[one.operator].smint}}}"


def list_of_reductions(used: list[DeviceReduction]) -> tuple[str, str]:
    """Returns C that declares them, and the values of the members of smint_device_loop."""
    if not used:
        return "", "0, 0"
    entries = ", ".join(each.entry for each in used)
    return f"const smint_reduction {PREFIX}reduced[] = {{{entries}}}; ", f"{PREFIX}reduced, {len(used)}"


def rewrite_clauses(source: Source, lines: list[tuple[int, str]], reductions: list[DeviceReduction]) -> None:
    """Spells the names of arrays in clauses of the program as those of the function."""
    for at, words in lines:
        for found in CLAUSE.finditer(words):
            argument = next(value for name, value in words_with_brackets(words[found.start() :]) if name == "reduction")
            begin = words.index(argument, found.end())
            new = [each.clause for each in reductions if is_in(each, argument)]
            end = words.index(")", begin + len(argument)) + 1
            source.override(at + found.start(), at + end, " ".join(new))


def is_in(one: DeviceReduction, argument: str) -> bool:
    operator, _, variables = argument.partition(":")
    return operator.rpartition(",")[2].strip() == one.of.operator and any(
        re.match(rf"{one.of.name}\b", text) for text in split_list(variables)
    )


def added_clauses(of: str, lines: list[tuple[int, str]], reductions: list[DeviceReduction]) -> str:
    """Returns clauses for the directive that begins the computation on a device."""
    if not reductions:
        return ""
    objects = ", ".join(each.object for each in reductions)
    added = f" copy({objects})" if of == "acc" else f" map(tofrom: {objects})"
    clauses = [clause for _, words in lines for clause in words_with_brackets(words)]
    named = [argument for name, argument in clauses if name == "reduction"]
    if any(name in LOOPS for name, _ in words_with_brackets(lines[0][1])):
        for each in reductions:
            if not any(is_in(each, argument) for argument in named):
                added += f" {each.clause}"
    return added
