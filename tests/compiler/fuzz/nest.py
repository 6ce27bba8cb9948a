"""Random counted loops and subscripts. Everything stays in range for the values that the loops take, which are known
here; the text hides them behind parameters, copies and other ways to write the same."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Var:
    name: str
    values: range
    wide: bool = False  # of an unsigned type

    def low(self) -> int:
        return min(self.values, default=0)

    def high(self) -> int:
        return max(self.values, default=0)


Terms = list[tuple[int, Var]]


def low_of(terms: Terms) -> int:
    return sum(min(f * v.low(), f * v.high()) for f, v in terms)


def high_of(terms: Terms) -> int:
    return sum(max(f * v.low(), f * v.high()) for f, v in terms)


@dataclass
class Scribe:
    """Writes numbers and sums in random ways. `params` are variables that the program sets at run time."""

    dice: random.Random
    params: dict[str, int]
    inner_alone: bool = False  # loops inside a parallel one carry nothing
    addresses: bool = True  # may be taken of any element
    aliases: bool = True  # of what is written
    plain: bool = False  # no *p, no pointers of the body
    copies: list[str] = field(default_factory=list)  # declarations for the body that is being written
    _number: int = 0

    def number(self, value: int) -> str:
        if not self.params or self.dice.random() < 0.6:
            return str(value)
        name, known = self.dice.choice(sorted(self.params.items()))
        apart = value - known
        return name if apart == 0 else f"{name} {'+' if apart > 0 else '-'} {abs(apart)}"

    def _term(self, factor: int, var: Var) -> str:
        if factor == 1:
            return var.name
        if factor == -1:
            return f"-{var.name}"
        return f"{factor} * {var.name}" if self.dice.random() < 0.5 else f"{var.name} * {factor}"

    def sum(self, terms: Terms, constant: int) -> str:
        positive = [t for t in terms if t[0] > 0]
        if not positive:
            text = self.number(constant)
            rest = terms
        else:
            text = self._term(*positive[0])
            rest = [t for t in terms if t is not positive[0]]
            if constant != 0 and self.dice.random() < 0.15:
                text = f"{self.number(constant)} + {text}"
                constant = 0
        for factor, var in rest:
            text += f" {'+' if factor > 0 else '-'} {self._term(abs(factor), var)}"
        if positive and constant != 0:
            number = self.number(abs(constant))
            number = number if number.isalnum() else f"({number})"
            text += f" {'+' if constant > 0 else '-'} {number}"
        return text

    def copied(self, text: str) -> str:
        """Sometimes through a variable, which the body declares."""
        if self.dice.random() > 0.2:
            return text
        name = f"n{self._number}"
        self._number += 1
        way = self.dice.randrange(5)
        if way == 0:
            self.copies += [f"int {name};", f"{name} = {text};"]
        elif way == 1:
            self.copies += [f"int {name} = {text} - 1;", f"{name} += 1;"]
        elif way == 2:
            self.copies += [f"const long {name} = {text};"]
        else:
            self.copies += [f"int {name} = {text};"]
        return name

    def row(self, kind: str, element: str) -> str:
        """A pointer to an element, which the body declares."""
        name = f"row{self._number}"
        self._number += 1
        if self.plain or not element.endswith("][0]") or self.dice.random() < 0.5:
            self.copies += [f"{kind}{name} = &{element};"]
        else:
            self.copies += [f"{kind}{name} = {element.removesuffix('[0]')};"]
        return name

    def near(self, terms: Terms, extent: int) -> int | None:
        """A constant that keeps the sum within the extent, mostly a small one."""
        least, most = -low_of(terms), extent - 1 - high_of(terms)
        if least > most:
            return None
        if self.dice.random() < 0.8:
            return min(max(self.dice.randint(-2, 2), least), most)
        return self.dice.randint(least, most)

    def loop(self, name: str, least: int, most: int, outside: bool) -> tuple[Var, str, str]:
        """A loop whose values lie within [least, most], its header, and a declaration to stand before."""
        dice = self.dice
        least += dice.choice([0, 0, 0, 1, 1, 2])
        most -= dice.choice([0, 0, 0, 1, 1, 2])
        if dice.random() < 0.03:
            most = least - 1
        step = dice.choice([1, 1, 1, 1, 1, 2, 3, 4, -1, -1, -2, -3])
        kind = dice.choice(["int"] * 6 + ["long", "size_t"])
        if kind == "size_t" and (least < 1 or most < 1 or step < 0):
            kind = "long"
        declaration = f"{kind} {name};" if outside else ""
        begin = name if outside else f"{kind} {name}"
        if step > 0:
            values = range(least, most + 1, step)
            closed = dice.random() < 0.3
            end, sign, first = self.number(most if closed else most + 1), "<=" if closed else "<", least
        else:
            values = range(most, least - 1, step)
            closed = dice.random() < 0.6
            end, sign, first = self.number(least if closed else least - 1), ">=" if closed else ">", most
        test = f"{name} {sign} {end}" if dice.random() < 0.9 else f"{end} {'>' if step > 0 else '<'}{sign[1:]} {name}"
        update = {1: f"{name}++", -1: f"{name}--"}.get(step, f"{name} {'+' if step > 0 else '-'}= {abs(step)}")
        if dice.random() < 0.15:
            update = f"{name} = {name} {'+' if step > 0 else '-'} {abs(step)}"
        header = f"for ({begin} = {self.number(first)}; {test}; {update})"
        return Var(name, values, kind == "size_t"), header, declaration

    # ---- subscripts ----

    def _terms(self, variables: list[Var]) -> Terms:
        dice = self.dice
        if len(variables) > 1 and dice.random() < 0.15:
            a, b = dice.sample(variables, 2)
            return [(1, a), (dice.choice([1, 1, -1]), b)]
        return [(dice.choice([1, 1, 1, 1, 1, 1, -1, 2]), dice.choice(variables))]

    def subscript(self, extent: int, variables: list[Var]) -> tuple[str, str]:
        """A subscript to read with, and a condition under which it is in range ("" for always)."""
        dice = self.dice
        if not variables or dice.random() < 0.08:
            return self.number(dice.randrange(extent)), ""
        terms = self._terms(variables)
        constant = self.near(terms, extent)
        if constant is None or dice.random() < 0.08:
            if dice.random() < 0.5:
                constant = dice.randint(-2, 2)
                text = self.sum(terms, constant)
                signed = f"(int)({text})"
                return text, f"{signed} >= 0 && {signed} < {self.number(extent)}"
            return self._irregular(terms, extent), ""
        return self.copied(self.sum(terms, constant)), ""

    def _irregular(self, terms: Terms, extent: int) -> str:
        text = self.sum(terms, -low_of(terms) + self.dice.randrange(3))
        way = self.dice.randrange(5)
        if way == 0:
            return f"ix[({text}) % 64] % {extent}"
        if way == 1:
            return f"({text}) * ({text}) % {extent}"
        if way == 2:
            return f"({text}) / 2 % {extent}"
        if way == 3:
            return f"(({text}) * 7 + 3) % {extent}"
        return f"(({text}) & 3) % {extent}"
