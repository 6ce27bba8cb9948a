"""Lines of the user's program, for messages."""

from __future__ import annotations

import sys
from types import FrameType

PACKAGE = __file__.rpartition("/")[0]


def calling_frame() -> FrameType | None:
    """The innermost frame outside this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    return frame


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)


def is_installed(path: str) -> bool:
    """Whether a file is of a package such as numpy, or a module of Python itself: as in interpreter.cpp, and names of
    Cython's files, which have no folder of packages, such as numpy/random/_generator.pyx."""
    has = (each in path for each in ("-packages/", "/lib/python3.", "/lib64/python3."))
    return any(has) or path.startswith("<frozen ") or path.endswith((".pyx", ".pxi", ".pxd"))


def program_frame(of: FrameType | None = None) -> FrameType | None:
    """The innermost frame that is in no installed package, such as numpy, if there is one; else as calling_frame(). Of
    the thread that calls, or that executes a frame."""
    frame = first = of or calling_frame()
    while frame is not None and (is_ours(frame) or is_installed(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame or first


def calling_place() -> str:
    """ "heat.py:12" """
    return place_of(calling_frame())


def place_of(frame: FrameType | None) -> str:
    if frame is None:
        return "the end of the program"
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
