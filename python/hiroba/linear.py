"""Sparse matrices and preconditioners, on vectors in shared arrays: sparse.h; solvers.py solves with them.
docs/sparse.md says what they are for.

Collective, all of it. Misuse ends the job with a message; so does an exception in a function that the library calls,
with its traceback."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from hiroba import job, table
from hiroba.arrays import Array, forget, of_memory
from hiroba.collectives import TYPES, allgather
from hiroba.epochs import barrier
from hiroba.library import INT, LONG, POINTER, TEXT, Error, declare, load_beside
from hiroba.parallel import prange
from hiroba.places import calling_place
from hiroba.turns import in_turn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

__all__ = ["Operator", "chebyshev", "ilu", "jacobi", "matrix", "operator", "read_matrix"]

FORMATS = {None: 0, "csr": 1, "sell": 2}
SYMMETRIC, HERMITIAN, ONE_TRIANGLE = 4, 8, 16

Apply = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER)


class Facts(ctypes.Structure):
    """hiroba_linop_facts"""

    _fields_ = (
        ("type", LONG),
        *((name, LONG) for name in ("rows", "first", "count", "entries", "stored", "fetched")),
        ("format", INT),
    )


FUNCTIONS: dict[str, tuple] = {
    "hiroba_linop_read": (POINTER, TEXT, LONG, INT),
    "hiroba_linop_from_triplets": (POINTER, LONG, LONG, LONG, POINTER, POINTER, POINTER, INT),
    "hiroba_linop_from_function": (POINTER, LONG, LONG, Apply, POINTER, POINTER),
    "hiroba_linop_free": (None, POINTER),
    "hiroba_linop_look": (Facts, POINTER),
    "hiroba_linop_vector": (POINTER, POINTER),
    "hiroba_linop_apply": (None, POINTER, POINTER, POINTER),
    "hiroba_linop_jacobi": (POINTER, POINTER),
    "hiroba_linop_ilu": (POINTER, POINTER, ctypes.c_double),
    "hiroba_linop_chebyshev": (POINTER, POINTER, INT, ctypes.c_double, ctypes.c_double),
}


@functools.cache
def sparse() -> ctypes.CDLL:
    library = load_beside("libhiroba_sparse.so")
    declare(library, FUNCTIONS)
    return library


def call(name: str, *words: Any) -> Any:
    job.stand_at(calling_place())
    return in_turn(getattr(sparse(), name), *words)


def called_back(function: Callable[..., Any]) -> Callable[..., Any]:
    """An exception cannot pass through the library, so it ends the job."""

    @functools.wraps(function)
    def guarded(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:
            job.fail_with(error)

    return guarded


class Operator:
    """A square sparse matrix, a preconditioner, or a function of the program. Its rows are divided among the ranks,
    each of which has consecutive ones, and so are the elements of its vectors."""

    def __init__(self, handle: int) -> None:
        facts = sparse().hiroba_linop_look(handle)
        self._handle: int | None = handle
        self._counts = allgather(facts.count).tolist()  # rows of each rank
        self.shape = (facts.rows, facts.rows)
        self.dtype = next(dtype for dtype, number in TYPES.items() if number == facts.type)
        self.rows = slice(facts.first, facts.first + facts.count)  # those of this rank

    @property
    def handle(self) -> int:
        """The address of the hiroba_linop, for calls of sparse.h.

        Errors: Error if the operator was freed."""
        if self._handle is None:
            raise Error("the operator was freed by free()")
        return self._handle

    def facts(self) -> dict[str, Any]:
        """Of a matrix: entries; those stored by this rank, with zeros; elements fetched in each product; the format.

        Errors: Error if the operator was freed."""
        got = sparse().hiroba_linop_look(self.handle)
        out: dict[str, Any] = {name: getattr(got, name) for name in ("entries", "stored", "fetched")}
        return out | {"format": list(FORMATS)[got.format]}

    def vector(self, values: ArrayLike | None = None) -> Array:
        """Makes a shared array of n elements, divided as the rows: of zeros, or of values that all ranks have.

        Errors: ValueError for values of another shape; Error if the operator was freed."""
        if values is not None and np.shape(values) != self.shape[:1]:
            raise ValueError(f"vector: shape {np.shape(values)} for an operator of {self.shape[0]} rows")
        out = of_memory(call("hiroba_linop_vector", self.handle), self.shape[:1], self.dtype, calling_place())
        if values is not None:
            out[self.rows] = np.asanyarray(values)[self.rows]
        return out

    def apply(self, x: Array, y: Array) -> None:
        """Computes y = A x on two vectors of vector(): each rank its elements, directly after which it may use them.
        Before it uses those of others comes a barrier.

        Errors: Error if the operator was freed; arrays that are no such vectors end the job."""
        call("hiroba_linop_apply", self.handle, table.address_of(x), table.address_of(y))

    def __matmul__(self, x: np.ndarray) -> Array:
        """A @ x makes a vector. x: any array of n elements. Ends with a barrier."""
        out = self.vector()
        with self.as_vector(x) as given:
            self.apply(given, out)
        barrier()
        return out

    def free(self) -> None:
        """Frees the operator; its vectors stay.

        Errors: Error if it was freed before."""
        handle = POINTER(self.handle)
        call("hiroba_linop_free", ctypes.byref(handle))
        self._handle = None

    def is_vector(self, array: Any) -> TypeGuard[Array]:
        """Whether it is a whole shared array that is divided as the rows."""
        found = table.at(table.address_of(array)) if isinstance(array, Array) else None
        if found is None or (array.shape, array.dtype, array.strides) != (
            found.shape,
            self.dtype,
            (found.dtype.itemsize,),
        ):
            return False
        return [found.box(r)[1][0] for r in range(job.size)] == self._counts

    @contextlib.contextmanager
    def as_vector(self, given: ArrayLike) -> Iterator[Array]:
        """The array itself if it is a vector, or else a vector with its elements, which is freed at the end.

        Errors: as of vector(): ValueError, Error."""
        if self.is_vector(given):
            yield given
            return
        with self.vector(given) as out:
            yield out


def handle_of(given: object, call: str) -> int:
    """Of an operator that the program gives."""
    if not isinstance(given, Operator):
        raise TypeError(f"{call}: {type(given).__name__} is no operator of hiroba; hiroba.matrix() makes one")
    return given.handle


class FunctionOperator(Operator):
    """See operator()."""

    def __init__(
        self, n: int, function: Callable[[Array, Array], object], dtype: np.dtype, like: Operator | None
    ) -> None:
        self._seen: dict[int, Array] = {}  # vectors of the library, by address
        self._apply = Apply(called_back(lambda x, y, _: function(self.see(x), self.see(y))))
        words = (type_of(dtype), n, self._apply, None, None if like is None else handle_of(like, "operator: like"))
        super().__init__(call("hiroba_linop_from_function", *words))

    def see(self, address: int) -> Array:
        if address not in self._seen:
            self._seen[address] = of_memory(address, self.shape[:1], self.dtype, "a vector of an operator")
        return self._seen[address]

    def free(self) -> None:
        super().free()
        while self._seen:
            forget(table.of(self._seen.popitem()[1], "free"))


# ---- making them -----------------------------------------------------------------------------------------------------


def type_of(dtype: DTypeLike) -> int:
    kind = np.dtype(dtype)
    if kind.char not in "fdFD":
        raise TypeError(f"type {kind}; sparse matrices have float32, float64, complex64 or complex128")
    return TYPES[kind]


def flags(format_: str | None, symmetric: bool, hermitian: bool, one_triangle: bool) -> int:
    if format_ not in FORMATS:
        raise ValueError(f"format={format_!r}; 'csr', 'sell' or None")
    return FORMATS[format_] + SYMMETRIC * symmetric + HERMITIAN * hermitian + ONE_TRIANGLE * one_triangle


def matrix(
    given: Any,
    n: int | None = None,
    *,
    format: str | None = None,
    symmetric: bool = False,
    hermitian: bool = False,
    one_triangle: bool = False,
) -> Operator:
    """Makes a matrix of a square one of scipy.sparse (or of anything that has tocsr()), or of numpy, which all ranks
    have alike; or of (values, (rows, columns)), for n rows, where each rank gives entries of any rows, and those at the
    same place are added. Numbers other than float32, complex64 and complex128 become float64.

    symmetric, hermitian: what it is, which is checked. one_triangle: the entries are those of one triangle with the
    diagonal. format: "csr" or "sell"; None chooses.

    Errors: ValueError if the matrix is not square, or n is missing, if the lengths of values, rows and columns
    differ, or for an unknown format; TypeError for numbers that are none of these. Rows or columns outside, and a
    matrix that is not symmetric although it should be, end the job."""
    values, rows, columns, n = own_entries(given) if n is None else (given[0], *given[1], n)
    kind = np.asarray(values).dtype
    values = np.ascontiguousarray(values, kind if kind.char in "fFD" else "D" if kind.kind == "c" else "d")
    rows, columns = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(columns, np.int64)
    if values.ndim != 1 or not values.shape == rows.shape == columns.shape:
        raise ValueError(
            f"matrix: shapes {values.shape}, {rows.shape}, {columns.shape} of values, rows, columns differ"
        )
    addresses = (table.address_of(each) for each in (rows, columns, values))
    known = flags(format, symmetric, hermitian, one_triangle)
    words = (type_of(values.dtype), n, len(values), *addresses, known)
    return Operator(call("hiroba_linop_from_triplets", *words))


def own_entries(given: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Values, rows and columns of this rank's share of the rows, and the number of all rows."""
    if isinstance(given, tuple):
        raise ValueError("matrix: give n, the number of rows, with (values, (rows, columns))")
    given = given if hasattr(given, "tocsr") else np.asarray(given)
    if len(given.shape) != 2 or given.shape[0] != given.shape[1]:
        raise ValueError(f"matrix: shape {given.shape}; square, or give n with (values, (rows, columns))")
    share = prange(given.shape[0])
    if isinstance(given, np.ndarray):
        rows, columns = np.nonzero(given[share.start : share.stop])
        return given[rows + share.start, columns], rows + share.start, columns, len(given)
    whole = given.tocsr()
    first, last = whole.indptr[share.start], whole.indptr[share.stop]
    rows = np.repeat(np.arange(share.start, share.stop), np.diff(whole.indptr[share.start : share.stop + 1]))
    return whole.data[first:last], rows, whole.indices[first:last], given.shape[0]


def read_matrix(path: str | os.PathLike[str], dtype: DTypeLike = float, *, format: str | None = None) -> Operator:
    """Reads a Matrix Market file ("coordinate"), each rank a part. dtype: float32, float64, complex64 or complex128.

    Errors: TypeError for another dtype; ValueError for an unknown format. A file that cannot be read ends the job."""
    words = (os.fsencode(path), type_of(dtype), flags(format, False, False, False))
    return Operator(call("hiroba_linop_read", *words))


def operator(
    n: int, function: Callable[[Array, Array], object], dtype: DTypeLike = float, like: Operator | None = None
) -> Operator:
    """Makes an operator of a function: function(x, y) computes y = A x on vectors, each rank the elements y[A.rows].
    All ranks call it together, after a barrier, so it may read all of x, which it must not change. Rows are divided
    as those of `like`, or equally.

    Errors: TypeError for another dtype than float32, float64, complex64 and complex128, and if `like` is no operator;
    Error if `like` was freed. What the function raises ends the job."""
    return FunctionOperator(n, function, np.dtype(dtype), like)


def jacobi(a: Operator) -> Operator:
    """The inverse of a matrix' diagonal, as a preconditioner.

    Errors: TypeError if it is no matrix of hiroba; Error if it was freed. A zero on the diagonal ends the job."""
    return Operator(call("hiroba_linop_jacobi", handle_of(a, "jacobi")))


def ilu(a: Operator, relax: float = 0) -> Operator:
    """Incomplete factors of each rank's block of a matrix. relax: the share of the fill-in that is added to the
    diagonal; 0.99 is good for Laplace operators.

    Errors: TypeError if it is no matrix of hiroba; Error if it was freed. A zero that it would divide by ends the
    job."""
    return Operator(call("hiroba_linop_ilu", handle_of(a, "ilu"), relax))


def chebyshev(a: Operator, degree: int, low: float = 0, high: float = 0) -> Operator:
    """A polynomial in D^-1 A, for eigenvalues between low and high, which are estimated if they are 0. A matrix is
    freed after it.

    Errors: TypeError if it is no matrix of hiroba; Error if it was freed."""
    return Operator(call("hiroba_linop_chebyshev", handle_of(a, "chebyshev"), degree, low, high))
