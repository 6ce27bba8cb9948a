"""Compares what the overlap benchmark has multiplied with the dgemm of a BLAS, numpy's: `check_dgemm.py FILE`. The
program's option --matrices writes FILE. The elements are small whole numbers, so that both must agree in every bit."""

from __future__ import annotations

import sys
from pathlib import Path


def wrong_elements(path: Path) -> int:
    import numpy  # here, for callers that find out whether it is there

    data = path.read_bytes()
    n, rows, times = (int(value) for value in numpy.frombuffer(data, dtype=numpy.int32, count=3))
    doubles = numpy.frombuffer(data, dtype=numpy.float64, offset=12)
    a, b, c = numpy.split(doubles, [rows * n, rows * n + n * n])
    product = numpy.dot(a.reshape(rows, n), b.reshape(n, n)) * times
    return int(numpy.count_nonzero(product != c.reshape(rows, n)))


if __name__ == "__main__":
    if wrong := wrong_elements(Path(sys.argv[1])):
        sys.exit(f"{wrong} elements of C differ from dgemm's")
