"""The arrays of this job by address, all ranks alike. A view of NumPy has no room for what it belongs to, and needs
none: its address says it."""

from __future__ import annotations

import bisect
import ctypes
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from hiroba import boxes
from hiroba.job import library
from hiroba.library import Error

MOST_DIMS = 8  # of sms_mapalloc


class Shared(NamedTuple):
    """An array in shared memory."""

    address: int
    bytes: int
    elements: int  # 0 if one of its axes is empty; the memory then has one
    shape: tuple[int, ...]  # with 1 for such an axis, and at least one axis
    dtype: np.dtype
    name: str

    def box(self, rank: int) -> tuple[list[int], list[int]]:
        """The first element and the number of elements, in each dimension, of what is whose. What a rank has that has
        nothing is empty along the axes that are divided, so that its shape fits those of others."""
        begin, count = self._own(rank)
        if 0 in count:
            _, some = self._own(library.sms_home(self.address))
            is_divided = [n < of for n, of in zip(some, self.shape, strict=True)]
            if not any(is_divided):
                is_divided[0] = True
            begin = [0] * len(begin)
            count = [0 if is_cut else n for is_cut, n in zip(is_divided, self.shape, strict=True)]
        return begin, count

    def _own(self, rank: int) -> tuple[list[int], list[int]]:
        first, length = (ctypes.c_size_t * MOST_DIMS)(), (ctypes.c_size_t * MOST_DIMS)()
        library.sms_local_box(self.address, rank, first, length)
        dims, known = len(self.shape), len(folded(self.shape))
        begin, count = list(first[:known]), list(length[:known])
        if dims > known:  # the last of those that the library knows is not cut
            rest = list(self.shape[known - 1 :])
            begin[-1:], count[-1:] = [0] * len(rest), rest if count[-1] else [0] * len(rest)
        return begin[:dims], count[:dims]


def folded(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that the library is told: 1 to 8 dimensions of at least one element."""
    shape = tuple(max(1, n) for n in shape) or (1,)
    if len(shape) <= MOST_DIMS:
        return shape
    return (*shape[: MOST_DIMS - 1], int(np.prod(shape[MOST_DIMS - 1 :], dtype=np.int64)))


arrays: list[Shared] = []  # sorted by address
# Slices by address, shape and strides of a view, rank and width: programs ask for the same ones in each step.
parts: dict[tuple[int, tuple[int, ...], tuple[int, ...], int, int], tuple[slice, ...]] = {}
MOST_PARTS = 4096


def address_of(view: np.ndarray) -> int:
    return view.__array_interface__["data"][0]


def address_at(view: np.ndarray, index: SupportsIndex | Sequence[int], call: str) -> int:
    """The address of one element: `index` has a number for each axis."""
    numbers: Any = index if hasattr(index, "__len__") else (index,)
    indices = [operator.index(i) for i in numbers]
    if len(indices) != view.ndim:
        raise IndexError(f"{call}: index {index} has {len(indices)} numbers, and the array {view.ndim} dimensions")
    address = address_of(view)
    for i, n, stride in zip(indices, view.shape, view.strides, strict=True):
        if not -n <= i < n:
            raise IndexError(f"{call}: index {index}: {i} of an axis of {n} elements")
        address += i % n * stride
    return address


def add(array: Shared) -> None:
    bisect.insort(arrays, array, key=lambda each: each.address)


def remove(array: Shared) -> None:
    arrays.remove(array)
    parts.clear()


def at(address: int) -> Shared | None:
    i = bisect.bisect_right(arrays, address, key=lambda each: each.address)
    if i > 0 and address < arrays[i - 1].address + arrays[i - 1].bytes:
        return arrays[i - 1]
    return None


def of(view: np.ndarray, call: str) -> Shared:
    found = at(address_of(view)) if isinstance(view, np.ndarray) else None
    if found is None:
        raise Error(f"{call}: {about_private(view)}")
    return found


def about_private(value: object) -> str:
    """What to say of what is not shared, and should be."""
    return (
        f"this {type(value).__name__} is in the private memory of the rank, as lists, copies, what np.zeros_like() "
        "makes, and results of arithmetic and of indices that are lists are; hiroba.array() makes a shared array of it"
    )


def runs_if_box(view: np.ndarray, array: Shared) -> list[boxes.Run] | None:
    return boxes.runs_of(place_in(array, view), array.shape, array.dtype.itemsize)


def place_in(array: Shared, view: np.ndarray) -> boxes.View:
    return boxes.View(address_of(view) - array.address, view.shape, view.strides)


def part_of(view: np.ndarray, rank: int, width: int = 0) -> tuple[slice, ...]:
    """The slices of a view that hold the elements of a rank, if it has some with those at most `width` away."""
    key = (address_of(view), view.shape, view.strides, rank, width)
    if (found := parts.get(key)) is not None:
        return found
    box = own_part(view, of(view, "box"), rank)
    if not any(each.start == each.stop for each in box):
        axes = zip(box, view.shape, strict=True)
        box = tuple(slice(max(each.start - width, 0), min(each.stop + width, n)) for each, n in axes)
    if len(parts) >= MOST_PARTS:
        parts.clear()
    parts[key] = box
    return box


def own_part(view: np.ndarray, array: Shared, rank: int) -> tuple[slice, ...]:
    """If the view is no box of the array, the rows of a rank."""
    low, length = array.box(rank)
    runs = runs_if_box(view, array)
    if runs is not None:
        return boxes.part_of(runs, view.shape, low, length)
    rows = boxes.rows_of(place_in(array, view), array.shape, array.dtype.itemsize, low, length)
    if rows is None:
        raise Error(
            f"box: rank {rank} has no rows of this view of array {array.name}, whose shape {array.shape} is divided so "
            f"that it has {tuple(length)}, or rows share memory. Take the part first, as in A.local.reshape(...) and "
            "A.local.view(...), or divide the array along its first axis"
        )
    return rows


def runs(view: np.ndarray, array: Shared, call: str) -> list[boxes.Run]:
    found = runs_if_box(view, array)
    if found is None:
        raise Error(
            f"{call}: this view is no box of array {array.name}, shape {array.shape}: some axis of it runs along "
            "several axes, or along none. Use slices of the array, also with steps, or its transpose"
        )
    return found
