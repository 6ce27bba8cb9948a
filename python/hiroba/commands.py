"""The commands hirobarun and hiroba of a wheel: they become the programs in native/bin."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
from typing import NoReturn


def path(name: str) -> str:
    """Where a program of the library is: in this package, if it is that of a wheel; else on the shell's paths."""
    program = in_wheel(name)
    return str(program) if program.exists() else shutil.which(name) or name


def in_wheel(name: str) -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parent / "native" / "bin" / name


def become(name: str) -> NoReturn:
    os.execv(in_wheel(name), [name, *sys.argv[1:]])


def hirobarun() -> NoReturn:
    become("hirobarun")


def hiroba() -> NoReturn:
    become("hiroba")
