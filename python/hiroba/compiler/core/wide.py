"""Names with characters beyond ASCII, which C allows: in the text of a file each such character is spelled in ASCII, so
that names are words for all that reads it. Text is held as Latin-1, one character per byte; see source.py."""

from __future__ import annotations

import re

UCN = r"\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}"
STRING = r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'"
NAME = re.compile(rf"{STRING}|(?:\w|[\x80-\xff]|{UCN})+")
SPELLED = re.compile(r"hirobau([0-9a-f]+)_")


def is_narrow(text: str) -> bool:
    return text.isascii() and "\\u" not in text and "\\U" not in text


def spell(text: str) -> str:
    """Returns the text with its names in ASCII."""
    return text if is_narrow(text) else NAME.sub(_spell_name, text)


def _spell_name(found: re.Match[str]) -> str:
    name = found[0]
    if name[0] in "\"'" or is_narrow(name):
        return name
    try:
        wide = name.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return name  # the C compiler reports it
    wide = re.sub(UCN, lambda ucn: chr(min(int(ucn[0][2:], 16), 0x10FFFF)), wide)
    return "".join(each if each.isascii() else f"hirobau{ord(each):x}_" for each in wide)


def write(text: str) -> str:
    """Returns the text with the names as the program has them."""
    if "hirobau" not in text:
        return text
    return SPELLED.sub(lambda found: chr(int(found[1], 16)).encode("utf-8", "replace").decode("latin-1"), text)


def show(text: str) -> str:
    """Returns a message with the names as the program has them."""
    return SPELLED.sub(lambda found: chr(int(found[1], 16)), text)
