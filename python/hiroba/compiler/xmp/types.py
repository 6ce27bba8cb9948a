"""The names of C's arithmetic types in xmp.h."""

from __future__ import annotations

from ..core.arithmetic import KINDS, by_type

CODES = {name: f"XMP_{kind}" for name, kind in KINDS.items()}


def type_code(expression: str, name: str | None = None) -> str:
    """Returns xmp.h's name of the type of an expression, which is not executed; its name if that is known."""
    return CODES[name] if name is not None else by_type(expression, CODES)
