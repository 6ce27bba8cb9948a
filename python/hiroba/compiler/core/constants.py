"""The values of integer expressions that do not change: of literals, enumerators and const variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .affine import integer
from .declarators import enclosing, initial
from .scopes import Kind
from .source import Node, bare, text_of

if TYPE_CHECKING:
    from .declared import Declared
    from .shared import Anchor

MOST = 2**31  # beyond it the types of C decide
DEEPEST = 20  # of names that stand for others


def value_of(declared: Declared, node: Node | None, anchor: Anchor | None = None, depth: int = 0) -> int | None:
    """Returns the value of an expression; None if it is not known. Directives' words are looked up at an `anchor`."""
    return limited(_value(declared, bare(node), anchor, depth) if node is not None and depth < DEEPEST else None)


def limited(value: int | None) -> int | None:
    return value if value is not None and -MOST <= value < MOST else None


def _value(declared: Declared, node: Node, anchor: Anchor | None, depth: int) -> int | None:
    if node.type == "number_literal":
        return integer(text_of(node))
    if node.type == "identifier":
        return _of_name(declared, node, anchor, depth)
    if node.type == "unary_expression":
        value = value_of(declared, node.child_by_field_name("argument"), anchor, depth + 1)
        sign = {"-": -1, "+": 1}.get(text_of(node.child_by_field_name("operator")))
        return sign * value if sign is not None and value is not None else None
    if node.type != "binary_expression":
        return None
    a, b = (value_of(declared, node.child_by_field_name(side), anchor, depth + 1) for side in ("left", "right"))
    operator = text_of(node.child_by_field_name("operator"))
    if a is None or b is None:
        return None
    if operator in ("/", "%"):
        return _divided(a, b, operator)
    return {"+": a + b, "-": a - b, "*": a * b}.get(operator)


def _divided(a: int, b: int, operator: str) -> int | None:
    """Returns quotient or remainder as C does, towards 0."""
    if b == 0:
        return None
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if operator == "/" else a - quotient * b


def _of_name(declared: Declared, name: Node, anchor: Anchor | None, depth: int) -> int | None:
    denoted = declared.denoted(name, anchor)
    if denoted is None:
        return None
    if denoted.kind is Kind.ENUMERATOR:
        return _of_enumerator(declared, denoted.at, depth)
    top = declared.top_of(denoted) if denoted.kind is Kind.OBJECT else None
    value = initial(top) if top is not None else None
    holder = enclosing(top, "declaration") if top is not None else None
    kind = declared.type_of_declarator(top) if top is not None else None
    is_integer = (
        kind is not None and not kind.derived and re.search(r"\b(int|long|short|char)\b", kind.base) is not None
    )
    is_const = holder is not None and "const" in text_of(holder).split()
    return value_of(declared, value, None, depth + 1) if is_integer and is_const else None


def _of_enumerator(declared: Declared, at: int, depth: int) -> int | None:
    """Returns its own value, or that of the one before and 1."""
    node = declared.root.descendant_for_byte_range(at, at)
    enumerator: Node | None = enclosing(node, "enumerator") if node is not None else None
    more = 0
    while enumerator is not None:
        given = enumerator.child_by_field_name("value")
        if given is not None:
            value = value_of(declared, given, None, depth + 1)
            return value + more if value is not None else None
        more += 1
        enumerator = enumerator.prev_named_sibling
        while enumerator is not None and enumerator.type == "comment":
            enumerator = enumerator.prev_named_sibling
        if enumerator is not None and enumerator.type != "enumerator":
            return None
    return more - 1
