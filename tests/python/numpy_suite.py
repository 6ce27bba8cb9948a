"""NumPy's own tests, with arrays of hiroba in the place of its own: what numpy.array, zeros and the like make in them
is in shared memory, at another rank where there is one. Each rank runs all tests, with arrays of its own: a piece of
one large array is the room for those of a test. Prints `done` if just those tests fail that numpy_suite.txt names.

Usage: hirobarun python3 numpy_suite.py [--plain] [--record FILE] TESTS... [OPTIONS OF PYTEST], such as
_core/tests/test_indexing.py
--array-api: the tests of the array API standard instead. They are no package: the variable ARRAY_API_TESTS is the path
of a copy of https://github.com/data-apis/array-api-tests with its submodule; they need pytest-json-report and ndindex.
--plain: a subclass of ndarray without any difference instead, of which nothing is expected. --record: a file for the
names of tests that fail. Exits with 77 without pytest and hypothesis, which NumPy's tests need, or without that
copy."""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import os
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

import hiroba
import numpy as np

MAKERS = ["arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "empty_like"]
MAKERS += ["eye", "full", "full_like", "identity", "linspace", "logspace", "ones", "ones_like", "zeros", "zeros_like"]
ROOM = 4 << 30  # bytes of a rank
LINE = 64  # where arrays begin
FOLDER = pathlib.Path(np.__file__).parent
KNOWN = pathlib.Path(__file__).with_suffix(".txt")


class Plain(np.ndarray):
    """What all subclasses of numpy.ndarray have in common."""


class PlainRoom:
    def like(self, made: np.ndarray, empty_like: Callable[..., np.ndarray] = np.empty_like) -> np.ndarray:
        return empty_like(made).view(Plain)

    def keep(self) -> None:
        pass

    def clear(self) -> None:
        pass


class Room:
    """The memory of this rank's arrays: those that files make while they are read stay, those of a test live as long
    as it does."""

    def __init__(self) -> None:
        whole = hiroba.zeros((hiroba.size, ROOM), "u1", name="arrays of tests")
        self._begin = whole[(hiroba.rank + 1) % hiroba.size].__array_interface__["data"][0]
        self._first = self._next = 0

    def like(self, made: np.ndarray) -> np.ndarray:
        bytes_ = max(1, made.nbytes)
        if self._next + bytes_ > ROOM:
            raise MemoryError(f"{made.nbytes} bytes in the room of {ROOM}")
        memory = (ctypes.c_char * bytes_).from_address(self._begin + self._next)
        self._next += -(-bytes_ // LINE) * LINE
        return hiroba.Array(made.shape, made.dtype, memory, strides=made.strides)  # type: ignore[arg-type]

    def keep(self) -> None:
        self._first = self._next

    def clear(self) -> None:
        self._next = self._first


class Plugin:
    """What pytest calls."""

    def __init__(self, room: Room | PlainRoom) -> None:
        self._room = room
        self.ran: set[str] = set()
        self.failed: set[str] = set()

    def pytest_collection_finish(self) -> None:
        self._room.keep()

    def pytest_runtest_logfinish(self) -> None:
        self._room.clear()

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = re.split(r"numpy/|/(?=array_api_tests/)", report.nodeid)[-1].partition("[")[0]
        self.ran.add(name)
        if report.failed:
            self.failed.add(name)


def is_new(made: Any, given: tuple[Any, ...]) -> bool:
    """Whether it is an array that can be replaced by one in shared memory, and has been made by the call."""
    if type(made) is not np.ndarray or made.base is not None or any(made is each for each in given):
        return False
    return not made.dtype.hasobject and made.dtype.itemsize > 0 and made.dtype.isbuiltin != 2 and made.dtype.char != "T"


def replaced(make: Callable[..., Any], room: Room | PlainRoom) -> Callable[..., Any]:
    def other(*arguments: Any, **more: Any) -> Any:
        made = make(*arguments, **more)
        if not is_new(made, (*arguments, *more.values())):
            return made
        out = room.like(made)
        out.view(np.ndarray)[...] = made
        return out

    return other


def known_to_fail() -> set[str]:
    return {line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")}


def has(*packages: str) -> bool:
    return all(importlib.util.find_spec(each) is not None for each in packages)


def main() -> int:
    if not has("pytest", "hypothesis"):
        print("no pytest, or no hypothesis")
        return 77
    import pytest

    parser = argparse.ArgumentParser()
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--array-api", action="store_true")
    parser.add_argument("tests", nargs="*")
    arguments, of_pytest = parser.parse_known_args()
    if arguments.array_api:
        if "ARRAY_API_TESTS" not in os.environ or not has("pytest_jsonreport", "ndindex"):
            print("ARRAY_API_TESTS names no copy of array-api-tests, or what they need is missing")
            return 77
        os.environ["ARRAY_API_TESTS_MODULE"] = "numpy"
        arguments.tests.append(os.environ["ARRAY_API_TESTS"] + "/array_api_tests")
        of_pytest += ["--derandomize", "--disable-deadline", "--max-examples=20"]
    room = PlainRoom() if arguments.plain else Room()
    for name in MAKERS:
        setattr(np, name, replaced(getattr(np, name), room))
    plugin = Plugin(room)
    files = [str(FOLDER / each) for each in arguments.tests]
    options = ["-q", "-m", "not slow", "--tb=line", "-W", "ignore", "-p", "no:cacheprovider", f"--rootdir={FOLDER}"]
    pytest.main([*options, *of_pytest, *files], [plugin])
    if arguments.record and hiroba.rank == 0:
        arguments.record.write_text("".join(f"{name}\n" for name in sorted(plugin.failed)))
    if arguments.plain:
        return 0
    known = known_to_fail() & plugin.ran
    for name in sorted(plugin.failed ^ known):
        print(f"{name}: {'fails' if name in plugin.failed else 'passes now'}, unlike {KNOWN.name} says")
    hiroba.barrier()
    good = bool(plugin.ran) and plugin.failed == known
    if good and hiroba.rank == 0:
        print("done")
    return 0 if good else 1


sys.exit(main())
