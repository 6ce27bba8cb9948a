"""Collective operations on numbers and arrays, blocking and started: those of collective.h. All ranks of the job make
the call in the same order. Arrays have the same shape and type on all ranks, where it is not said otherwise; elements
are combined in the order of ranks, so all get the same bits.

Blocking calls return the result: a number for a number, an array in private memory for an array. Started ones, with
an `i` before the name, return a Request, whose wait() returns it; what they were given must not change before."""

from __future__ import annotations

import ctypes
import functools
import io
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hiroba import table, watch
from hiroba.arrays import Array, view_at
from hiroba.epochs import Epoch
from hiroba.job import known_rank, library, rank, size, stand_at
from hiroba.library import INT, LONG, POINTER, Handle, declare
from hiroba.places import calling_place
from hiroba.requests import Request
from hiroba.table import address_of
from hiroba.turns import in_turn

__all__ = [
    "allgather",
    "allreduce",
    "alltoall",
    "bcast",
    "exscan",
    "gather",
    "iallgather",
    "iallreduce",
    "ialltoall",
    "ibarrier",
    "ibcast",
    "ireduce",
    "reduce",
    "scan",
    "scatter",
]

OPERATORS: dict[str, np.ufunc] = {  # in the order of their numbers
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "land": np.logical_and,
    "lor": np.logical_or,
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
}
TYPES = {
    np.dtype(name): i
    for i, name in enumerate(
        ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "longdouble", "c8", "c16", "clongdouble")
    )
}
LOGICAL = ("land", "lor")
ALL = None  # HIROBA_ALL

# The arguments before team and request.
OPERATIONS = {
    "barrier": (),
    "bcast": (POINTER, LONG, LONG, INT),
    "reduce": (POINTER, POINTER, LONG, LONG, POINTER, INT),
    "allreduce": (POINTER, POINTER, LONG, LONG, POINTER),
    "scan": (POINTER, POINTER, LONG, LONG, POINTER),
    "exscan": (POINTER, POINTER, LONG, LONG, POINTER),
    "gather": (POINTER, POINTER, LONG, LONG, INT),
    "scatter": (POINTER, POINTER, LONG, LONG, INT),
    "allgather": (POINTER, POINTER, LONG, LONG),
    "alltoall": (POINTER, POINTER, LONG, LONG),
    "alltoallv": (POINTER, POINTER, POINTER, POINTER, POINTER, POINTER, LONG),
}
declare(library, {f"hiroba_{name}": (None, *words, POINTER) for name, words in OPERATIONS.items()})
declare(library, {f"hiroba_i{name}": (None, *words, POINTER, POINTER) for name, words in OPERATIONS.items()})


class Operation(NamedTuple):
    """A call of the library: its name without `hiroba_`, and arguments without team and request; what must live until
    it is complete; what makes the result then."""

    name: str
    words: tuple[Any, ...] = ()
    used: tuple[Any, ...] = ()
    result: Callable[[], Any] = lambda: None

    def run(self) -> Any:
        stand_at(calling_place())
        in_turn(getattr(library, f"hiroba_{self.name}"), *self.words, ALL)
        Epoch.step()
        return self.result()

    def start(self) -> Request:
        stand_at(calling_place())
        handle = Handle()
        in_turn(getattr(library, f"hiroba_i{self.name}"), *self.words, ALL, ctypes.byref(handle))
        return Request(handle, self.used, self.result)


def known_operator(op: str, dtype: np.dtype) -> int | None:
    """The library's operator for elements of this type, if it has it."""
    lacks = {"c": ("min", "max", "band", "bor", "bxor"), "f": ("band", "bor", "bxor")}.get(dtype.kind, ())
    if dtype not in TYPES or op in lacks:
        return None
    return int(library.hiroba_known_operator(list(OPERATORS).index(op)))


@functools.cache
def operator_of(op: str, dtype: np.dtype) -> tuple[np.ufunc, int | None]:
    """NumPy's function of the operator, and the library's."""
    if op not in OPERATORS:
        raise ValueError(f"op={op!r}; one of {', '.join(OPERATORS)}")
    some = np.empty(0, dtype)
    try:
        is_closed = OPERATORS[op](some, some).dtype in (dtype, np.dtype(bool))
    except TypeError:
        is_closed = False
    if not is_closed:
        raise TypeError(f"elements of type {dtype} cannot be combined by op={op!r}, as numpy.{OPERATORS[op].__name__}")
    return OPERATORS[op], known_operator(op, dtype)


def type_of(dtype: np.dtype) -> int:
    return TYPES.get(dtype, dtype.itemsize << 8 | 0xFF)


def given(value: Any) -> np.ndarray:
    """The value as contiguous memory."""
    if watch.suspects:
        watch.is_meant(value)
    out = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
    if out.dtype.hasobject or out.dtype.itemsize == 0:
        raise TypeError(
            f"{type(value).__name__} of type {out.dtype}: numbers and arrays of numbers; bcast and gather take all"
        )
    return out


def returned(out: np.ndarray, like: Any) -> Any:
    """A number for a number; Python's for one of Python's."""
    if isinstance(like, np.ndarray) or np.ndim(like):
        return out
    return out[()] if isinstance(like, np.generic) else out.item()


def combine(name: str, value: Any, op: str, *more: int) -> Operation:
    have = given(int(value) if isinstance(value, bool) and op in ("sum", "prod") else value)
    have = have.astype(have.dtype.newbyteorder("="), copy=False)
    function, number = operator_of(op, have.dtype)
    if op in LOGICAL:  # 0 or 1 also where a rank has nothing to combine its value with
        have = function(have, have).astype(have.dtype)
    if number is None:
        return combine_here(name, value, have, function, *more)
    out = np.zeros(have.shape, have.dtype)
    words = (address_of(have), address_of(out), have.size, type_of(have.dtype), number, *more)
    mine = not more or rank == more[0]
    return Operation(name, words, (have, out), lambda: returned(out, value) if mine else None)


def combine_here(name: str, value: Any, have: np.ndarray, function: np.ufunc, *more: int) -> Operation:
    """The same for types that the library does not know: each rank gets the values of all, and combines them."""
    gathering = gathered(have)
    ranks = {"scan": rank + 1, "exscan": rank}.get(name, size)

    def result() -> Any:
        every = gathering.result()
        out = np.zeros_like(have, subok=False)
        for r in range(ranks):
            out[...] = every[r] if r == 0 else function(out, every[r])
        return returned(out, value) if not more or rank == more[0] else None

    return gathering._replace(result=result)


def ireduce(value: Any, op: str = "sum", root: int = 0) -> Request:
    """Combines the values of all ranks, element by element, for rank `root`; op: sum prod max min land lor band bor
    bxor. The elements are of any type that NumPy combines so; of bool, integers, float32 and wider, and complex numbers
    each rank gets the result only, of others, such as float16 and timedelta64, the values of all ranks.

    Errors: TypeError if NumPy cannot combine the elements so; ValueError for an unknown op, or root."""
    return combine("reduce", value, op, root_of(root)).start()


def iallreduce(value: Any, op: str = "sum") -> Request:
    """Combines the values of all ranks, element by element, for all ranks; op as of ireduce().

    Errors: TypeError if NumPy cannot combine the elements so; ValueError for an unknown op."""
    return combine("allreduce", value, op).start()


def reduce(value: Any, op: str = "sum", root: int = 0) -> Any:
    """As ireduce(), and waits. Returns None on other ranks than root.

    Errors: TypeError if NumPy cannot combine the elements so; ValueError for an unknown op, or root."""
    return combine("reduce", value, op, root_of(root)).run()


def allreduce(value: Any, op: str = "sum") -> Any:
    """As iallreduce(), and waits.

    Errors: TypeError if NumPy cannot combine the elements so; ValueError for an unknown op."""
    return combine("allreduce", value, op).run()


def scan(value: Any, op: str = "sum") -> Any:
    """The combination of the values of ranks 0 to this one, element by element; op as of ireduce().

    Errors: TypeError if NumPy cannot combine the elements so; ValueError for an unknown op."""
    return combine("scan", value, op).run()


def exscan(value: Any, op: str = "sum") -> Any:
    """The combination of the values of the ranks before this one, element by element; zero on rank 0.

    Errors: TypeError if NumPy cannot combine the elements so; ValueError for an unknown op."""
    return combine("exscan", value, op).run()


def ibarrier() -> Request:
    """A started barrier. It synchronises execution, but not shared memory."""
    return Operation("barrier").start()


class Pickler(pickle.Pickler):
    """What it makes is for ranks of this job: shared arrays arrive as views of the same memory."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Array) and table.at(address_of(value)) is not None:
            return view_at, (address_of(value), value.shape, value.strides, value.dtype)
        return NotImplemented


def pickled(value: Any) -> bytes:
    out = io.BytesIO()
    Pickler(out).dump(value)
    return out.getvalue()


def ibcast(buffer: np.ndarray, root: int = 0) -> Request:
    """Overwrites the contiguous array `buffer` of all ranks with that of rank `root`.

    Errors: ValueError if it is not contiguous, or read-only, or there is no rank `root`."""
    return broadcast(buffer, root).start()


def broadcast(buffer: np.ndarray, root: int) -> Operation:
    if not buffer.flags.c_contiguous or not buffer.flags.writeable:
        raise ValueError("ibcast: the array must be contiguous and writable, because it is received in place")
    words = (address_of(buffer), buffer.size, type_of(buffer.dtype), root_of(root))
    return Operation("bcast", words, (buffer,), lambda: buffer)


def bcast(value: Any = None, root: int = 0) -> Any:
    """Returns to all ranks what rank `root` gives: a number, the elements of an array, or any object that can be
    pickled; shared arrays in it arrive as views of the same memory. What other ranks give does not matter.

    Errors: ValueError if there is no rank `root`; what pickle raises for an object."""
    raw = isinstance(value, np.ndarray) and not value.dtype.hasobject
    text = b""
    if rank == root_of(root):
        text = pickled((value.dtype, value.shape) if raw else value)
    head = np.array([len(text), raw and rank == root], np.int64)
    length, is_raw = broadcast(head, root).run().tolist()
    body = np.frombuffer(bytearray(text if rank == root else length), np.uint8)
    out = pickle.loads(broadcast(body, root).run().tobytes())
    if not is_raw:
        return out
    dtype, shape = out
    buffer = np.ascontiguousarray(value).copy() if rank == root else np.empty(shape, dtype)
    return broadcast(np.asarray(buffer).reshape(shape), root).run()


def on_rank(root: int, function: Callable[[], Any]) -> Any:
    """Returns what the function does on one rank, or raises its exception, on all ranks: a program that goes on after a
    mistake that only this rank can find does so everywhere."""
    out: Any = None
    mine: Exception | None = None
    if rank == root_of(root):
        try:
            out = function()
        except Exception as error:
            mine = error
    out, wrong = bcast((out, mine), root)
    if wrong is not None:
        raise mine or wrong
    return out


def same_on_all(array: np.ndarray, call: str) -> None:
    """Raises ValueError on all ranks if they give different shared arrays, or different sections of one."""
    whole = table.of(array, call)
    about = hash((address_of(array), array.shape, array.strides)) >> 1  # the same on all ranks, of which none is 2^63
    least, other = allreduce(np.array([about, -about]), "min").tolist()
    if least != -other:
        raise ValueError(f"{call}: ranks give different arrays, or sections: this one {array.shape} of {whole.name}")


def iallgather(value: Any) -> Request:
    """Returns an array with the values of all ranks along a new first axis, of `size` elements.

    Errors: TypeError if the elements are Python objects."""
    return gathered(value).start()


def gathered(value: Any) -> Operation:
    have = given(value)
    out = np.empty((size, *have.shape), have.dtype)
    words = (address_of(have), address_of(out), have.size, type_of(have.dtype))
    return Operation("allgather", words, (have, out), lambda: out)


def allgather(value: Any) -> Any:
    """Numbers and arrays: as iallgather(), and waits. Other objects: a list of them.

    Errors: TypeError for elements of no bytes; what pickle raises for an object."""
    if is_plain(value):
        return gathered(value).run()
    return [bcast(value, root) for root in range(size)]


def gather(value: Any, root: int = 0) -> Any:
    """As allgather(), for rank `root`; None on the others.

    Errors: ValueError if there is no such rank; else as of allgather(), TypeError."""
    if not is_plain(value):
        everything = allgather(value)
        return everything if rank == root else None
    have = given(value)
    out = np.empty((size if rank == root_of(root) else 0, *have.shape), have.dtype)
    words = (address_of(have), address_of(out), have.size, type_of(have.dtype), root)
    return Operation("gather", words, (have, out), lambda: out if rank == root else None).run()


def scatter(values: Any = None, root: int = 0) -> Any:
    """Rank r gets values[r] of rank `root`, where the first axis has as many elements as there are ranks.

    Errors: ValueError for another shape, or if there is no rank `root`; TypeError if the elements are Python
    objects."""
    have: np.ndarray | None = None

    def look() -> tuple[np.dtype, tuple[int, ...]]:
        nonlocal have
        have = parts_of(values, "scatter")
        return have.dtype, have.shape[1:]

    dtype, shape = on_rank(root, look)
    out = np.empty(shape, dtype)
    words = (0 if have is None else address_of(have), address_of(out), out.size, type_of(dtype), root)
    return Operation("scatter", words, (have, out), lambda: out if shape else out[()]).run()


def ialltoall(values: Any) -> Request:
    """Rank r gives values[s] to rank s, which gets it as [r] of its result; the first axis has `size` elements.

    Errors: ValueError for another shape; TypeError if the elements are Python objects."""
    return exchange(values).start()


def parts_of(values: Any, call: str) -> np.ndarray:
    have = given(values)
    if have.ndim == 0 or len(have) != size:
        raise ValueError(f"{call}: shape {have.shape}; the first axis has {size} elements, one for each rank")
    return have


def exchange(values: Any) -> Operation:
    have = parts_of(values, "alltoall")
    out = np.empty_like(have, subok=False)
    words = (address_of(have), address_of(out), have.size // size, type_of(have.dtype))
    return Operation("alltoall", words, (have, out), lambda: out)


def alltoall(values: Any) -> Any:
    """As ialltoall(), and waits.

    Errors: ValueError for another shape; TypeError if the elements are Python objects."""
    return exchange(values).run()


def is_plain(value: Any) -> bool:
    dtype = np.asarray(value).dtype if isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)) else None
    return dtype is not None and not dtype.hasobject


def root_of(root: int) -> int:
    return known_rank(root, f"root={root!r}")
