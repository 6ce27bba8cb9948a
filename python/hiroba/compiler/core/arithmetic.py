"""Finds the arithmetic type of an expression, as far as its text determines it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from .declared import Type
from .source import Node, text_of

KINDS = {  # in the order of the library's types (xmp.h, collective.h), which are numbered from 0 on
    "_Bool": "BOOL",
    "char": "INT8",
    "signed char": "INT8",
    "unsigned char": "UINT8",
    "short": "INT16",
    "unsigned short": "UINT16",
    "int": "INT32",
    "unsigned": "UINT32",
    "long": "INT64",
    "unsigned long": "UINT64",
    "long long": "INT64",
    "unsigned long long": "UINT64",
    "float": "FLOAT",
    "double": "DOUBLE",
    "long double": "LONG_DOUBLE",
    "_Complex float": "COMPLEX_FLOAT",
    "_Complex double": "COMPLEX_DOUBLE",
    "_Complex long double": "COMPLEX_LONG_DOUBLE",
}
TYPES = tuple(KINDS)
NAMED = {  # words of C for the parser
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned",
    "uint64_t": "unsigned long",
    "size_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "intptr_t": "long",
    "uintptr_t": "unsigned long",
    "bool": "_Bool",
}
SMALL = ("_Bool", "char", "signed char", "unsigned char", "short", "unsigned short")
REAL = ("int", "unsigned", "long", "unsigned long", "long long", "unsigned long long", "float", "double", "long double")
COMPARE = ("==", "!=", "<", ">", "<=", ">=", "&&", "||")


def by_type(expression: str, values: Mapping[str, object]) -> str:
    """Returns C for the value that belongs to the type of an expression, which is not executed."""
    return f"_Generic({expression}, {', '.join(f'{name}: {value}' for name, value in values.items())})"


def name_of(kind: Type | None) -> str | None:
    """Returns the one spelling of an arithmetic type that TYPES has."""
    if kind is None or kind.derived:
        return None
    words = NAMED.get(kind.base, kind.base).split()
    if "char" not in words:
        words = [word for word in words if word != "signed"]
        if "int" in words and len(words) > 1:
            words.remove("int")
    order = ("_Complex", "signed", "unsigned", "short", "long", "char", "int", "float", "double", "_Bool")
    if set(words) - set(order):
        return None
    spelled = " ".join(sorted(words, key=order.index)) or "int"
    return spelled if spelled in TYPES else None


def promoted(name: str | None) -> str | None:
    return "int" if name in SMALL else name


def common(a: str | None, b: str | None) -> str | None:
    """Returns the type in which C computes, given both sides."""
    a, b = promoted(a), promoted(b)
    if a not in REAL or b not in REAL:
        return None
    if {a, b} == {"long long", "unsigned long"}:
        return "unsigned long long"
    return max(a, b, key=REAL.index)


def computed(node: Node, type_of: Callable[[Node], Type | None]) -> str | None:
    """Returns the type of an expression's value; None if its text does not determine it."""
    parts = [node.child_by_field_name(name) for name in ("left", "right")]
    if node.type == "number_literal":
        return of_number(text_of(node).lower())
    if node.type == "char_literal":
        return "int"
    if node.type == "sizeof_expression":
        return "unsigned long"
    if node.type == "conditional_expression":
        either = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
        kinds = [computed(part, type_of) if part is not None else None for part in either]
        return common(*kinds)
    if node.type == "parenthesized_expression" and len(node.named_children) == 1:
        return computed(node.named_children[0], type_of)
    operator = text_of(node.child_by_field_name("operator"))
    if node.type == "unary_expression" and operator in ("-", "+", "~"):
        argument = node.child_by_field_name("argument")
        return promoted(computed(argument, type_of)) if argument is not None else None
    if node.type == "binary_expression" and parts[0] is not None and parts[1] is not None:
        left, right = computed(parts[0], type_of), computed(parts[1], type_of)
        if operator in COMPARE:
            return "int"
        return promoted(left) if operator in ("<<", ">>") else common(left, right)
    return name_of(type_of(node))


def of_number(text: str) -> str | None:
    if "i" in text or "j" in text:
        return None
    if not text.startswith("0x") and re.search(r"[.e]", text):
        return {"f": "float", "l": "long double"}.get(text[-1], "double") if text[-1] in "fl" else "double"
    digits = text.rstrip("ul")
    if text.startswith("0x") and re.search(r"[.p]", text):
        return None
    if text != digits or not re.fullmatch(r"0|[1-9][0-9]{0,8}", digits):
        return {"l": "long", "ul": "unsigned long", "lu": "unsigned long", "u": "unsigned"}.get(text[len(digits) :])
    return "int"
