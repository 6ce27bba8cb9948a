"""What xmp.h calls the arithmetic types of C."""

from __future__ import annotations

from ..core.arithmetic import KINDS, by_type

CODES = {name: f"XMP_{kind}" for name, kind in KINDS.items()}


def type_code(expression: str, name: str | None = None) -> str:
    """What xmp.h calls the type of an expression, which is not executed; its name if that is known."""
    return CODES[name] if name is not None else by_type(expression, CODES)
