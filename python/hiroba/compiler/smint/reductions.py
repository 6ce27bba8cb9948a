"""Reductions over ranks: of variables, arrays, and sections p[base:length]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..core.arithmetic import name_of
from ..core.declared import ARRAY, POINTER, Declared, Type
from ..core.found import Directive
from ..core.operators import OF_OPENMP
from ..core.shared import Anchor, Rewriter
from ..core.source import Node, Source, parse
from ..core.text import matching, split_at_colon, split_list


@dataclass(frozen=True)
class Reduced:
    operator: str
    text: str  # as written
    name: str
    kind: str  # SMINT_SIGNED ..; "" if the type is not known
    exact: bool  # a 64-bit integer or a double holds it
    first: str = ""  # C for the address of the first element; "" for a single variable
    count: str = "1"
    element: str = ""
    base: str = "0"  # of its rows
    rows: str = "1"

    def prepare(self) -> str:
        """Ranks but the first begin with the neutral value."""
        identity = OF_OPENMP[self.operator].identity
        if not identity:
            return ""
        if not self.first:
            return f"if (sms_rank != 0) {self.name} = {identity};"
        return (
            f"if (sms_rank != 0) {{ int64_t hiroba_i; for (hiroba_i = 0; hiroba_i < {self.count}; hiroba_i++)"
            f" ((__typeof__({self.element})*){self.first})[hiroba_i] = {identity}; }}"
        )

    def combine(self, place: str) -> str:
        word, name = OF_OPENMP[self.operator].smint, self.name
        if self.first:
            return f'smint_reduce({self.first}, {self.count}, sizeof {self.element}, {self.kind}, {word}, "{place}");'
        if not self.exact:
            return (
                f"{{ __typeof__({name}) hiroba_value = {name}; smint_reduce(&hiroba_value, 1, sizeof hiroba_value,"
                f' {self.kind}, {word}, "{place}"); {name} = hiroba_value; }}'
            )
        kind = f"__typeof__({name})"
        return (
            f"{name} = ({kind})0.5 != 0 ? ({kind})smint_reduce_double((double){name}, {word})"
            f" : ({kind})smint_reduce_int64((int64_t){name}, {word});"
        )


def kind_of(of: Type | None) -> tuple[str, bool]:
    """Returns smint.h's name of an arithmetic type, and true if a 64-bit integer or a double holds all its values."""
    name = name_of(of)
    if name is None:
        return (
            ("SMINT_SIGNED", True) if of is not None and of.base.startswith("enum ") and not of.derived else ("", True)
        )
    if name.startswith("_Complex"):
        return "SMINT_COMPLEX", False
    if name in ("float", "double", "long double"):
        return "SMINT_REAL", name != "long double"
    unsigned = name.startswith("unsigned") or name == "_Bool"
    return ("SMINT_UNSIGNED" if unsigned else "SMINT_SIGNED"), name not in ("unsigned long", "unsigned long long")


class ReductionReader:
    def __init__(self, rewriter: Rewriter, declared: Declared, directive: Directive, loop: Node) -> None:
        self.rewriter, self.declared, self.directive = rewriter, declared, directive
        self.anchor = Anchor(loop.parent or loop, loop.start_byte)

    @property
    def source(self) -> Source:
        return self.rewriter.source

    def read(self, clauses: list[tuple[str, str]]) -> list[Reduced]:
        out: dict[tuple[str, str], Reduced] = {}
        for argument in [argument for name, argument in clauses if name == "reduction"]:
            words, colon, variables = argument.partition(":")
            *modifiers, operator = [word.strip() for word in words.split(",")]
            if not colon or operator not in OF_OPENMP or set(modifiers) - {"default"}:
                self._error(
                    argument,
                    f"reduction({argument})",
                    f"write reduction(op:variables) with one of {' '.join(OF_OPENMP)}",
                )
                continue
            for text in split_list(variables):
                one = self._one(operator, text)
                if one is not None:
                    out.setdefault((operator, one.name), one)
        return list(out.values())

    def _error(self, words: str, message: str, remedy: str) -> None:
        self.source.error(self.directive.place(words), message, remedy)

    def _one(self, operator: str, text: str) -> Reduced | None:
        found = re.fullmatch(r"([A-Za-z_]\w*)\s*((?:\[.*\])?)", text, re.DOTALL)
        if found is None:
            self._error(text, f"reduction of `{text}`", "name variables, arrays, or sections p[base:length]")
            return None
        name = found[1]
        if self.rewriter.resolve_name(name, self.anchor.at) is not None:
            self._error(
                name,
                f"`{name}` is shared, and a reduction combines what each rank has of its own",
                "reduce a private variable, and assign it to the shared one behind the loop, under single",
            )
            return None
        of = self.declared.type_of(parse(f"{name};").children[0].named_children[0], self.anchor)
        element = of.element() if of is not None else None
        misfit = OF_OPENMP[operator].misfit(name_of(element))
        if misfit is not None:
            self._error(name, f"`{name}` {misfit[0]}", misfit[1])
            return None
        kind, exact = kind_of(element)
        if not found[2] and (of is None or not of.derived):
            return Reduced(operator, text, name, kind, exact)
        return self._many(operator, text, name, found[2], of)

    def _many(self, operator: str, text: str, name: str, brackets: str, of: Type | None) -> Reduced | None:
        """Reads an array, or a section of one, or of a pointer's target."""
        is_array, is_pointer = ((of is not None and of.derived[:1] == (word,)) for word in (ARRAY, POINTER))
        inside = of.inside() if of is not None else None
        kind, exact = kind_of(inside.element() if inside is not None else None)
        element = name + "[0]" * ((inside.dims if inside is not None else 0) + 1)
        if not (is_array or (is_pointer and brackets)) or not kind:
            self._error(
                name,
                f"reduction of `{text}`, of which the length or the type of an element is not known",
                f"write the section {name}[0:length] of an array or a pointer to numbers" if is_pointer else
                "reduce variables and arrays of numbers",
            )  # fmt: skip
            return None
        base, length = "0", f"(int64_t)(sizeof {name} / sizeof {name}[0])"
        if brackets:
            if matching(brackets, 0) != len(brackets):
                self._error(name, f"reduction of `{text}`", f"write one bracket, of whole rows: {name}[base:length]")
                return None
            base, written = (part.strip() for part in split_at_colon(brackets[1:-1]))
            base = base or "0"
            if not written and is_pointer:
                self._error(name, f"how long `{text}` is cannot be known", f"write its length: {name}[{base}:n]")
                return None
            length = f"(int64_t)({written})" if written else f"({length} - (int64_t)({base}))"
        per = f" * (int64_t)(sizeof {name}[0] / sizeof {element})" if inside is not None and inside.dims else ""
        first, count = f"&{name}[{base}]", f"({length}{per})"
        return Reduced(operator, text, name, kind, exact, first, count, element, base, length)
