"""Synchronisation and the division of work. Calls block without the interpreter's lock: other threads run meanwhile."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import NoReturn, SupportsIndex

import numpy as np

from hiroba import job, table
from hiroba.epochs import Epoch, barrier, ordered
from hiroba.job import library

__all__ = [
    "atomic_load",
    "atomic_store",
    "barrier",
    "compare_swap",
    "fetch_add",
    "lock",
    "prange",
    "shared_lock",
    "single",
    "sync",
]

LOCKS = 65536


def sync() -> None:
    """Publishes this rank's writes, and lets it read what others had published before they changed an atomic integer
    that this rank has used: for flags. Not collective."""
    library.sms_sync()
    Epoch.step()


class Lock:
    """`with lock(3): ...`: a lock of the job, 0 to 65535, given in the order of requests; not recursive. Inside one
    reads what was written by those that have held it before."""

    def __init__(self, number: int, take: str, give: str) -> None:
        known = job.index_of(number)
        if known is None or not 0 <= known < LOCKS:
            raise ValueError(f"lock {number!r}; there are 0..{LOCKS - 1}")
        self._number, self._take, self._give = number, getattr(library, take), getattr(library, give)

    def __enter__(self) -> None:
        self._take(self._number)
        ordered.depth += 1

    def __exit__(self, *_: object) -> None:
        ordered.depth -= 1
        self._give(self._number)
        Epoch.step()


def lock(number: int) -> Lock:
    """For `with`: held by one thread of the job; number: 0 to 65535.

    Errors: ValueError for another number. To take a lock that this thread holds ends the job."""
    return Lock(number, "sms_lock", "sms_unlock")


def shared_lock(number: int) -> Lock:
    """For `with`: held by any number of threads that only read; number: 0 to 65535.

    Errors: ValueError for another number."""
    return Lock(number, "sms_lock_shared", "sms_unlock_shared")


def prange(start: int, stop: int | None = None, step: int = 1) -> range:
    """This rank's part of range(...): a block of ceil(n / ranks), which is what it has of an axis of n elements that
    is divided among all ranks. No barrier."""
    whole = range(start) if stop is None else range(start, stop, step)
    block = -(-len(whole) // job.size)
    return whole[job.rank * block : (job.rank + 1) * block]


class Single:
    """See single()."""

    def __init__(self, rank: int) -> None:
        self._rank = rank

    def __iter__(self) -> Iterator[int]:
        barrier()
        if job.rank == self._rank:
            yield self._rank
        barrier()

    def __enter__(self) -> NoReturn:
        raise TypeError("a `with` cannot leave out its body on the other ranks; use `for _ in hiroba.single():`")

    def __exit__(self, *_: object) -> None:
        """`with` wants one."""


def single(rank: int = 0) -> Single:
    """`for _ in hiroba.single(): ...`: one rank executes the body, after what all have written before, and before what
    they do after it: there is a barrier before and one after the body. Collective.

    Errors: ValueError if there is no such rank."""
    return Single(job.known_rank(rank, f"single({rank!r})"))


# ---- atomics ---------------------------------------------------------------------------------------------------------


def element(array: np.ndarray, index: SupportsIndex | Sequence[int], call: str) -> tuple[int, int]:
    """The address of an integer in shared memory, and its size."""
    table.of(array, call)
    if array.dtype.kind not in "iu" or array.dtype.itemsize not in (4, 8):
        raise TypeError(f"{call}: elements of type {array.dtype}; atomic are integers of 4 or 8 bytes")
    return table.address_at(array, index, call), array.dtype.itemsize


def fitting(value: SupportsIndex, size: int, call: str) -> int:
    """An integer as the library takes it: of as many bytes as an element, which may have a sign or not."""
    number = operator.index(value)
    if not -(1 << 8 * size - 1) <= number < 1 << 8 * size:
        raise OverflowError(f"{call}: {number} does not fit in an element of {size} bytes")
    return number


def added(address: int, dtype: np.dtype, number: int) -> int:
    """Adds to an element at its home; returns what it was."""
    add = library.sms_fetch_add if dtype.itemsize == 8 else library.sms_fetch_add32
    return as_type(add(address, number), dtype)


def fetch_add(array: np.ndarray, index: SupportsIndex | Sequence[int], value: SupportsIndex) -> int:
    """Adds to an element at once, at its home, and returns what it was.

    Errors: TypeError if the elements, or the value, are no integers of 4 or 8 bytes; OverflowError if it does not fit;
    Error if the array is in private memory; IndexError if there is no such element."""
    address, size = element(array, index, "fetch_add")
    return added(address, array.dtype, fitting(value, size, "fetch_add"))


def compare_swap(
    array: np.ndarray, index: SupportsIndex | Sequence[int], expected: SupportsIndex, desired: SupportsIndex
) -> int:
    """Writes `desired` if the element is `expected`; returns what it was.

    Errors: TypeError if the elements, or the values, are no integers of 4 or 8 bytes; OverflowError if these do not
    fit; Error if the array is in private memory; IndexError if there is no such element."""
    address, size = element(array, index, "compare_swap")
    expected, desired = fitting(expected, size, "compare_swap"), fitting(desired, size, "compare_swap")
    swap = library.sms_compare_swap if size == 8 else library.sms_compare_swap32
    return as_type(swap(address, expected, desired), array.dtype)


def atomic_load(array: np.ndarray, index: SupportsIndex | Sequence[int]) -> int:
    """Reads an element as it is at its home.

    Errors: TypeError if the elements are no integers of 4 or 8 bytes; Error if the array is in private memory;
    IndexError if there is no such element."""
    address, _ = element(array, index, "atomic_load")
    return added(address, array.dtype, 0)


def atomic_store(array: np.ndarray, index: SupportsIndex | Sequence[int], value: SupportsIndex) -> None:
    """Writes an element at its home.

    Errors: TypeError if the elements, or the value, are no integers of 4 or 8 bytes; OverflowError if it does not fit;
    Error if the array is in private memory; IndexError if there is no such element."""
    address, size = element(array, index, "atomic_store")
    value = fitting(value, size, "atomic_store")
    if size == 8:
        library.sms_atomic_store(address, value)
        return
    while (old := library.sms_fetch_add32(address, 0)) != library.sms_compare_swap32(address, old, value):
        pass


def as_type(value: int, dtype: np.dtype) -> int:
    """Numbers of the library have a sign."""
    return value if dtype.kind == "i" else value % (1 << 8 * dtype.itemsize)
