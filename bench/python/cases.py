"""What is measured of `import hiroba`, and the same in NumPy alone. Prints a line of JSON from rank 0. Usage:

cases.py stencil | numpy-stencil ELEMENTS    A[1:-1] = (A[:-2] + A[2:]) / 2: seconds of one
cases.py sum | preload-sum ELEMENTS          rank 0 reads the array of rank 1 for the first time
cases.py jacobi POINTS STEPS                 Jacobi with numba: see jacobi.c
cases.py elements | numpy-elements TIMES     A[i] = x: seconds of one
cases.py slices | numpy-slices TIMES         A[i : i + 8] = row: seconds of one"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np

TIMES = 3


def best(once: Callable[[], float]) -> float:
    return min(once() for _ in range(TIMES))


def report(seconds: float, answer: float) -> None:
    print(json.dumps({"seconds": seconds, "answer": answer}))


def numpy_stencil(elements: int) -> None:
    a = np.arange(elements, dtype=float) % 7

    def once() -> float:
        begin = time.perf_counter()
        a[1:-1] = (a[:-2] + a[2:]) / 2
        return time.perf_counter() - begin

    report(best(once), float(a[:: elements // 64].sum()))


def stencil(elements: int) -> None:
    import hiroba

    a = hiroba.from_function(lambda i: i % 7, elements)
    part = a.halo()

    def once() -> float:
        hiroba.barrier()
        begin = time.perf_counter()
        new = (part[:-2] + part[2:]) / 2
        hiroba.barrier()  # all have read what others will change
        part[1:-1] = new
        hiroba.barrier()
        return time.perf_counter() - begin

    seconds = best(once)
    if hiroba.rank == 0:
        report(seconds, float(a[:: elements // 64].sum()))
    hiroba.barrier()


def read(elements: int, preload: bool) -> None:
    import hiroba

    def once() -> float:
        with hiroba.zeros(elements, split=None, on=hiroba.size - 1) as a:
            a.local[...] = 1
            hiroba.barrier()
            seconds = 0.0
            if hiroba.rank == 0:
                begin = time.perf_counter()
                if preload:
                    a.preload()
                assert a.sum() == elements
                seconds = time.perf_counter() - begin
            hiroba.barrier()
            return seconds

    seconds = best(once)
    if hiroba.rank == 0:
        report(seconds, elements)


def jacobi(points: int, steps: int) -> None:
    import hiroba
    import numba

    @numba.njit
    def step(new: np.ndarray, old: np.ndarray) -> None:
        for i in range(1, old.shape[0] - 1):
            for j in range(1, old.shape[1] - 1):
                new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])

    old, new = hiroba.zeros((points, points)), hiroba.zeros((points, points))
    old.local[:, 0] = new.local[:, 0] = 1
    hiroba.barrier()
    here, there = np.asarray(old.halo()), np.asarray(new.halo())
    step(there, here)  # and compiles it
    hiroba.barrier()
    begin = time.perf_counter()
    for _ in range(steps):
        step(there, here)
        hiroba.barrier()
        old, new, here, there = new, old, there, here
    seconds = time.perf_counter() - begin
    if hiroba.rank == 0:
        report(seconds, float(old[:, 1].sum()))
    hiroba.barrier()


def assign(a: np.ndarray, times: int, length: int) -> None:
    """Elements one by one, or slices of them."""
    row = np.arange(float(length))

    def once() -> float:
        begin = time.perf_counter()
        if length == 1:
            for i in range(times):
                a[i] = 1.0
        else:
            for i in range(times):
                a[i : i + length] = row
        return (time.perf_counter() - begin) / times

    report(best(once), float(a[:times].sum()))


def shared(elements: int) -> np.ndarray | None:
    """An array, of which rank 0 alone has the elements; None on others."""
    import hiroba

    a = hiroba.zeros(elements, split=None)
    return a if hiroba.rank == 0 else None


def main(case: str, *words: str) -> None:
    numbers = [int(word) for word in words]
    match case:
        case "numpy-stencil":
            numpy_stencil(numbers[0])
        case "stencil":
            stencil(numbers[0])
        case "sum" | "preload-sum":
            read(numbers[0], case == "preload-sum")
        case "jacobi":
            jacobi(numbers[0], numbers[1])
        case "elements" | "slices" | "numpy-elements" | "numpy-slices":
            size = numbers[0] + 8
            a = np.zeros(size) if case.startswith("numpy") else shared(size)
            if a is not None:
                assign(a, numbers[0], 1 if case.endswith("elements") else 8)


main(*sys.argv[1:])
