"""Sparse matrices, solvers and eigenvalues of hiroba: a program of all ranks, which prints `done` from rank 0. Usage:
hirobarun python3 linear.py"""

from __future__ import annotations

import importlib.util
import pathlib
import tempfile

import hiroba
import numpy as np

me, ranks = hiroba.rank, hiroba.size


class Rows:
    """What scipy.sparse matrices have, of those parts that hiroba.matrix uses."""

    def __init__(self, dense: np.ndarray) -> None:
        rows, columns = np.nonzero(dense)
        self.shape, self.indices, self.data = dense.shape, columns.astype("i4"), dense[rows, columns]
        self.indptr = np.searchsorted(rows, np.arange(len(dense) + 1)).astype("i4")

    def tocsr(self) -> Rows:
        return self


def laplace(n: int) -> np.ndarray:
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def drift(n: int) -> np.ndarray:
    return laplace(n) + 0.5 * np.eye(n, k=1) - 0.5 * np.eye(n, k=-1) + 0.1 * np.eye(n)


def matrices() -> None:
    n = 40
    dense = drift(n)
    x = np.random.default_rng(1).normal(size=n)
    rows = hiroba.prange(n)
    own = dense[rows.start : rows.stop]
    where = np.nonzero(own)
    triplets = (own[where], (where[0] + rows.start, where[1]))
    for given, of in ((dense, None), (Rows(dense), None), (triplets, n)):
        a = hiroba.matrix(given, of)
        assert a.shape == (n, n) and a.dtype == np.float64 and a.facts()["entries"] > 0
        y = a @ x
        assert np.allclose(y, dense @ x) and hiroba.is_shared(y) and a.is_vector(y) and y.box() == (a.rows,)
        z = a @ y
        assert np.allclose(z, dense @ dense @ x)
        a.apply(z, y)
        hiroba.barrier()
        assert np.allclose(y, dense @ dense @ dense @ x)
        a.free()
        assert np.isfinite(y).all()
        y.free()
        z.free()
    half = hiroba.matrix(np.triu(laplace(5)).astype("f4"), symmetric=True, one_triangle=True, format="csr")
    assert half.dtype == np.float32 and half.facts()["format"] == "csr"
    product = half @ np.ones(5)
    assert product.tolist() == [1, 0, 0, 0, 1]
    half.free()
    product.free()


def solvers() -> None:
    n = 24
    right = np.linspace(1, 2, n)
    inverse: hiroba.Operator | None
    a = hiroba.matrix(laplace(n), symmetric=True)
    b = hiroba.array(right)
    for method, inverse in (
        ("cg", None),
        ("cg", hiroba.ilu(a, 0.99)),
        ("pipelined-cg", hiroba.jacobi(a)),
        ("cg", hiroba.chebyshev(a, 4)),
        ("minres", None),
    ):
        got = hiroba.solve(a, b, method=method, preconditioner=inverse, relative=1e-10)
        assert got.status == "converged" and got.residual <= got.goal and len(got.history) == got.iterations + 1
        assert np.allclose(laplace(n) @ got.x, right)
        hiroba.barrier()
        again = hiroba.solve(a, got.x, x=b)  # b is no vector of the matrix, unless its rows are divided alike
        assert (again.x is b) == a.is_vector(b) and np.allclose(laplace(n) @ again.x, got.x, atol=1e-4)
        hiroba.barrier()
        b.local[...] = right[b.box()]
        if inverse is not None:
            inverse.free()
        got.x.free()
        if again.x is not b:
            again.x.free()
    a.free()
    b.free()

    dense = drift(n) + 1j * np.diag(np.linspace(0, 1, n))
    c = hiroba.matrix(dense)
    precondition = hiroba.ilu(c)
    for method in ("gmres", "bicgstab"):
        complex_one = hiroba.solve(c, right, method=method, preconditioner=precondition)
        assert np.allclose(dense @ complex_one.x, right)
        hiroba.barrier()
        complex_one.x.free()
    precondition.free()
    c.free()


def callbacks() -> None:
    n = 24
    calls: list[tuple[int, float]] = []
    a = hiroba.matrix(laplace(n), symmetric=True)

    def stop(iteration: int, residual: float) -> bool:
        calls.append((iteration, residual))
        return iteration == 3 and me == ranks - 1

    got = hiroba.solve(a, np.ones(n), progress=stop, may_fail=True)
    assert got.status == "stopped" and got.iterations == 3
    assert [residual for _, residual in calls[-3:]] == got.history[-3:].tolist()
    few = hiroba.solve(a, np.ones(n), got.x, most=2, may_fail=True)
    assert few.x is got.x and few.status == "too many" and len(few.history) == 3

    def shifted(x: hiroba.Array, y: hiroba.Array) -> None:
        assert x.box() == y.box() == (op.rows,)
        extended = np.concatenate(([0], x, [0]))
        y[op.rows] = (3 * x - extended[:-2] - extended[2:])[op.rows]

    op = hiroba.operator(n, shifted, like=a)
    got = hiroba.solve(op, np.ones(n), few.x, method="gmres", restart=n, relative=1e-12)
    assert np.allclose((laplace(n) + np.eye(n)) @ got.x, 1)
    hiroba.barrier()
    got.x.free()
    op.free()
    a.free()


def eigenvalues() -> None:
    n = 40
    a = hiroba.matrix(laplace(n), symmetric=True)
    known = np.linalg.eigvalsh(laplace(n))
    inverse = hiroba.ilu(a, 0.99)
    seen: list[complex] = []

    def look(steps: int, products: int, found: int, value: complex, residual: float) -> None:
        seen.append(value)

    got = hiroba.eigenpairs(a, 3, preconditioner=inverse, absolute=1e-9, progress=look)
    assert got.status == "converged" and np.allclose(got.values, known[:3]) and len(seen) == got.steps
    for value, vector in zip(got.values, got.vectors, strict=True):
        assert np.allclose(laplace(n) @ vector, value * vector, atol=1e-7) and a.is_vector(vector)
    top = hiroba.eigenpairs(a, 1, "largest", absolute=1e-8)
    assert np.allclose(top.values, known[-1])
    near = hiroba.eigenpairs(a, 1, "closest", target=1, harmonic=True, correction="minres", absolute=1e-8)
    assert np.allclose(near.values, known[np.argmin(abs(known - 1))])
    inverse.free()
    a.free()
    dense = laplace(n) + 1j * np.diag(np.linspace(0, 1, n))
    c = hiroba.matrix(dense)
    general = hiroba.eigenpairs(c, 1, "largest-magnitude", general=True, absolute=1e-9)
    others = np.linalg.eigvals(dense)
    assert np.isclose(general.values[0], others[np.argmax(abs(others))])
    c.free()


def files() -> None:
    folder = hiroba.bcast(tempfile.mkdtemp() if me == 0 else None)
    name = pathlib.Path(folder) / "a.mtx"
    for _ in hiroba.single():
        name.write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n")
    a = hiroba.read_matrix(name)
    product = a @ np.array([1.0, 2.0])
    assert product.tolist() == [6, 7]
    for _ in hiroba.single():
        name.unlink()
        name.parent.rmdir()
    a.free()
    product.free()


def refused() -> None:
    a = hiroba.matrix(laplace(4))
    for wrong in (
        lambda: hiroba.matrix(np.ones((2, 3))),
        lambda: hiroba.matrix((np.ones(2), (np.zeros(2), np.zeros(3))), 3),
        lambda: hiroba.matrix(laplace(4), format="coo"),
        lambda: hiroba.operator(4, lambda x, y: None, int),
        lambda: hiroba.solve(a, np.ones(5)),
        lambda: hiroba.solve(a, np.ones(4), method="lu"),
        lambda: hiroba.eigenpairs(a, part="all"),
        lambda: hiroba.solve(laplace(4), np.ones(4)),  # type: ignore[arg-type]
        lambda: hiroba.solve(a, np.ones(4), preconditioner=laplace(4)),  # type: ignore[arg-type]
        lambda: hiroba.ilu(laplace(4)),  # type: ignore[arg-type]
        lambda: hiroba.matrix((np.ones(2), (np.zeros(2), np.zeros(2)))),
    ):
        try:
            wrong()
        except (TypeError, ValueError):
            continue
        raise AssertionError("not refused")
    a.free()
    try:
        a.vector()
    except hiroba.Error as error:
        assert "freed" in str(error)
    else:
        raise AssertionError("not refused")


def with_scipy() -> None:
    if importlib.util.find_spec("scipy") is None:
        return
    import scipy.sparse

    n = 24
    for kind in ("csr_array", "coo_matrix", "csc_array", "dia_array"):
        a = hiroba.matrix(getattr(scipy.sparse, kind)(drift(n)))
        product = a @ np.arange(n)
        assert np.allclose(product, drift(n) @ np.arange(n))
        a.free()
        product.free()


for test in (matrices, solvers, callbacks, eigenvalues, files, refused, with_scipy):
    test()
if me == 0:
    print("done")
