"""The operators of reductions and compound assignments: one table for all notations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Operator:
    sign: str  # in C, or in reductions
    xmp: str  # name in xmp.h
    smint: str = ""  # name in smint.h, if it is there
    number: int = -1  # index among the operators of collective.h
    identity: str = ""  # neutral value, if C can write it for every type
    integers: bool = False  # only for integers
    ordered: bool = False  # not for complex numbers
    reduces: bool = True

    def misfit(self, kind: str | None) -> tuple[str, str] | None:
        """Returns why values of this arithmetic type cannot be combined, and a remedy; None if they can."""
        if kind is None or ("float" not in kind and "double" not in kind):
            return None
        if self.integers:
            return f"is no integer, and {self.sign} is for integers", "take another operator"
        if self.ordered and kind.startswith("_Complex"):
            return f"is complex, which has no {self.sign}", "reduce its absolute value"
        return None


OPERATORS = {
    operator.sign: operator
    for operator in (
        Operator("+", "XMP_ADD", "SMINT_SUM", 0, "0"),
        Operator("-", "XMP_SUB", "SMINT_SUM", 0, "0"),
        Operator("*", "XMP_MUL", "SMINT_PROD", 1, "1"),
        Operator("&", "XMP_BITAND", "SMINT_BITAND", 6, "~0", integers=True),
        Operator("|", "XMP_BITOR", "SMINT_BITOR", 7, "0", integers=True),
        Operator("^", "XMP_BITXOR", "SMINT_BITXOR", 8, "0", integers=True),
        Operator("&&", "XMP_AND", "SMINT_AND", 4, "1"),
        Operator("||", "XMP_OR", "SMINT_OR", 5, "0"),
        Operator("max", "XMP_MAX", "SMINT_MAX", 2, ordered=True),
        Operator("min", "XMP_MIN", "SMINT_MIN", 3, ordered=True),
        Operator("firstmax", "XMP_FIRSTMAX", ordered=True),
        Operator("firstmin", "XMP_FIRSTMIN", ordered=True),
        Operator("lastmax", "XMP_LASTMAX", ordered=True),
        Operator("lastmin", "XMP_LASTMIN", ordered=True),
        Operator("/", "XMP_DIV", reduces=False),
        Operator("%", "XMP_MOD", reduces=False),
        Operator("<<", "XMP_SHL", reduces=False),
        Operator(">>", "XMP_SHR", reduces=False),
    )
}
REDUCTIONS = {sign: operator for sign, operator in OPERATORS.items() if operator.reduces}
OF_OPENMP = {sign: operator for sign, operator in REDUCTIONS.items() if operator.smint}
