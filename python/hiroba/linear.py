"""Sparse matrices, solvers and eigenvalues, on vectors in shared arrays: sparse.h and eigen.h. docs/sparse.md and
docs/eigen.md say what the methods are for.

Collective, all of it. Misuse, and a solver that does not converge, end the job with a message; so does an exception in
a function that the library calls, with its traceback."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from hiroba import job, table
from hiroba.arrays import Array, forget, of_memory
from hiroba.collectives import TYPES, allgather
from hiroba.epochs import barrier
from hiroba.library import INT, LONG, POINTER, TEXT, Error, declare, load_beside
from hiroba.parallel import prange
from hiroba.places import calling_place

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

__all__ = ["Operator", "chebyshev", "eigenpairs", "ilu", "jacobi", "matrix", "operator", "read_matrix", "solve"]

FORMATS = {None: 0, "csr": 1, "sell": 2}
SYMMETRIC, HERMITIAN, ONE_TRIANGLE = 4, 8, 16
METHODS = ("cg", "pipelined-cg", "bicgstab", "gmres", "minres")
PARTS = ("smallest", "largest", "closest", "largest-magnitude")
STATUS = ("converged", "too many", "stopped", "broke down", "stagnated", "not finite")

Apply = ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER)
Progress = ctypes.CFUNCTYPE(INT, LONG, ctypes.c_double, POINTER)
EigenProgress = ctypes.CFUNCTYPE(INT, LONG, LONG, INT, ctypes.POINTER(ctypes.c_double), ctypes.c_double, POINTER)


class Facts(ctypes.Structure):
    """hiroba_linop_facts"""

    _fields_ = (
        ("type", LONG),
        *((name, LONG) for name in ("rows", "first", "count", "entries", "stored", "fetched")),
        ("format", INT),
    )


class Solver(ctypes.Structure):
    """hiroba_solver"""

    _fields_ = (
        ("method", INT),
        ("preconditioner", POINTER),
        ("relative", ctypes.c_double),
        ("absolute", ctypes.c_double),
        ("most", LONG),
        ("restart", INT),
        ("progress", Progress),
        ("context", POINTER),
        ("history", POINTER),
        ("room", LONG),
        ("may_fail", INT),
    )


class SolverResult(ctypes.Structure):
    """hiroba_solution"""

    _fields_ = (
        ("status", INT),
        ("iterations", LONG),
        ("products", LONG),
        ("residual", ctypes.c_double),
        ("goal", ctypes.c_double),
    )


class Eigen(ctypes.Structure):
    """hiroba_eigen"""

    _fields_ = (
        ("count", INT),
        ("part", INT),
        ("target", ctypes.c_double * 2),
        ("general", INT),
        ("harmonic", INT),
        ("preconditioner", POINTER),
        ("correction", ctypes.POINTER(Solver)),
        ("absolute", ctypes.c_double),
        ("relative", ctypes.c_double),
        ("most", LONG),
        ("space", INT),
        ("restart", INT),
        ("seed", ctypes.c_uint64),
        ("progress", EigenProgress),
        ("context", POINTER),
        ("may_fail", INT),
    )


class EigenResult(ctypes.Structure):
    """hiroba_eigen_result"""

    _fields_ = (
        ("status", INT),
        ("count", INT),
        ("steps", LONG),
        ("products", LONG),
        ("goal", ctypes.c_double),
    )


FUNCTIONS = {
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
    "hiroba_solve": (SolverResult, POINTER, POINTER, POINTER, POINTER),
    "hiroba_eigenpairs": (EigenResult, POINTER, POINTER, POINTER, POINTER, POINTER),
}


@functools.cache
def sparse() -> ctypes.CDLL:
    library = load_beside("libhiroba_sparse.so")
    declare(library, FUNCTIONS)
    return library


def call(name: str, *words: Any) -> Any:
    job.stand_at(calling_place())
    return getattr(sparse(), name)(*words)


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
        facts = call("hiroba_linop_look", handle)
        self._handle: int | None = handle
        self._counts = allgather(facts.count).tolist()  # rows of each rank
        self.shape = (facts.rows, facts.rows)
        self.dtype = next(dtype for dtype, number in TYPES.items() if number == facts.type)
        self.rows = slice(facts.first, facts.first + facts.count)  # those of this rank

    @property
    def handle(self) -> int:
        if self._handle is None:
            raise Error("the operator was freed by free()")
        return self._handle

    def facts(self) -> dict[str, Any]:
        """Of a matrix: entries; those stored by this rank, with zeros; elements fetched in each product; the format."""
        got = call("hiroba_linop_look", self.handle)
        out: dict[str, Any] = {name: getattr(got, name) for name in ("entries", "stored", "fetched")}
        return out | {"format": list(FORMATS)[got.format]}

    def vector(self, values: ArrayLike | None = None) -> Array:
        """Makes a shared array of n elements, divided as the rows: of zeros, or of values that all ranks have."""
        if values is not None and np.shape(values) != self.shape[:1]:
            raise ValueError(f"vector: shape {np.shape(values)} for an operator of {self.shape[0]} rows")
        out = of_memory(call("hiroba_linop_vector", self.handle), self.shape[:1], self.dtype, calling_place())
        if values is not None:
            out[self.rows] = np.asanyarray(values)[self.rows]
        return out

    def apply(self, x: Array, y: Array) -> None:
        """Computes y = A x on two vectors of vector(): each rank its elements, directly after which it may use them.
        Before it uses those of others comes a barrier."""
        call("hiroba_linop_apply", self.handle, table.address_of(x), table.address_of(y))

    def __matmul__(self, x: np.ndarray) -> Array:
        """A @ x makes a vector. x: any array of n elements. Ends with a barrier."""
        out = self.vector()
        with self.as_vector(x) as given:
            self.apply(given, out)
        barrier()
        return out

    def free(self) -> None:
        """Frees the operator; its vectors stay."""
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
        """The array itself if it is a vector, or else a vector with its elements."""
        if self.is_vector(given):
            yield given
            return
        with self.vector(given) as out:
            yield out


class FunctionOperator(Operator):
    """See operator()."""

    def __init__(
        self, n: int, function: Callable[[Array, Array], object], dtype: np.dtype, like: Operator | None
    ) -> None:
        self._seen: dict[int, Array] = {}  # vectors of the library, by address
        self._apply = Apply(called_back(lambda x, y, _: function(self.see(x), self.see(y))))
        words = (type_of(dtype), n, self._apply, None, like.handle if like else None)
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
    diagonal. format: "csr" or "sell"; None chooses."""
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
    """Reads a Matrix Market file ("coordinate"), each rank a part."""
    words = (os.fsencode(path), type_of(dtype), flags(format, False, False, False))
    return Operator(call("hiroba_linop_read", *words))


def operator(
    n: int, function: Callable[[Array, Array], object], dtype: DTypeLike = float, like: Operator | None = None
) -> Operator:
    """Makes an operator of a function: function(x, y) computes y = A x on vectors, each rank the elements y[A.rows].
    All ranks call it together, after a barrier, so it may read all of x, which it must not change. Rows are divided
    as those of `like`, or equally."""
    return FunctionOperator(n, function, np.dtype(dtype), like)


def jacobi(a: Operator) -> Operator:
    """The inverse of a matrix' diagonal, as a preconditioner."""
    return Operator(call("hiroba_linop_jacobi", a.handle))


def ilu(a: Operator, relax: float = 0) -> Operator:
    """Incomplete factors of each rank's block of a matrix. relax: the share of the fill-in that is added to the
    diagonal; 0.99 is good for Laplace operators."""
    return Operator(call("hiroba_linop_ilu", a.handle, relax))


def chebyshev(a: Operator, degree: int, low: float = 0, high: float = 0) -> Operator:
    """A polynomial in D^-1 A, for eigenvalues between low and high, which are estimated if they are 0. A matrix is
    freed after it."""
    return Operator(call("hiroba_linop_chebyshev", a.handle, degree, low, high))


# ---- solving ---------------------------------------------------------------------------------------------------------


class Solution(NamedTuple):
    """x, a vector; "converged", or why not; iterations and products; |b - A x|, its limit; the norms of residuals, at
    the start and after each iteration."""

    x: Array
    status: str
    iterations: int
    products: int
    residual: float
    goal: float
    history: np.ndarray


def solve(
    a: Operator,
    b: ArrayLike,
    x: ArrayLike | None = None,
    *,
    method: str = "cg",
    preconditioner: Operator | None = None,
    relative: float = 0,
    absolute: float = 0,
    most: int = 10000,
    restart: int = 30,
    progress: Callable[[int, float], object] | None = None,
    may_fail: bool = False,
) -> Solution:
    """Solves A x = b, until |b - A x| <= max(relative |b|, absolute); both 0: relative 1e-8, in single precision 1e-5.

    method: "cg", "pipelined-cg", "bicgstab", "gmres" (with `restart` vectors) or "minres". b: any array of n elements.
    x: the initial vector; a vector of a.vector() is changed in place, and is that of the solution. most: iterations.
    progress(iteration, residual) is called by all ranks; where it returns something true on any rank, all stop.
    may_fail: without convergence it returns, and does not end the job. Ends with a barrier."""
    out = x if a.is_vector(x) else a.vector(x)
    history = np.zeros(most + 1)
    how = solver(method, relative, most, restart)
    how.preconditioner, how.absolute, how.may_fail = preconditioner and preconditioner.handle, absolute, may_fail
    how.history, how.room = table.address_of(history), len(history)
    if progress is not None:
        how.progress = Progress(called_back(lambda i, residual, _: bool(progress(i, residual))))
    with a.as_vector(b) as right:
        words = (table.address_of(right), table.address_of(out), ctypes.byref(how))
        got = call("hiroba_solve", a.handle, *words)
        barrier()
    reached = history[: min(got.iterations, most) + 1]
    return Solution(out, STATUS[got.status], got.iterations, got.products, got.residual, got.goal, reached)


def solver(method: str, relative: float, most: int, restart: int = 0) -> Solver:
    return Solver(number_of(METHODS, method, "method"), None, relative, 0, most, restart)


def number_of(names: tuple[str, ...], name: str, what: str) -> int:
    if name not in names:
        raise ValueError(f"{what}={name!r}; one of {', '.join(names)}")
    return names.index(name)


class Eigenpairs(NamedTuple):
    """The eigenvalues, best first; vectors of norm 1; |A x - value x| of each; "converged", or why not; the numbers of
    steps and products; what residuals should be at most."""

    values: np.ndarray
    vectors: list[Array]
    residuals: np.ndarray
    status: str
    steps: int
    products: int
    goal: float


def eigenpairs(
    a: Operator,
    count: int = 1,
    part: str = "smallest",
    *,
    target: complex = 0,
    general: bool = False,
    harmonic: bool = False,
    preconditioner: Operator | None = None,
    correction: str | None = None,
    correction_relative: float = 0.1,
    correction_most: int = 20,
    relative: float = 0,
    absolute: float = 0,
    most: int = 100000,
    space: int = 30,
    restart: int = 12,
    seed: int = 0,
    progress: Callable[[int, int, int, complex, float], object] | None = None,
    may_fail: bool = False,
) -> Eigenpairs:
    """Finds `count` eigenvalues and their vectors, until |A x - value x| <= max(absolute, relative |A|); both 0:
    relative 1e-12, in single precision 1e-5.

    part: "smallest", "largest", "closest" (to target) or "largest-magnitude". general: the operator need not be
    Hermitian; it has complex numbers, and so have its eigenvalues. harmonic: for a target inside the spectrum.
    correction: the method of solve() for the correction equation; None: a step is the residual, after the
    preconditioner. most: steps; space, restart: vectors of the search space, and those kept at a restart.
    progress(steps, products, found, value, residual): as in solve(). Ends with a barrier."""
    values, residuals = np.zeros(count, complex if general else float), np.zeros(count)
    vectors = [a.vector() for _ in range(count)]
    how = Eigen(count, number_of(PARTS, part, "part"), (target.real, target.imag), general, harmonic)
    how.preconditioner, how.may_fail = preconditioner and preconditioner.handle, may_fail
    how.absolute, how.relative, how.most, how.space, how.restart = absolute, relative, most, space, restart
    how.seed = seed
    if correction is not None:
        how.correction = ctypes.pointer(solver(correction, correction_relative, correction_most))
    if progress is not None:
        how.progress = EigenProgress(
            called_back(
                lambda steps, products, found, value, residual, _: bool(
                    progress(steps, products, found, complex(value[0], value[1]), residual)
                )
            )
        )
    pointers = (POINTER * count)(*map(table.address_of, vectors))
    words = (ctypes.byref(how), table.address_of(values), table.address_of(residuals), pointers)
    got = call("hiroba_eigenpairs", a.handle, *words)
    barrier()
    for rest in vectors[got.count :]:
        rest.free()
    found = slice(0, got.count)
    return Eigenpairs(
        values[found], vectors[found], residuals[found], STATUS[got.status], got.steps, got.products, got.goal
    )
