"""Finds the headers of Hiroba that a C file uses: those whose notation it has need not be included, and mpc.h is
found only by files that have MpC, because GNU MPC has a header of that name. Files that include mpi.h get MPI's
calls on shared memory."""

from __future__ import annotations

import re
from pathlib import Path

from .core.notation import Notation
from .foreign import code_of
from .plain import header_folders
from .registry import NOTATIONS

# Macros that a program defines before its first #include, to choose the declarations of the C library's headers.
CHOICE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(_\w+_SOURCE|_FILE_OFFSET_BITS)\b[ \t]*(.*?)[ \t]*$", re.MULTILINE)
MPI = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])mpi\.h[>\"]", re.MULTILINE)


def words_for(notation: Notation) -> list[str]:
    """Returns words for the preprocessor that include the header of a notation, and define its macro."""
    headers = [f"{notation.folder}/{notation.header}".lstrip("/"), *notation.beside]
    macro = [f"-D{notation.macro}"] * bool(notation.macro)
    return [*macro, *(word for header in headers for word in ("-include", f"hiroba/{header}"))]


def header_words(source: str, text: str, include: str) -> list[str]:
    """Returns words for the preprocessor: the folders of Hiroba's headers, the headers that a file with this text uses
    and does not include, and the macros of its notations."""
    code = code_of(text)
    written = [notation for notation in NOTATIONS if notation.is_written(code)]
    others = any(n.namesake and not n.folder and n not in written and n.namesake.search(code) for n in NOTATIONS)
    words = header_folders(include, "-idirafter" if others else "-isystem")
    added = []
    for notation in NOTATIONS:
        header = re.escape(notation.header)
        is_other = notation.namesake is not None and notation.namesake.search(code) is not None
        if notation.folder and not is_other and re.search(rf"include\s*<{header}>", text) is not None:
            words += ["-isystem", f"{include}/{notation.folder}"]
        if notation in written and re.search(rf"#\s*include\s*[<\"](?:hiroba/)?{header}", text) is None:
            added.append(f"{notation.folder}/{notation.header}".lstrip("/"))
        if notation in written:
            added += notation.beside
            words += [f"-D{notation.macro}"] * bool(notation.macro)
    mpi = MPI.search(text)
    if mpi is not None and not (mpi[1] == '"' and Path(source).with_name("mpi.h").exists()):
        added.insert(0, "mpi_calls.h")  # before xmp.h, which has calls for files with MPI
    if added:
        words += [f"-D{choice[1]}={choice[2]}" for choice in CHOICE.finditer(text)]
    return words + [word for header in added for word in ("-include", f"hiroba/{header}")]
