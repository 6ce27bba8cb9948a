"""Integer expressions of C as affine forms of loop variables: constant + text + sum of factor * variable, where text
and factors are C expressions that do not change in the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .source import Node, text_of

# Types that hold all indices, so that casts to them change nothing.
WIDE = (
    *("int", "long", "long int", "long long", "long long int", "unsigned", "unsigned int", "unsigned long"),
    *("unsigned long long", "size_t", "ssize_t", "ptrdiff_t", "int32_t", "int64_t", "uint32_t", "uint64_t"),
    *("intptr_t", "uintptr_t", "unsigned long int", "unsigned long long int"),
)


@dataclass
class Form:
    constant: int = 0
    text: str = ""  # added to the constant; "" for nothing
    factors: dict[int, str] = field(default_factory=dict)  # by the number of the loop variable
    terms: dict[str, int] = field(default_factory=dict)  # the text as a sum of factors times expressions

    def __post_init__(self) -> None:
        if self.text and not self.terms:
            self.terms = {self.text: 1}

    def is_constant(self) -> bool:
        return not self.factors

    def value(self) -> str:
        """Returns the part without variables, as C."""
        if not self.text:
            return str(self.constant)
        return f"{self.text}" if self.constant == 0 else f"({self.text} + {self.constant})"

    def is_number(self) -> bool:
        return not self.factors and not self.text


def integer(text: str) -> int | None:
    try:
        return int(text.rstrip("uUlL"), 0)
    except ValueError:
        pass
    try:  # octal as C writes it
        return int(text.rstrip("uUlL"), 8)
    except ValueError:
        return None


def add(a: Form, b: Form, sign: int = 1) -> Form:
    out = Form(a.constant + sign * b.constant, a.text, dict(a.factors), dict(a.terms))
    if b.text:
        for term, times in b.terms.items():
            out.terms[term] = out.terms.get(term, 0) + sign * times
        out.terms = {term: times for term, times in out.terms.items() if times}
        out.text = f"({a.text or '0'} {'+' if sign > 0 else '-'} {b.text})" if out.terms else ""
    for k, factor in b.factors.items():
        left, right = out.factors.get(k), integer(factor)
        if left is None:
            out.factors[k] = factor if sign > 0 else (str(-right) if right is not None else f"(-{factor})")
            continue
        whole = integer(left)
        if whole is not None and right is not None:
            out.factors[k] = str(whole + sign * right)
        else:
            out.factors[k] = f"({left} {'+' if sign > 0 else '-'} {factor})"
        if out.factors[k] == "0":
            del out.factors[k]
    return out


def scale(a: Form, by: Form) -> Form:
    if by.is_number():
        n = by.constant
        factors = {}
        for k, factor in a.factors.items():
            whole = integer(factor)
            factors[k] = str(whole * n) if whole is not None else f"({factor} * {n})"
        if n == 0:
            return Form()
        terms = {term: factor * n for term, factor in a.terms.items()}
        return Form(a.constant * n, f"({a.text} * {n})" if a.text else "", factors, terms)
    value = f"({by.value()})"
    text = f"({a.value()} * {value})" if a.value() != "0" else ""
    return Form(0, text, {k: f"({factor} * {value})" if factor != "1" else value for k, factor in a.factors.items()})


class Reader:
    """Reads expressions in one loop. `variables` gives names that are affine themselves (loop variables, copies);
    `invariant` returns true if a name keeps its value; `render` writes an expression as C."""

    def __init__(
        self,
        variables: dict[str, Form],
        invariant: Callable[[Node], bool],
        render: Callable[[Node], str],
    ) -> None:
        self.variables = variables
        self._invariant = invariant
        self._render = render

    def read(self, node: Node) -> Form | None:
        kind = node.type
        if kind == "number_literal":
            value = integer(text_of(node))
            return None if value is None else Form(value)
        if kind == "char_literal":
            return Form(0, text_of(node))
        if kind == "identifier":
            known = self.variables.get(text_of(node))
            if known is not None:
                return known
            return Form(0, self._render(node)) if self._invariant(node) else None
        if kind == "parenthesized_expression":
            return self.read(node.named_children[0]) if node.named_children else None
        if kind == "cast_expression":
            inner, kind = node.child_by_field_name("value"), text_of(node.child_by_field_name("type"))
            return self.read(inner) if inner is not None and kind.strip() in WIDE else None
        if kind == "unary_expression":
            return self._unary(node)
        if kind == "binary_expression":
            return self._binary(node)
        return Form(0, f"({self._render(node)})") if self._is_invariant(node) else None

    def _is_invariant(self, node: Node) -> bool:
        """Other expressions count as one value, if nothing in them changes or has effects."""
        if node.type in ("sizeof_expression", "number_literal", "char_literal"):
            return True
        if node.type == "identifier":
            return text_of(node) not in self.variables and self._invariant(node)
        if node.type in ("binary_expression", "parenthesized_expression", "unary_expression", "conditional_expression"):
            return all(self._is_invariant(child) for child in node.named_children)
        return False

    def _unary(self, node: Node) -> Form | None:
        operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
        if operator is None or argument is None or text_of(operator) not in "+-":
            return Form(0, f"({self._render(node)})") if self._is_invariant(node) else None
        form = self.read(argument)
        if form is None:
            return None
        return form if text_of(operator) == "+" else add(Form(), form, -1)

    def _binary(self, node: Node) -> Form | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return None
        if text_of(operator) in "+-*":
            a, b = self.read(left), self.read(right)
            if a is None or b is None:
                return None
            if text_of(operator) != "*":
                return add(a, b, 1 if text_of(operator) == "+" else -1)
            if b.is_constant():
                return scale(a, b)
            if a.is_constant():
                return scale(b, a)
            return None
        return Form(0, f"({self._render(node)})") if self._is_invariant(node) else None
