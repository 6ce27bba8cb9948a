"""The mistake that everybody makes once: `A += 1` on all ranks, which adds as many as there are ranks, or loses some.
What ranks write is noted in shared memory, with the number of barriers so far: two ranks that write the same elements
by the same line, between two barriers, get a warning.

A line is looked at when it is executed for the first times, and then less and less often, so it costs little. Looked at
are assignments (assignments.py), operations in place and `out=` of ufuncs, and the methods and functions of NumPy that
write, but not compiled loops."""

from __future__ import annotations

import os
import sys
import warnings
import weakref
import zlib
from types import CodeType, FrameType
from typing import Any

import numpy as np

from hiroba import job, table
from hiroba.epochs import Epoch, ordered
from hiroba.job import library
from hiroba.library import Error
from hiroba.places import program_frame

SLOTS = 4096  # for notes, and for lines that there has been a warning about
MOST_COUNTS = 1 << 16
MANY = 4  # elements, one by one, are no flag that all ranks set

in_child = False  # of fork(), which is no rank, and may change its memory
os.register_at_fork(after_in_child=lambda: globals().update(in_child=True))

counts: dict[tuple[CodeType, int, int], int] = {}  # how often a statement has written as many elements
repeated: dict[tuple[CodeType, int], set[int]] = {}  # elements that two ranks have assigned to, by statement
must_be_right = os.environ.get("HIROBA_CHECK", "no") == "yes"


first_slot: int = library.hiroba_make_notes(2 * SLOTS) if job.size > 1 else 0


def is_due(frame: FrameType, elements: int) -> bool:
    """Counts a statement that writes some elements; returns whether to look at it. As often as in assignments.cpp."""
    if len(counts) > MOST_COUNTS:
        counts.clear()
    statement = (frame.f_code, frame.f_lasti, elements)
    count = counts[statement] = counts.get(statement, 0) + 1
    return count <= 8 or count & (count - 1) == 0 or count & (count + 1) == 0


def is_read_only(array: np.ndarray) -> bool:
    """NumPy raises an exception for a write. Its flag `writeable` would warn of arrays whose writes NumPy warns of."""
    return bool(array.__array_interface__["data"][1])


def watch(view: np.ndarray) -> None:
    """For an operation in place on a view, which the statement of the caller's caller does."""
    if is_read_only(view):
        return
    frame = sys._getframe(2)
    if not is_due(frame, view.size) or view.size == 0:
        return
    if table.at(table.address_of(view)) is not None:
        compare(view, "", lambda: True)
    else:
        suspect(view, np.asarray(view), frame)


def watch_assignment(array: np.ndarray, index: Any) -> None:
    """For `array[index] = ...`, before it is carried out."""
    if is_read_only(array):
        return
    frame = sys._getframe(1)
    chosen = written(np.asarray(array), index if isinstance(index, tuple) else (index,))
    if chosen is None:
        return
    view, lists = chosen
    if table.at(table.address_of(view)) is None:
        suspect(array, view, frame)
    else:
        compare(view, lists, lambda: view.size > 1 or bool(lists) or is_sum(frame) or is_one_of_many(frame, view))


def written(plain: np.ndarray, index: tuple[Any, ...]) -> tuple[np.ndarray, str] | None:
    """A view of what an assignment writes. Of indices that are lists only the first one is in it, and text says how
    many there are. None if it writes nothing, or is no valid index."""
    lists = ""
    try:
        if any(isinstance(each, (list, np.ndarray)) for each in index):
            firsts: list[Any] = []
            for each in index:
                firsts += first_of(each) if isinstance(each, (list, np.ndarray)) else [each]
            lists = " ".join(str(np.shape(each)) for each in index if isinstance(each, (list, np.ndarray)))
            index = tuple(firsts)
        view = plain[(*index, np.newaxis)][..., 0]  # a view also of one element, which must not be read here
        return (view, lists) if view.size > 0 else None
    except (IndexError, TypeError, ValueError):
        return None


def first_of(index: Any) -> list[Any]:
    """What a list selects first; an array of truth values takes an index for each of its axes."""
    array = np.asarray(index)
    if array.dtype == bool:
        at = int(array.argmax())
        if not array.flat[at]:
            raise IndexError("nothing is selected")
        return list(np.unravel_index(at, array.shape))
    return [array.flat[0]]


def is_sum(frame: FrameType) -> bool:
    """Whether the assignment that is executed is `A[i] += x` or the like."""
    import dis

    before = [each for each in dis.get_instructions(frame.f_code) if each.offset < frame.f_lasti]
    last = next((each for each in reversed(before) if each.opname not in ("SWAP", "CACHE")), None)
    return last is not None and last.opname == "BINARY_OP" and last.argrepr.endswith("=")


def is_one_of_many(frame: FrameType, view: np.ndarray) -> bool:
    """Whether other ranks, too, have assigned to some elements by this statement. All ranks may set a flag."""
    seen = repeated.setdefault((frame.f_code, frame.f_lasti), set())
    seen.add(table.address_of(view))
    return len(seen) >= MANY


def compare(view: np.ndarray, lists: str, is_mistake: Any) -> None:
    """Warns if another rank has written the same elements by the same line in this epoch."""
    frame = program_frame()
    if frame is None or ordered.depth > 0 or in_child:
        return
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    address = table.address_of(view)
    key = zlib.crc32(f"{place} {address} {view.shape} {view.strides} {lists}".encode())
    other = note(first_slot + 8 * (key % SLOTS), Epoch.number() << 32 | (key & 0xFFFF0000) | (job.rank + 1))
    if other is None or not is_mistake():
        return
    array = table.at(address)
    text = (
        f"ranks {min(other, job.rank)} and {max(other, job.rank)} both do this to the same elements of array "
        f"{array.name if array else ''}, between two barriers, so it is done twice, or partly lost. Use A.local, "
        "`for _ in hiroba.single():`, or a lock"
    )
    if must_be_right:
        raise Error(text)
    if is_first_to_warn(zlib.crc32(place.encode())):
        warnings.warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno)


def note(address: int, mine: int) -> int | None:
    """Writes a note; returns the other rank that has written the same one."""
    before = library.hiroba_swap_note(address, 0, 0)
    while (seen := library.hiroba_swap_note(address, before, mine)) != before:
        before = seen
    return (before & 0xFFFF) - 1 if before >> 16 == mine >> 16 and before != mine else None


def is_first_to_warn(line: int) -> bool:
    """Whether no rank has warned about this line."""
    before = library.hiroba_swap_note(first_slot + 8 * (SLOTS + line % SLOTS), 0, line | 1 << 32)
    return before != line | 1 << 32


# ---- private arrays that look like shared ones -----------------------------------------------------------------------

# Those of which this rank has written its part, as the slices of a shared array say, and where.
suspects: list[tuple[weakref.ref[np.ndarray], str, str, int]] = []


def suspect(array: np.ndarray, view: np.ndarray, frame: FrameType) -> None:
    """After `B = np.zeros_like(A)`, which is private, `B[A.box()] = ...` writes what no other rank sees. It is not made
    shared, because NumPy's own functions make such arrays, as do programs on one rank or in each step, and shared ones
    are made by all ranks, and freed by hand. What a collective operation gets is meant so; of the rest the next
    barrier tells, since others are to see what was written before it."""
    if in_child:
        return
    whole: Any = array
    while type(whole.base) is type(array):
        whole = whole.base
    for each in table.arrays:
        if each.shape == whole.shape and 0 < view.size < whole.size:
            box = tuple(slice(at, at + n) for at, n in zip(*each.box(job.rank), strict=True))
            part = np.asarray(whole)[box]
            if (table.address_of(part), part.shape) == (table.address_of(view), view.shape):
                suspects.append((weakref.ref(whole), each.name, frame.f_code.co_filename, frame.f_lineno))
                return


def is_meant(array: object) -> None:
    """A collective operation gets the array."""
    suspects[:] = [each for each in suspects if each[0]() is not array]


def tell_of_suspects() -> None:
    for array, name, file, line in suspects:
        if array() is not None and is_first_to_warn(zlib.crc32(f"{file}:{line}".encode())):
            text = (
                f"this writes the part of rank {job.rank}, as array {name} is divided, into an array in private "
                "memory, as np.zeros_like() and the like make; other ranks do not see it. Use hiroba.zeros(A.shape, "
                "A.dtype), or np.zeros(A.shape) for an array of this rank only"
            )
            warnings.warn_explicit(text, RuntimeWarning, file, line)
    suspects.clear()


Epoch.ends.append(tell_of_suspects)
