"""What xmp.h calls the arithmetic types of C."""

from __future__ import annotations

CODES = {
    "_Bool": "XMP_BOOL",
    "char": "XMP_INT8",
    "signed char": "XMP_INT8",
    "unsigned char": "XMP_UINT8",
    "short": "XMP_INT16",
    "unsigned short": "XMP_UINT16",
    "int": "XMP_INT32",
    "unsigned": "XMP_UINT32",
    "long": "XMP_INT64",
    "unsigned long": "XMP_UINT64",
    "long long": "XMP_INT64",
    "unsigned long long": "XMP_UINT64",
    "float": "XMP_FLOAT",
    "double": "XMP_DOUBLE",
    "long double": "XMP_LONG_DOUBLE",
    "_Complex float": "XMP_COMPLEX_FLOAT",
    "_Complex double": "XMP_COMPLEX_DOUBLE",
    "_Complex long double": "XMP_COMPLEX_LONG_DOUBLE",
}


def type_code(expression: str, name: str | None = None) -> str:
    """What xmp.h calls the type of an expression, which is not executed; its name if that is known."""
    if name is not None:
        return CODES[name]
    return f"_Generic({expression}, {', '.join(f'{name}: {code}' for name, code in CODES.items())})"
