"""The mistake that everybody makes once: `A += 1` on all ranks, which adds as many as there are ranks, or loses some.
Operations in place on elements that are not this rank's own are noted in shared memory, with the number of barriers so
far: two ranks that do the same, to the same elements, between two barriers, get a warning with the line.

A line that has been right some times is not looked at any more, so it costs little."""

from __future__ import annotations

import os
import warnings
import zlib

import numpy as np

from hiroba import boxes, job, table
from hiroba.job import library
from hiroba.library import Error
from hiroba.places import calling_frame

SLOTS = 512
LOOKS = 4  # at each line


class Epoch:
    """What has happened since the start of the job."""

    barriers = 0
    locks = 0  # held now


looked: dict[tuple[object, int], int] = {}  # how often, by code and line
must_be_right = os.environ.get("HIROBA_CHECK", "no") == "yes"


def notes() -> int:
    """The address of the notes, an array of the job. Collective, once."""
    import ctypes

    dim = (ctypes.c_int64 * 2)(SLOTS, -1)
    return library.sms_mapalloc_large_at(dim, (ctypes.c_int64 * 2)(1, -1), 8, 0, 1, b"hiroba: operations in place")


first_note = notes() if job.size > 1 else 0


def watch(view: np.ndarray) -> None:
    """Called before an operation in place."""
    frame = calling_frame()
    if frame is None or Epoch.locks > 0:
        return
    line = (frame.f_code, frame.f_lineno)
    count = looked[line] = looked.get(line, 0) + 1
    if count > LOOKS or is_own(view):
        return
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    key = zlib.crc32(f"{place} {table.address_of(view)} {view.shape}".encode())
    other = note(first_note + 8 * (key % SLOTS), (Epoch.barriers + 1) << 32 | (key & 0xFFFF0000) | job.rank)
    if other is None:
        return
    text = (
        f"ranks {other} and {job.rank} both do this to the same elements of a shared array, so it is done twice, or "
        "partly lost. Use A.local, `for _ in hiroba.single():`, or a lock"
    )
    if must_be_right:
        raise Error(text)
    warnings.warn_explicit(text, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno)


def is_own(view: np.ndarray) -> bool:
    """Whether all elements are this rank's, or in private memory."""
    array = table.at(table.address_of(view))
    if array is None or view.size == 0:
        return True
    runs = table.runs_if_box(view, array)
    if runs is None:
        return False
    part = boxes.part_of(runs, view.ndim, *array.box(job.rank))
    return all(each.stop - each.start == n for each, n in zip(part, view.shape, strict=True))


def note(address: int, mine: int) -> int | None:
    """Writes a note; returns the other rank that has written the same one."""
    before = library.sms_atomic_load(address)
    while (seen := library.sms_compare_swap(address, before, mine)) != before:
        before = seen
    return before & 0xFFFF if before >> 16 == mine >> 16 and before != mine else None
