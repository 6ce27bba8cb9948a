"""Which of our headers a C file uses: those whose notation it has need not be included, and mpc.h is found only by
files that have MpC, because GNU MPC has a header of that name. Files that include mpi.h get MPI's calls on shared
memory."""

from __future__ import annotations

import re
from pathlib import Path

from .foreign import COMMENT

MPC = re.compile(r"^[^#\n]*\bshared\b[^;{}]*::|\bmpc_(?:init|exit|barrier)\b", re.MULTILINE)
GNU_MPC = re.compile(r"\bmpc_(?:t|init2|init3|clear)\b")
OTHER_SHARED = re.compile(r"#[ \t]*define[ \t]+shared\b|\btypedef\b[^;]*\bshared\s*;")
# What a program defines before its first #include, to choose what the C library's headers declare.
CHOICE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(_\w+_SOURCE|_FILE_OFFSET_BITS)\b[ \t]*(.*?)[ \t]*$", re.MULTILINE)
MPI = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([<\"])mpi\.h[>\"]", re.MULTILINE)
NOTATION = {
    "smint.h": re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+SMint\b", re.MULTILINE | re.IGNORECASE),
    "mpc.h": MPC,
    "xmp.h": re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+xmp\b|[\w\])]\s*:\s*\[\s*\*\s*\]|\]\s*:\s*\[",
                        re.MULTILINE | re.IGNORECASE),
}  # fmt: skip


def header_words(source: str, include: str) -> list[str]:
    """Words for the preprocessor: where our headers are, and those that the file uses and does not include. They are
    found like the system's: behind the user's, and -MMD does not name them."""
    try:
        text = Path(source).read_text(encoding="latin-1")
    except OSError:
        return ["-isystem", include]
    code = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    words = ["-isystem", include]
    own_shared = OTHER_SHARED.search(code) is not None
    if re.search(r"include\s*<mpc\.h>", text) is not None and GNU_MPC.search(code) is None:
        words += ["-isystem", f"{include}/mpc"]
    added = []
    for header, notation in NOTATION.items():
        if notation.search(code) is None or (header == "mpc.h" and own_shared):
            continue
        if re.search(rf"#\s*include\s*[<\"](?:hiroba/)?{header[:-2]}\.h", text) is None:
            added.append("mpc/mpc.h" if header == "mpc.h" else header)
    mpi = MPI.search(text)
    if mpi is not None and not (mpi[1] == '"' and Path(source).with_name("mpi.h").exists()):
        added.append("mpi_calls.h")
    if added:
        words += [f"-D{choice[1]}={choice[2]}" for choice in CHOICE.finditer(text)]
    return words + [word for header in added for word in ("-include", f"{include}/{header}")]
