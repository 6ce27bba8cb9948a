"""Systems of linear equations and inequalities over integers: is there a solution? Equations are solved by changes of
variables that keep integers integers; inequalities by Fourier and Motzkin's elimination, with bounds rounded to
integers. src/loops/integers.cpp does the same for values that are known at run time only."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

Row = list[int]  # the constant, and the factor of each variable
MOST_ROWS, MOST_TRIED = 128, 2000


class UndecidedError(Exception):
    """The system is too large."""


class _EmptyError(Exception):
    """There is no solution."""


@dataclass
class Integers:
    """A value of each variable for which the rows of `equal` are 0, and those of `least` are at least 0."""

    equal: list[Row]
    least: list[Row]
    solved: list[tuple[int, int, Row]] = field(default_factory=list)  # variable = keep * variable + row
    removed: list[tuple[int, list[Row]]] = field(default_factory=list)  # variable, and the rows that bound it
    tried: int = 0

    def is_empty(self) -> bool:
        """Returns true if there is certainly no solution. May raise UndecidedError."""
        try:
            while self.equal:
                self._solve(self.equal.pop())
            rows = self._tight(self.least)
            while rows:
                rows = self._eliminate(rows)
        except _EmptyError:
            return True
        return False

    def solution(self) -> list[int] | None:
        """Returns the values of the variables; None if there are none. May raise UndecidedError."""
        size = len((self.equal + self.least)[0])
        if self.is_empty():
            return None
        values = [1] + [0] * (size - 1)
        if not self._assign(len(self.removed) - 1, values):
            return None
        for variable, keep, row in reversed(self.solved):
            values[variable] = keep * values[variable] + _value(row, values)
        return values[1:]

    # ---- equations ----

    def _solve(self, row: Row) -> None:
        while True:
            common = gcd(*row[1:])
            if common == 0 or row[0] % common:
                if row[0] == 0 and common == 0:
                    return
                raise _EmptyError
            row = [each // common for each in row]
            variable = min((k for k in range(1, len(row)) if row[k]), key=lambda k: abs(row[k]))
            factor = row[variable]
            unit = abs(factor) == 1
            # With a factor of 1, the row gives the variable. Else another variable takes its place: of the row remain
            # the residues, which are smaller.
            given = [-each * factor if unit else -(each // factor) for each in row]
            given[variable] = 0
            self._replace(variable, 0 if unit else 1, given)
            if unit:
                return
            row = [each % factor if k != variable else each for k, each in enumerate(row)]

    def _replace(self, variable: int, keep: int, given: Row) -> None:
        self.solved.append((variable, keep, given))
        for rows in (self.equal, self.least):
            for row in rows:
                factor = row[variable]
                if factor:
                    row[variable] = keep * factor
                    for k, each in enumerate(given):
                        row[k] += factor * each

    # ---- inequalities ----

    def _tight(self, rows: list[Row]) -> list[Row]:
        """Divides by common factors, and leaves out what follows from others."""
        out: dict[tuple[int, ...], int] = {}
        for row in rows:
            common = gcd(*row[1:])
            if common == 0:
                if row[0] < 0:
                    raise _EmptyError
                continue
            factors, bound = tuple(each // common for each in row[1:]), row[0] // common
            out[factors] = min(bound, out.get(factors, bound))
            opposite = out.get(tuple(-each for each in factors))
            if opposite is not None and opposite + out[factors] < 0:
                raise _EmptyError
        if len(out) > MOST_ROWS:
            raise UndecidedError
        return [[bound, *factors] for factors, bound in out.items()]

    def _eliminate(self, rows: list[Row]) -> list[Row]:
        def cost(k: int) -> int:
            return sum(row[k] > 0 for row in rows) * sum(row[k] < 0 for row in rows)

        variable = min((k for k in range(1, len(rows[0])) if any(row[k] for row in rows)), key=cost)
        self.removed.append((variable, [row for row in rows if row[variable]]))
        out = [row for row in rows if not row[variable]]
        for low in (row for row in rows if row[variable] > 0):
            for high in (row for row in rows if row[variable] < 0):
                out.append([low[variable] * b - high[variable] * a for a, b in zip(low, high, strict=True)])
        return self._tight(out)

    def _assign(self, at: int, values: list[int]) -> bool:
        """Gives values to the variables that were eliminated, in the opposite order."""
        if at < 0:
            return True
        variable, rows = self.removed[at]
        lows, highs = [], []
        values[variable] = 0
        for row in rows:
            rest, factor = _value(row, values), row[variable]
            lows += [-(rest // factor)] if factor > 0 else []
            highs += [rest // -factor] if factor < 0 else []
        low = max(lows) if lows else min([0, *highs])
        high = min(highs) if highs else max([0, low])
        for value in range(low, high + 1):
            self.tried += 1
            if self.tried > MOST_TRIED:
                raise UndecidedError
            values[variable] = value
            if self._assign(at - 1, values):
                return True
        return False


def _value(row: Row, values: list[int]) -> int:
    return sum(a * b for a, b in zip(row, values, strict=True))
