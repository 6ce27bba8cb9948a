"""Which of our headers a C file uses: those whose notation it has need not be included, and mpc.h is found only by
files that have MpC, because GNU MPC has a header of that name."""

from __future__ import annotations

import re
from pathlib import Path

from .foreign import COMMENT

MPC = re.compile(r"^[^#\n]*\bshared\b[^;{}]*::|\bmpc_(?:init|exit|barrier)\b", re.MULTILINE)
GNU_MPC = re.compile(r"\bmpc_(?:t|init2|init3|clear)\b")
OTHER_SHARED = re.compile(r"#[ \t]*define[ \t]+shared\b|\btypedef\b[^;]*\bshared\s*;")
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
    for header, notation in NOTATION.items():
        if notation.search(code) is None or (header == "mpc.h" and own_shared):
            continue
        if re.search(rf"#\s*include\s*[<\"](?:hiroba/)?{header[:-2]}\.h", text) is None:
            words += ["-include", f"{include}/mpc/mpc.h" if header == "mpc.h" else f"{include}/{header}"]
    return words
