"""Solvers of linear systems, and of eigenproblems, on the operators of linear.py. docs/sparse.md and docs/eigen.md say
what the methods are for.

Collective, all of it. Misuse, and a solver that does not converge, end the job with a message; so does an exception in
a function that the library calls, with its traceback."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hiroba import table
from hiroba.arrays import Array
from hiroba.epochs import barrier
from hiroba.library import INT, LONG, POINTER
from hiroba.linear import FUNCTIONS, Operator, call, called_back, handle_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["eigenpairs", "solve"]

METHODS = ("cg", "pipelined-cg", "bicgstab", "gmres", "minres")
PARTS = ("smallest", "largest", "closest", "largest-magnitude")
STATUS = ("converged", "too many", "stopped", "broke down", "stagnated", "not finite")

Progress = ctypes.CFUNCTYPE(INT, LONG, ctypes.c_double, POINTER)
EigenProgress = ctypes.CFUNCTYPE(INT, LONG, LONG, INT, ctypes.POINTER(ctypes.c_double), ctypes.c_double, POINTER)


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


# Declared with the others, when the library is loaded for the first call of one.
FUNCTIONS.update(
    {
        "hiroba_solve": (SolverResult, POINTER, POINTER, POINTER, POINTER),
        "hiroba_eigenpairs": (EigenResult, POINTER, POINTER, POINTER, POINTER, POINTER),
    }
)


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
    may_fail: without convergence it returns, and does not end the job. Ends with a barrier.

    Errors: ValueError for an unknown method, a negative `most`, or another shape of b or x; TypeError if a or the
    preconditioner is no operator; Error if one was freed. What `progress` raises ends the job."""
    handle, inverse = handle_of(a, "solve"), inverse_of(preconditioner, "solve")
    if most < 0:
        raise ValueError(f"solve: most={most}; at least 0")
    out = x if a.is_vector(x) else a.vector(x)
    history = np.zeros(most + 1)
    how = solver(method, relative, most, restart)
    how.preconditioner, how.absolute, how.may_fail = inverse, absolute, may_fail
    how.history, how.room = table.address_of(history), len(history)
    if progress is not None:
        how.progress = Progress(called_back(lambda i, residual, _: bool(progress(i, residual))))
    with a.as_vector(b) as right:
        words = (table.address_of(right), table.address_of(out), ctypes.byref(how))
        got = call("hiroba_solve", handle, *words)
        barrier()
    reached = history[: min(got.iterations, most) + 1]
    return Solution(out, STATUS[got.status], got.iterations, got.products, got.residual, got.goal, reached)


def inverse_of(preconditioner: Operator | None, call: str) -> int | None:
    return None if preconditioner is None else handle_of(preconditioner, f"{call}: preconditioner")


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
    progress(steps, products, found, value, residual): as in solve(). Ends with a barrier.

    Errors: ValueError for an unknown part, or method of the correction, or another count than 1 to the number of rows;
    TypeError if a or the preconditioner is no operator; Error if one was freed. What `progress` raises ends the job."""
    handle, inverse = handle_of(a, "eigenpairs"), inverse_of(preconditioner, "eigenpairs")
    if not 1 <= count <= a.shape[0]:
        raise ValueError(f"eigenpairs: count={count} of {a.shape[0]} rows; at least 1, and at most as many")
    values, residuals = np.zeros(count, complex if general else float), np.zeros(count)
    vectors = [a.vector() for _ in range(count)]
    how = Eigen(count, number_of(PARTS, part, "part"), (target.real, target.imag), general, harmonic)
    how.preconditioner, how.may_fail = inverse, may_fail
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
    got = call("hiroba_eigenpairs", handle, *words)
    barrier()
    for rest in vectors[got.count :]:
        rest.free()
    found = slice(0, got.count)
    return Eigenpairs(
        values[found], vectors[found], residuals[found], STATUS[got.status], got.steps, got.products, got.goal
    )
