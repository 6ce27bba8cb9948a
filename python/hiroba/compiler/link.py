"""What only a link can see: a shared array that another file takes for an ordinary one, and a program that nobody
starts. Reads the symbols of the object files on the command line; libraries are not looked into."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from .notation import STARTS

DECLARED = re.compile(rb"hiroba_declare_hiroba_([A-Za-z]\w*)")
COARRAY = re.compile(rb"hiroba_coarray_([A-Za-z]\w*)")


def symbols(file: str) -> list[tuple[str, str]]:
    """(kind, name), as nm prints them."""
    done = subprocess.run(["nm", file], check=False, capture_output=True, text=True)
    words = [line.split()[-2:] for line in done.stdout.splitlines() if len(line.split()) >= 2]
    return [(kind, name) for kind, name in words]


def problems(objects: dict[str, str]) -> list[str]:
    """Messages about these object files; the values are the names of their sources, for people."""
    shared: dict[str, str] = {}
    coarrays: set[str] = set()
    for file, source in objects.items():
        contents = Path(file).read_bytes()
        coarrays |= {name.decode() for name in COARRAY.findall(contents)}
        for name in DECLARED.findall(contents):
            shared.setdefault(name.decode(), source)
    if not shared:
        return []
    out, starts, main = [], False, ""
    for file, source in objects.items():
        for kind, name in symbols(file):
            starts = starts or name in STARTS
            main = source if name == "main" and kind == "T" else main
            if name in shared and kind in "UBDCRGS":
                there, form = ("a coarray", f"{name}:[*]") if name in coarrays else ("shared", f"shared .. {name}")
                out.append(
                    f"{source}: error: `{name}` is {there} in {shared[name]}, and an ordinary variable here\n"
                    f"      = declare it here as there: extern {form.replace(name + ':', f'.. {name}:')}"
                )
    if main and not starts:
        array, source = next(iter(shared.items()))
        there = "a coarray" if array in coarrays else "shared"
        remedy = "call mpc_init(&argc, &argv) at the beginning of main, and mpc_exit() at its end"
        if array in coarrays:
            remedy = (
                "include <xmp.h> where main is, or call xmp_init(&argc, &argv) there, and xmp_finalize() at its end"
            )
        out.append(f"{main}: error: `{array}` of {source} is {there}, and nobody starts the job\n      = {remedy}")
    return out


def check(objects: dict[str, str]) -> bool:
    found = problems(objects)
    for message in found:
        print(message, file=sys.stderr)
    return not found
