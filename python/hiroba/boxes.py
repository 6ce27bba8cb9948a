"""Views of an array as boxes of its elements: which part of a view is whose. No state; nothing here needs a job.

A view is a box if each of its axes runs along one axis of the array, as those are that slices, transpose() and
numpy.newaxis make, or lies in each element, as that of a field of several numbers does. A diagonal is none, nor what
reshape() and a view of smaller elements make; its rows have owners where parts of the array are contiguous."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Run(NamedTuple):
    """What a view has of an axis of the array: elements first, first+step, ... (count of them), along axis `along` of
    the view; None if it has one element there."""

    first: int
    step: int
    length: int
    along: int | None


class View(NamedTuple):
    """Bytes from the array's first element, shape, strides in bytes."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def contiguous_strides(shape: Sequence[int], itemsize: int) -> list[int]:
    strides = [itemsize] * len(shape)
    for d in range(len(shape) - 2, -1, -1):
        strides[d] = strides[d + 1] * shape[d + 1]
    return strides


def runs_of(view: View, shape: Sequence[int], itemsize: int) -> list[Run] | None:
    """Returns a run for each axis of an array of this shape; None if the view is no box of it."""
    strides = contiguous_strides(shape, itemsize)
    rest, firsts = view.offset, []
    for stride in strides:
        firsts.append(rest // stride)
        rest %= stride
    runs = [Run(first, 1, 1, None) for first in firsts]
    low = high = rest  # bytes of an element that axes of the view in it reach
    for axis, (count, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if count <= 1:
            continue
        if 0 < abs(stride) < itemsize:
            low, high = low + min(0, (count - 1) * stride), high + max(0, (count - 1) * stride)
            continue
        d = axis_of(abs(stride), shape, strides)
        if d is None or runs[d].along is not None:
            return None
        step = stride // strides[d]
        if not 0 <= firsts[d] + step * (count - 1) < shape[d]:
            return None
        runs[d] = Run(firsts[d], step, count, axis)
    return runs if low >= 0 and high < itemsize else None


def axis_of(stride: int, shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The axis of the array along which a view with this stride runs."""
    for d, of_array in enumerate(strides):
        if shape[d] > 1 and of_array <= stride:
            return d if stride % of_array == 0 else None
    return None


def inside(run: Run, low: int, high: int) -> tuple[int, int]:
    """The elements [begin, end) of the run that lie in [low, high) of the axis of the array."""
    if run.step > 0:
        begin, end = -((run.first - low) // run.step), -((run.first - high) // run.step)
    else:
        begin, end = -((high - 1 - run.first) // -run.step), -((low - 1 - run.first) // -run.step)
    begin, end = max(begin, 0), min(end, run.length)
    return (begin, end) if begin < end else (0, 0)


def part_of(runs: Sequence[Run], shape: Sequence[int], low: Sequence[int], length: Sequence[int]) -> tuple[slice, ...]:
    """The slices of a view of this shape that lie in a box of the array. If nothing does, they are empty along the axes
    along which the view and the box have nothing in common, or the first one."""
    slices, is_elsewhere = [slice(0, count) for count in shape], False
    for run, begin, count in zip(runs, low, length, strict=True):
        first, last = inside(run, begin, begin + count)
        if run.along is not None:
            slices[run.along] = slice(first, last)
        elif first == last:
            is_elsewhere = True
    if is_elsewhere:
        slices[:1] = [slice(0, 0)] * len(slices[:1])
    return tuple(slices)


def rows_of(
    view: View, shape: Sequence[int], itemsize: int, low: Sequence[int], length: Sequence[int]
) -> tuple[slice, ...] | None:
    """The slices of any view that are the rows whose first element lies in a box of the array; None if the box is not
    contiguous, or the rows are not one after another in memory."""
    axis = next((d for d, count in enumerate(view.shape) if count > 1), None)
    if axis is None:
        return None
    cut = next((d for d, count in enumerate(length) if count != 1), len(shape))
    inner = zip(view.shape[axis + 1 :], view.strides[axis + 1 :], strict=True)
    is_contiguous = all(have == of for have, of in zip(length[cut + 1 :], shape[cut + 1 :], strict=True))
    if not is_contiguous or sum((count - 1) * abs(stride) for count, stride in inner) >= abs(view.strides[axis]):
        return None
    begin = sum(first * stride for first, stride in zip(low, contiguous_strides(shape, itemsize), strict=True))
    run = Run(view.offset, view.strides[axis], view.shape[axis], axis)
    slices = [slice(0, count) for count in view.shape]
    slices[axis] = slice(*inside(run, begin, begin + math.prod(length) * itemsize))
    return tuple(slices)


def sections_of(runs: Sequence[Run]) -> list[tuple[int, int, int]]:
    """Base, length and step per axis of the array, with steps of at least 1."""
    out = []
    for run in runs:
        first = run.first if run.step > 0 else run.first + run.step * (run.length - 1)
        out.append((first, run.length, abs(run.step)))
    return out
