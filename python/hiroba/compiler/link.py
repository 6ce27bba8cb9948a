"""What only a link can see: a shared array that another file takes for an ordinary one, and a program that nobody
starts. Reads the symbols of the object files on the command line; libraries are not looked into."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

DECLARED = re.compile(rb"hiroba_declare_hiroba_([A-Za-z]\w*)")
STARTS = {"mpc_init", "sms_startup", "smint_start"}


def symbols(file: str) -> list[tuple[str, str]]:
    """(kind, name), as nm prints them."""
    done = subprocess.run(["nm", file], check=False, capture_output=True, text=True)
    words = [line.split()[-2:] for line in done.stdout.splitlines() if len(line.split()) >= 2]
    return [(kind, name) for kind, name in words]


def problems(objects: dict[str, str]) -> list[str]:
    """Messages about these object files; the values are the names of their sources, for people."""
    shared: dict[str, str] = {}
    for file, source in objects.items():
        for name in DECLARED.findall(Path(file).read_bytes()):
            shared.setdefault(name.decode(), source)
    if not shared:
        return []
    out, starts, main = [], False, ""
    for file, source in objects.items():
        for kind, name in symbols(file):
            starts = starts or name in STARTS
            main = source if name == "main" and kind == "T" else main
            if name in shared and kind in "UBDCRGS":
                out.append(
                    f"{source}: error: `{name}` is shared in {shared[name]}, and an ordinary variable here\n"
                    f"      = declare it here as there: extern shared .. {name}"
                )
    if main and not starts:
        array, source = next(iter(shared.items()))
        out.append(
            f"{main}: error: `{array}` of {source} is shared, and nobody starts the job\n"
            "      = call mpc_init(&argc, &argv) at the beginning of main, and mpc_exit() at its end"
        )
    return out


def check(objects: dict[str, str]) -> bool:
    found = problems(objects)
    for message in found:
        print(message, file=sys.stderr)
    return not found
