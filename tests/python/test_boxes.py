"""Parts of views, against NumPy's slices of random arrays."""

from __future__ import annotations

import random
import unittest

import numpy as np
from hiroba.boxes import View, part_of, rows_of, runs_of, sections_of


def view_of(view: np.ndarray, array: np.ndarray) -> View:
    begin = view.__array_interface__["data"][0] - array.__array_interface__["data"][0]
    return View(begin, view.shape, view.strides)


class Boxes(unittest.TestCase):
    def test_random_views(self) -> None:
        draw = random.Random(1)

        def index(n: int) -> int | slice:
            if draw.random() < 0.2:
                return draw.randrange(n)
            return slice(draw.randrange(n), draw.randrange(n + 1), draw.choice([1, 1, 2, 3, -1, -2, None]))

        for _ in range(3000):
            shape = tuple(draw.randint(1, 6) for _ in range(draw.randint(1, 4)))
            array = np.arange(np.prod(shape)).reshape(shape)
            view = array[tuple(index(n) for n in shape)]
            if np.ndim(view) == 0 or view.size == 0:
                continue
            view = view.T if draw.random() < 0.3 else view
            runs = runs_of(view_of(view, array), shape, array.itemsize)
            assert runs is not None
            low = [draw.randrange(n) for n in shape]
            length = [draw.randint(0, n - first) for n, first in zip(shape, low, strict=True)]
            box = array[tuple(slice(first, first + n) for first, n in zip(low, length, strict=True))]
            self.assertEqual(set(view[part_of(runs, view.shape, low, length)].flat), set(view.flat) & set(box.flat))
            sections = tuple(slice(b, b + (n - 1) * step + 1, step) for b, n, step in sections_of(runs))
            self.assertEqual(set(array[sections].flat), set(view.flat))

    def test_axes_in_an_element(self) -> None:
        array = np.zeros((4, 5), [("n", "i4"), ("x", "f8", (2, 3))])
        for view in (array["x"], array["x"][::-1, 1:, ::-1], array["x"].T, array["x"][2, :, 1]):
            runs = runs_of(view_of(view, array), array.shape, array.itemsize)
            assert runs is not None
            part = view[part_of(runs, view.shape, (1, 2), (2, 2))]
            part[...] = 1
            self.assertEqual(int(array["x"].sum()), part.size)
            array["x"][1:3, 2:4] = 0
            self.assertFalse(array["x"].any())

    def test_no_boxes(self) -> None:
        array = np.arange(100.0).reshape(10, 10)
        for view in (
            np.diagonal(array),
            array.reshape(-1),
            array[:, :5].view("f4"),
            np.broadcast_to(array[0], (3, 10)),
        ):
            self.assertIsNone(runs_of(view_of(view, array), array.shape, array.itemsize))

    def test_rows(self) -> None:
        """What is no box is divided along its first axis: each row is whose its first element is."""
        array = np.arange(60).reshape(10, 6)
        whose = np.arange(10) // 3
        for view in (
            array.reshape(60),
            array.reshape(4, 15),
            array.reshape(60)[7:50:4],
            array.reshape(60)[::-7],
            array.reshape(1, 30, 2),
            np.diagonal(array),
        ):
            axis = next(d for d, n in enumerate(view.shape) if n > 1)
            known = [whose[int(row.flat[0]) // 6] for row in np.moveaxis(view, axis, 0)]
            for r, first in enumerate(range(0, 10, 3)):
                part = rows_of(view_of(view, array), array.shape, array.itemsize, (first, 0), (min(3, 10 - first), 6))
                assert part is not None
                self.assertEqual(list(range(view.shape[axis])[part[axis]]), [i for i, s in enumerate(known) if s == r])
        columns = ((0, 0), (10, 3))  # not contiguous
        self.assertIsNone(rows_of(view_of(array.reshape(60), array), array.shape, array.itemsize, *columns))
        same = np.broadcast_to(array[0], (3, 6))
        self.assertIsNone(rows_of(view_of(same, array), array.shape, array.itemsize, (0, 0), (3, 6)))


if __name__ == "__main__":
    unittest.main()
