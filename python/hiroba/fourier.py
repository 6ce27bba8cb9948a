"""The Fourier transform of arrays that are divided among the ranks: each transforms along the axes that it has whole,
then the array is divided along another one."""

from __future__ import annotations

import math

import numpy as np

from hiroba.arrays import Array, is_shared, zeros
from hiroba.collectives import same_on_all
from hiroba.parallel import barrier
from hiroba.whole import fetched

__all__ = ["fft"]


def fft(array: np.ndarray, inverse: bool = False, split: int = 0) -> Array:
    """Makes an array of the transform over all axes, which is that of numpy.fft.fftn, or ifftn, divided along axis
    `split`. Of an array of n elements in one dimension no more ranks compute than the largest divisor of n up to its
    square root. The elements are complex64 if those of the array are float16, float32 or complex64, else complex128.
    Collective, and ends with a barrier.

    Errors: ValueError for an array without axes or elements, or without axis `split`; TypeError if the elements are no
    numbers."""
    array = np.asanyarray(array)
    if array.ndim == 0 or array.size == 0:
        raise ValueError(f"fft: shape {array.shape}; at least one axis, and elements")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"fft: elements of type {array.dtype}; numbers or bool")
    if is_shared(array):
        same_on_all(array, "fft")
    kind = np.result_type(array.dtype, "c8") if array.dtype.char in "efF" else np.dtype(complex)
    if array.ndim == 1:
        return fft_of_line(array, kind, inverse)
    out = zeros(array.shape, kind, split=split)
    axis = split % array.ndim
    rest = [d for d in range(array.ndim) if d != axis]
    box = out.box()
    out[box] = transformed(fetched(array[box]), rest, inverse)
    out.redistribute(split=max(rest, key=lambda d: array.shape[d]))
    box = out.box()
    out[box] = transformed(np.asarray(out[box]), [axis], inverse)
    out.redistribute(split=split)
    return out


def fft_of_line(line: np.ndarray, kind: np.dtype, inverse: bool) -> Array:
    """The elements are a table, row by row. Its columns are transformed; then, after each element is multiplied by a
    root of one, its rows. The columns of that, one after another, are the result."""
    n = len(line)
    high = next(d for d in range(math.isqrt(n), 0, -1) if n % d == 0)
    wide = n // high
    with zeros((high, wide), kind) as table:
        rows = table.box()[0]
        table[rows] = fetched(line[rows.start * wide : rows.stop * wide]).reshape(-1, wide)
        table.redistribute(split=1)
        box = table.box()
        row, column = np.ogrid[box]
        angle = (2j if inverse else -2j) * np.pi / n * (row * column % n)
        table[box] = transformed(np.asarray(table[box]), [0], inverse) * np.exp(angle)
        table.redistribute(split=0)
        rows = table.box()[0]
        table[rows] = transformed(np.asarray(table[rows]), [1], inverse)
        table.redistribute(split=1)
        box = table.box()
        columns = box[1] if table[box].size > 0 else slice(0, 0)  # of one column an empty box has all columns, no rows
        out = zeros(n, kind)
        out.reshape(wide, high)[columns] = np.asarray(table[:, columns]).T
        barrier()
    return out


def transformed(part: np.ndarray, axes: list[int], inverse: bool) -> np.ndarray:
    if part.size == 0:
        return part
    return np.fft.ifftn(part, axes=axes) if inverse else np.fft.fftn(part, axes=axes)
