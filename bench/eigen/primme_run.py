"""PRIMME's method for the fewest products (GD+k, as it chooses) on the problems of run.py; one object of JSON.

primme_run.py KIND N COUNT TOLERANCE      KIND: laplace2d, laplace3d, ring
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy
import primme  # type: ignore[import-not-found]
from scipy.sparse.linalg import LinearOperator


def laplace(side: int, dimensions: int) -> tuple[Any, float, type]:
    def multiply(x: Any) -> Any:
        u = x.reshape((side,) * dimensions + (-1,))
        y = 2.0 * dimensions * u
        for d in range(dimensions):
            up, down = [slice(None)] * u.ndim, [slice(None)] * u.ndim
            up[d], down[d] = slice(1, None), slice(None, -1)
            y[tuple(up)] -= u[tuple(down)]
            y[tuple(down)] -= u[tuple(up)]
        return y.reshape(x.shape)

    return multiply, 4.0 * dimensions, float


def ring(n: int) -> tuple[Any, float, type]:
    hop = numpy.exp(1j / n)

    def multiply(x: Any) -> Any:
        return 2 * x - hop * numpy.roll(x, -1, 0) - numpy.conj(hop) * numpy.roll(x, 1, 0)

    return multiply, 4.0, complex


def main() -> int:
    kind, n, count, tolerance = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    dimensions = {"laplace2d": 2, "laplace3d": 3}.get(kind, 1)
    multiply, size, number = ring(n) if kind == "ring" else laplace(n, dimensions)
    rows = n**dimensions
    a = LinearOperator((rows, rows), matvec=multiply, matmat=multiply, dtype=number)
    start: Any = numpy.random.default_rng(1).standard_normal((rows, 1)).astype(number)
    begin = time.perf_counter()
    values, _, facts = primme.eigsh(
        a, k=count, which="SA", tol=tolerance / size, v0=start, method="PRIMME_DEFAULT_MIN_MATVECS", return_stats=True
    )
    seconds = time.perf_counter() - begin
    print(
        json.dumps(
            {"eigenvalues": sorted(values.tolist()), "products": int(facts["numMatvecs"]), "seconds": seconds,
             "residual": float(max(facts["rnorms"]))}
        )
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
