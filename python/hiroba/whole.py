"""Collective operations on whole arrays: each rank computes with its part, and all get the result, the same bits. They
read what was written before the last barrier. `A.sum()` and the like are NumPy's: they read all on the rank that calls
them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hiroba import table
from hiroba.arrays import Array
from hiroba.collectives import Operation, allgather, allreduce, alltoall, exscan, same_on_all, type_of
from hiroba.job import size
from hiroba.parallel import barrier

__all__ = ["apply", "dot", "max", "mean", "min", "norm", "sort", "sum"]


def part_of(array: Array, call: str) -> np.ndarray:
    same_on_all(array, call)
    return np.asarray(array.local)


def is_half(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and values.dtype.itemsize == 2


def sum(array: Array) -> Any:
    """The sum of all elements, with the type that numpy.sum gives it.

    Errors: Error if the array is in private memory, or a view without rows of the ranks; TypeError if the elements
    are no numbers."""
    return allreduce(part_of(array, "sum").sum())


def mean(array: Array) -> Any:
    """The mean of all elements, which are at least one.

    Errors: Error if the array is in private memory, or a view without rows of the ranks; TypeError if the elements
    are no numbers."""
    have = part_of(array, "mean")
    wider = "f4" if is_half(have) else float if have.dtype.kind in "biu" else None  # as numpy.mean
    out = allreduce(have.sum(dtype=wider)) / array.size
    return np.float16(out) if is_half(have) else out


def min(array: Array) -> Any:
    """The least element.

    Errors: Error if the array is in private memory, or a view without rows of the ranks; TypeError if the elements
    are no numbers; ValueError if there are none."""
    return allreduce(extreme(array, np.min, "min"), "min")


def max(array: Array) -> Any:
    """The greatest element.

    Errors: Error if the array is in private memory, or a view without rows of the ranks; TypeError if the elements
    are no numbers; ValueError if there are none."""
    return allreduce(extreme(array, np.max, "max"), "max")


def extreme(array: Array, function: Callable[..., Any], call: str) -> Any:
    have = part_of(array, call)
    if array.size == 0:
        raise ValueError(f"{call}: the array has no elements")
    return function(have) if have.size > 0 else array[(0,) * array.ndim]


def dot(one: Array, other: np.ndarray) -> Any:
    """The sum of the products of the elements of two arrays of one shape; nothing is conjugated. Each rank fetches what
    it lacks of the second one.

    Errors: Error if the array is in private memory, or a view without rows of the ranks; TypeError if the elements
    are no numbers; ValueError if the shapes differ."""
    have, other = part_of(one, "dot"), np.asanyarray(other)
    if one.shape != other.shape:
        raise ValueError(f"dot: shapes {one.shape} and {other.shape} differ")
    also = fetched(other[one.box()] if one.ndim > 0 else other.reshape(1)[: have.size])
    return allreduce(np.dot(have.ravel(), also.ravel()))


def fetched(view: np.ndarray) -> np.ndarray:
    """The same memory, after one request for all of it instead of one for each page."""
    array = table.at(table.address_of(view))
    if isinstance(view, Array) and view.size > 0 and array and table.runs_if_box(view, array):
        view.preload()
    return np.asarray(view)


def norm(array: Array) -> Any:
    """The square root of the sum of the squares of all elements' magnitudes, with the type that numpy.linalg.norm gives
    it.

    Errors: Error if the array is in private memory, or a view without rows of the ranks; TypeError if the elements
    are no numbers."""
    have = part_of(array, "norm").ravel()
    if have.dtype.kind not in "biufc":
        raise TypeError(f"norm: elements of type {have.dtype}; numbers or bool")
    mine = np.linalg.norm(have.astype("f4") if is_half(have) else have)
    total = allreduce(np.result_type(mine, float).type(mine) ** 2)
    return np.sqrt(total).astype("f2" if is_half(have) else mine.dtype)


def apply(array: Array, function: Callable[[np.ndarray], Any]) -> None:
    """Replaces each rank's part by function(part), which has its shape; then comes a barrier.

    Errors: Error if the array is in private memory, or a view without rows of the ranks; TypeError for what cannot be
    called. What the function raises ends the job."""
    have = part_of(array, "apply")
    if not callable(function):  # a rank without elements would not notice
        raise TypeError(f"apply: {type(function).__name__} is no function")
    if have.size > 0:
        have[...] = function(have)
    barrier()


def sort(array: Array) -> None:
    """Sorts an array of one dimension, in place; then comes a barrier. A rank needs memory for three times its part,
    and more if many elements are equal.

    Errors: ValueError for another number of dimensions; Error if the array is in private memory, or a view that is no
    box of a shared one."""
    have = part_of(array, "sort")
    if array.ndim != 1:
        raise ValueError(f"sort: {array.ndim} dimensions; 1")
    mine = np.sort(have)
    got = np.sort(exchanged(mine, np.searchsorted(mine, splitters(mine), side="right")), kind="stable")
    first = exscan(len(got))
    barrier()  # all have read their parts
    array[first : first + len(got)] = got
    barrier()


def splitters(mine: np.ndarray) -> np.ndarray:
    """size - 1 values between which there are about as many elements of all ranks; `mine` is sorted."""
    there = np.linspace(0, len(mine) - 1, size).astype(int)
    samples = allgather(mine[there] if len(mine) > 0 else np.zeros(size, mine.dtype))
    known = np.sort(samples[allgather(len(mine)) > 0].ravel())
    return known[len(known) // size * np.arange(1, size)] if len(known) > 0 else known


def exchanged(mine: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Gives the piece before cut r to rank r; returns those for this rank."""
    edges = np.zeros(size + 1, np.int64)
    edges[1:-1], edges[-1] = cuts if len(cuts) == size - 1 else 0, len(mine)
    send = np.diff(edges)
    receive = alltoall(send)
    out = np.empty(int(receive.sum()), mine.dtype)
    counts = (table.address_of(send), None, table.address_of(out), table.address_of(receive), None)
    words = (table.address_of(mine), *counts, type_of(mine.dtype))
    Operation("alltoallv", words).run()
    return out
