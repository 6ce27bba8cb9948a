"""The commands hirobarun and hiroba of a wheel: they become the programs in native/bin."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn


def become(name: str) -> NoReturn:
    program = pathlib.Path(__file__).resolve().parent / "native" / "bin" / name
    os.execv(program, [name, *sys.argv[1:]])


def hirobarun() -> NoReturn:
    become("hirobarun")


def hiroba() -> NoReturn:
    become("hiroba")
