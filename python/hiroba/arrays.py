"""Arrays in the memory of all nodes. An array is a numpy.ndarray, at the same address in every rank; so are its views.
What NumPy computes from it, and copies, are plain arrays in private memory.

Who frees: `A.free()`, which is collective, or the end of the job. Python's garbage collection never does, because it
runs at another time in each rank. Views that are left raise an exception after that; a plain numpy.ndarray of the same
memory (numpy.asarray) ends the job with a message when it is used.

Collective: all ranks make the call, in the same order, with the same arguments."""

from __future__ import annotations

import ctypes
import gc
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np

from hiroba import boxes, job, table
from hiroba.assignments import watched_type
from hiroba.epochs import Epoch, barrier
from hiroba.job import library
from hiroba.library import Error, Range, Statistics
from hiroba.places import calling_place
from hiroba.requests import Request
from hiroba.turns import in_turn
from hiroba.watch import watch, watch_assignment

if TYPE_CHECKING:  # which takes as long to import as all that is here
    from numpy.typing import ArrayLike, DTypeLike

__all__ = ["Array", "array", "empty", "from_function", "full", "is_shared", "ones", "zeros"]

MOST_ELEMENTS = 1 << 63
MOST_AXES = 64  # of NumPy
HOMES = {"fixed": 0, "first-touch": 1, "migrating": 2}
Split = int | None | Sequence[int]


# Functions of NumPy that write into their first argument, and its name.
WRITERS: dict[Any, str] = {
    np.copyto: "dst",
    np.fill_diagonal: "a",
    np.place: "arr",
    np.put: "a",
    np.put_along_axis: "arr",
    np.putmask: "a",
}
# Methods that write into `out`, which NumPy tells nobody, as it does of its functions.
OUT_METHODS = [
    *("all", "any", "argmax", "argmin", "choose", "compress", "cumprod", "cumsum", "dot", "max", "mean", "min"),
    *("prod", "std", "sum", "take", "trace", "var"),
]

if TYPE_CHECKING:
    Base = np.ndarray
else:
    Base = watched_type(watch_assignment) if job.size > 1 else np.ndarray


class Array(Base):
    """A shared array, or a view of one."""

    if TYPE_CHECKING:  # NumPy's types say ndarray

        def __getitem__(self, index: Any) -> Any: ...
        def reshape(self, *shape: Any, **more: Any) -> Any: ...

        T: Any
        __iadd__: Any
        __isub__: Any
        __imul__: Any
        __itruediv__: Any

    # ---- whose it is ----

    def box(self, rank: int | None = None) -> tuple[slice, ...]:
        """The slices that hold the elements of a rank, this one if none is given: A[A.box(r)]; one for each axis.
        What reshape(), ravel() and view() have made of an array that is divided along its first axis is divided so,
        too: a row is the rank's that has its first element.

        Errors: ValueError if there is no such rank; Error if the array is in private memory, or a view of a shared one
        that has neither slices nor rows of its ranks, as a diagonal if columns are divided."""
        return table.part_of(self, job.rank if rank is None else job.known_rank(rank, f"box({rank!r})"))

    @property
    def local(self) -> Array:
        """The elements of this rank, as a view with as many axes; of an array without axes one of one axis, which has
        an element on one rank.

        Errors: as of box()."""
        if self.ndim == 0:
            return self.reshape(1).local
        return self[self.box()]

    def halo(self, width: int = 1) -> Array:
        """The elements of this rank with those at most `width` away along the axes that are divided, as a view: what a
        stencil reads. Empty if the rank has none. view[1:-1] are then the inner elements of the array that are this
        rank's, if the width is 1.

        Errors: ValueError for a width that is negative, or no integer; else as of box()."""
        number = job.index_of(width)
        if number is None or number < 0:
            raise ValueError(f"halo({width!r}): an integer of 0 or more")
        return self[table.part_of(self, job.rank, number)]

    def home(self, index: SupportsIndex | Sequence[int]) -> int:
        """The rank that has an element: `index` has a number for each axis.

        Errors: IndexError if there is no such element; TypeError for other indices than integers; Error if the array is
        in private memory."""
        table.of(self, "home")
        return library.sms_home(table.address_at(self, index, "home"))

    # ---- moving it ----

    def preload(self, section: Any = (), wait: bool = True) -> Request:
        """Brings A[section] to this node at once, which costs less than page by page; until the next barrier it is
        read there. With wait=False it only starts. No synchronisation.

        Errors: ValueError if the section has no elements, or is one element; else as of box()."""
        view = self[section]
        if not isinstance(view, np.ndarray) or view.size == 0:
            raise ValueError("preload: the section has no elements; use slices")
        array = table.of(view, "preload")
        sections = boxes.sections_of(table.runs(view, array, "preload"))
        known = len(table.folded(array.shape))
        if len(sections) > known:
            sections[known - 1 :] = [(0, table.folded(array.shape)[-1], 1)]
        ranges = (Range * known)(*(Range(*each) for each in sections))
        request = Request(library.sms_preload_start(array.address, ranges), view)
        if wait:
            request.wait()
        return request

    def redistribute(self, split: Split = 0, on: int = 0) -> None:
        """Divides the array in another way, with its contents; see zeros(). Collective, and a barrier.

        Errors: ValueError for a division that does not fit the shape, or the ranks; TypeError for one that is not of
        integers; Error if this is a view, or in private memory."""
        array = self._whole("redistribute")
        div, count = division(array.shape, split, on, "redistribute")
        table.parts.clear()
        in_turn(library.sms_redistribute_on, array.address, (ctypes.c_int * (len(div) + 1))(*div, -1), on, count)
        Epoch.begin()

    def free(self) -> None:
        """Frees the memory; this array and all its views raise hiroba.Error from now on. Collective.

        Errors: Error if this is a view, or in private memory."""
        array = self._whole("free")
        forget(array)
        in_turn(library.sms_free, array.address)
        Epoch.step()

    def stats(self) -> dict[str, int]:
        """What this rank has fetched, sent, ... of the whole array: the counts of sms_statistics in sms.h, of pages of
        4 KiB, of messages, and of bytes where the name says so.

        Errors: Error if the array is in private memory."""
        out = Statistics()
        library.sms_stats(table.of(self, "stats").address, ctypes.byref(out))
        return {name: getattr(out, name) for name, *_ in Statistics._fields_}

    def _whole(self, call: str) -> table.Shared:
        array = table.of(self, call)
        if table.address_of(self) != array.address or self.size != array.elements:
            raise Error(f"{call}: this is a view of array {array.name}; call it with the whole array")
        return array

    def __enter__(self) -> Array:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self.free()

    # ---- what leaves shared memory is a plain array ----

    def __array_wrap__(self, result: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if isinstance(result, Array):  # of an operation in place
            if job.size > 1:
                watch(result)
            return result
        return result[()] if return_scalar else result

    if job.size > 1:

        def __array_function__(self, function: Any, types: Any, arguments: Any, more: Any) -> Any:
            name = WRITERS.get(function, "out")
            out = arguments[0] if function in WRITERS and arguments else more.get(name)
            if isinstance(out, Array):
                watch(out)
            return super().__array_function__(function, types, arguments, more)

    def copy(self, order: Any = "C") -> Any:
        """The elements as a numpy.ndarray in private memory."""
        return np.asarray(self).copy(order)

    def astype(self, *arguments: Any, **more: Any) -> np.ndarray:
        """The elements as another type, in private memory; arguments as of NumPy's."""
        return np.asarray(self).astype(*arguments, **more)

    def flatten(self, order: Any = "C") -> np.ndarray:
        """The elements along one axis, in private memory."""
        return np.asarray(self).flatten(order)

    def __reduce__(self) -> Any:
        """A pickle has the elements, so that other jobs can read it; in collectives.py it is the view that is sent."""
        return np.asarray(self).__reduce__()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return np.asarray(self).__reduce_ex__(protocol)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()


def in_place(name: str) -> Callable[..., Any]:
    plain = getattr(np.ndarray, name)

    def operate(self: Array, *arguments: Any, **more: Any) -> Any:
        if job.size > 1:
            watch(self)
        return plain(self, *arguments, **more)

    operate.__name__ = name
    return operate


def with_out(name: str) -> Callable[..., Any]:
    plain = getattr(np.ndarray, name)

    def operate(self: Array, *arguments: Any, **more: Any) -> Any:
        if isinstance(out := more.get("out"), Array):
            watch(out)
        return plain(self, *arguments, **more)

    operate.__name__ = name
    return operate


def assigned(name: str) -> property:
    plain: Any = getattr(np.ndarray, name)

    def assign(self: Array, value: Any) -> None:
        if job.size > 1:
            watch(self)
        plain.__set__(self, value)

    return property(plain.__get__, assign)


for each_name in ("fill", "partition", "put", "setfield", "sort"):
    setattr(Array, each_name, in_place(each_name))
if job.size > 1:
    for each_name in OUT_METHODS:
        setattr(Array, each_name, with_out(each_name))
for each_name in ("flat", "real", "imag"):
    setattr(Array, each_name, assigned(each_name))


def hint(error: BaseException) -> str:
    """Of `A = A + 1`, after which `A.local` is an attribute that numpy.ndarray has not."""
    value, name = getattr(error, "obj", None), getattr(error, "name", None)
    if not isinstance(value, (np.ndarray, np.generic)) or isinstance(value, Array) or name not in vars(Array):
        return ""
    return f"{table.about_private(value)}. `A = A + 1` makes such an array; `A.local[...] += 1` changes the shared one"


job.hints.append(hint)


class FreedArray(Base):
    """What an array has become that was freed."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__array_finalize__", "__repr__", "__str__"):
            return super().__getattribute__(name)
        return refuse()

    def __repr__(self) -> str:
        return "<shared array, freed>"

    __str__ = __repr__


def refuse(*_: object, **__: object) -> NoReturn:
    raise Error("the array was freed by free(); use it before that, or copy what is needed later")


for each_method in [
    "getitem",
    "setitem",
    "len",
    "iter",
    "contains",
    "array",
    "array_ufunc",
    "array_function",
    "buffer",
    "float",
    "int",
    "bool",
]:
    setattr(FreedArray, f"__{each_method}__", refuse)


# ---- making them ---------------------------------------------------------------------------------------------------


def division(shape: tuple[int, ...], split: Split, on: int, call: str) -> tuple[list[int], int]:
    """Returns the number of pieces per dimension, and of the ranks that have them, from rank `on` on."""
    known = table.folded(shape)
    ranks, div = job.size - job.known_rank(on, f"{call}: on={on!r}"), [1] * len(known)
    if split is None:
        return div, 1
    if isinstance(split, SupportsIndex):
        axis = int(split)
        if not shape:
            return div, 1
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"{call}: split={axis} is no axis of shape {shape}")
        axis %= len(shape)
        parts = [1] * len(shape)
        parts[axis] = min(ranks, max(1, shape[axis]))
    elif isinstance(split, Iterable) and all(isinstance(n, SupportsIndex) for n in split):
        parts = [int(n) for n in split]
    else:
        raise TypeError(f"{call}: split={split!r}; an axis, the number of parts along each axis, or None")
    if len(parts) != len(shape):
        raise ValueError(f"{call}: split={tuple(parts)} has {len(parts)} numbers, and shape {shape} {len(shape)}")
    if any(not 1 <= n <= max(1, of) for n, of in zip(parts, shape, strict=True)):
        raise ValueError(f"{call}: split={tuple(parts)} of shape {shape}; 1 to the length of each axis")
    if math.prod(parts) > ranks:
        raise ValueError(f"{call}: split={tuple(parts)} makes {math.prod(parts)} parts for {ranks} ranks")
    if any(n > 1 for n in parts[len(known) - 1 :]) and len(shape) > len(known):
        raise ValueError(f"{call}: split={tuple(parts)}: of {len(shape)} axes the first {len(known) - 1} can be cut")
    return parts[: len(known)] or div, ranks


def value_bytes(dtype: np.dtype) -> int | None:
    """The size of one value, if it is not that of an element: of complex numbers a part, of structures a member."""
    if dtype.fields is not None:
        sizes = {value_bytes(each[0].base) or each[0].base.itemsize for each in dtype.fields.values()}
        fits = all(each[1] % min(sizes) == 0 for each in dtype.fields.values()) and dtype.itemsize % min(sizes) == 0
        return min(sizes) if fits and min(sizes) in (1, 2, 4, 8) else 1
    return dtype.itemsize // 2 if dtype.kind == "c" and dtype.itemsize <= 16 else None


def shape_of(shape: Any) -> tuple[int, ...]:
    given = (shape,) if isinstance(shape, SupportsIndex) else shape
    if not isinstance(given, Iterable) or not all(isinstance(n, SupportsIndex) for n in given):
        raise TypeError(f"shape {shape!r}; an integer, or a tuple of integers")
    out = tuple(int(n.__index__()) for n in given)
    if len(out) > MOST_AXES:
        raise ValueError(f"shape with {len(out)} axes; arrays of NumPy have at most {MOST_AXES}")
    if any(n < 0 for n in out):
        raise ValueError(f"shape {out} has a negative number")
    if any(n >= MOST_ELEMENTS for n in out):
        raise ValueError(f"shape {out} has a number of 2^63 or more")
    return out


def zeros(
    shape: Any, dtype: DTypeLike = float, split: Split = 0, homes: str | None = None, on: int = 0, name: str = ""
) -> Array:
    """Makes an array of zeros. Collective.

    split: the axis that is divided among the ranks, in blocks of ceil(n / ranks); or the number of parts per axis; or
    None: all is on rank `on`. homes: "fixed", "first-touch" or "migrating" (docs/homes.md). on: the first of the
    ranks that have it. name: for messages; otherwise they say the line.

    Errors: TypeError for elements that are Python objects, or have no length, as "U", and a shape or split that is not
    of integers; ValueError for a shape that is negative or too large, a split that does not fit it, or the ranks, and
    an unknown word for homes. Shapes that differ between ranks, and more memory than there is, end the job with a
    message."""
    lengths, kind = shape_of(shape), np.dtype(dtype)
    if kind.hasobject:
        raise TypeError(f"dtype {kind} holds Python objects: pointers, which only one process can follow")
    if kind.itemsize == 0:
        raise TypeError(f"dtype {kind} has elements of no bytes; say how long they are, as in 'U10'")
    if homes is not None and homes not in HOMES:
        raise ValueError(f"homes={homes!r}; one of {', '.join(HOMES)}")
    if math.prod(max(1, n) for n in lengths) * kind.itemsize >= MOST_ELEMENTS:
        raise ValueError(f"shape {lengths} with elements of {kind.itemsize} bytes; an array has less than 2^63 bytes")
    if not isinstance(name, str):
        raise TypeError(f"name={name!r}; a text")
    div, count = division(lengths, split, on, "zeros")
    place, dim = calling_place(), table.folded(lengths)
    c_dim, c_div = (ctypes.c_int64 * (len(dim) + 1))(*dim, -1), (ctypes.c_int64 * (len(dim) + 1))(*div, -1)
    words = (c_dim, c_div, kind.itemsize, on, count, place.encode())
    address = in_turn(library.sms_mapalloc_large_at, *words)
    Epoch.step()
    if name:
        library.sms_name(address, name.encode())
    if (scalar := value_bytes(kind)) is not None:
        library.sms_set_scalar(address, scalar)
    if homes is not None:
        library.sms_set_homes(address, HOMES[homes])
    return of_memory(address, lengths, kind, name or place)


empty = zeros


def of_memory(address: int, shape: tuple[int, ...], dtype: np.dtype, name: str) -> Array:
    """Makes an array of memory that the library has allocated for it."""
    whole = tuple(max(1, n) for n in shape) or (1,)
    bytes_ = math.prod(whole) * dtype.itemsize
    table.add(table.Shared(address, bytes_, math.prod(shape), whole, dtype, name))
    memory = (ctypes.c_char * bytes_).from_address(address)
    return Array(shape, dtype, memory)  # type: ignore[arg-type]


def view_at(address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> Array:
    """Makes a view of an array, from what a view of another rank is."""
    array = table.at(address)
    if array is None:
        raise Error("this view was sent by another rank, and its array has been freed")
    memory = (ctypes.c_char * array.bytes).from_address(array.address)
    return Array(shape, dtype, memory, address - array.address, strides)  # type: ignore[arg-type]


def forget(array: table.Shared) -> None:
    """Makes all views of an array that is freed raise exceptions."""
    for each in gc.get_objects():
        if type(each) is Array and table.at(table.address_of(each)) is array:
            each.__class__ = FreedArray  # type: ignore[assignment]
    table.remove(array)


def filled(out: Array, value: Any) -> Array:
    """Each rank writes its part; `value` makes the elements in some slices."""
    box = out.box()
    part = out.local if out.ndim == 0 else out[box]
    if part.size > 0:
        part[...] = value(box)
    barrier()
    return out


def full(shape: Any, value: Any, dtype: DTypeLike = None, **how: Any) -> Array:
    """Makes an array of a value, or of an array that broadcasts to the shape; the rest is as for zeros(). Collective,
    and a barrier.

    Errors: TypeError and ValueError, as of zeros(), and if the value does not broadcast to the shape."""
    given = np.asarray(value, dtype)
    every = np.broadcast_to(given, shape_of(shape))
    return filled(zeros(shape, given.dtype, **how), lambda box: every[box])


def ones(shape: Any, dtype: DTypeLike = float, **how: Any) -> Array:
    """Makes an array of ones; the rest is as for zeros(). Collective, and a barrier.

    Errors: TypeError and ValueError, as of zeros()."""
    return full(shape, 1, dtype, **how)


def array(values: ArrayLike, dtype: DTypeLike = None, **how: Any) -> Array:
    """Makes a shared array of values that all ranks have, with their shape and type; the rest is as for zeros().
    Collective, and a barrier.

    Errors: TypeError for values that are Python objects; ValueError for nested lists of unequal lengths; else as of
    zeros()."""
    have = np.asarray(values, dtype)
    return filled(zeros(have.shape, have.dtype, **how), lambda box: have[box])


def from_function(function: Callable[..., Any], shape: Any, dtype: DTypeLike = float, **how: Any) -> Array:
    """Makes an array whose element [i, j, ...] is function(i, j, ...). Each rank calls the function once, with arrays
    of the indices of its part that broadcast to its shape. The rest is as for zeros(). Collective, and a barrier.

    Errors: TypeError and ValueError, as of zeros(), and if what the function returns does not broadcast to the shape of
    the part; what the function raises ends the job."""
    out = zeros(shape, dtype, **how)
    return filled(out, lambda box: function(*np.ix_(*(np.arange(each.start, each.stop) for each in box))))


def is_shared(view: np.ndarray) -> bool:
    """Whether the elements are in shared memory: those of arrays of hiroba, and of their views."""
    return isinstance(view, np.ndarray) and table.at(table.address_of(view)) is not None
