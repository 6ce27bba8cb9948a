"""The 27-point stencil without any blocking, from the definition, by numpy: compares a field with it, bit by bit.

naive.py START.npy STEPS FIELD.npy     both as --output writes them
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

CENTRE, FACE, EDGE, CORNER = 8 / 64, 4 / 64, 2 / 64, 1 / 64


def step(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums are in the order of update.h."""
    below, at, above = u[:-2], u[1:-1], u[2:]
    beside = (at[:, :-2] + at[:, 2:]) + (below[:, 1:-1] + above[:, 1:-1])
    across = (below + above)[:, :-2] + (below + above)[:, 2:]
    row = at[:, 1:-1]
    middle = CENTRE * row + FACE * beside + EDGE * across
    side = FACE * row + EDGE * beside + CORNER * across
    new = u.copy()
    new[1:-1, 1:-1, 1:-1] = middle[..., 1:-1] + (side[..., :-2] + side[..., 2:])
    return new


if __name__ == "__main__":
    field = np.load(sys.argv[1])
    for _ in range(int(sys.argv[2])):
        field = step(field)
    found = np.load(sys.argv[3])
    if field.tobytes() != found.tobytes():
        sys.exit(f"{sys.argv[3]} differs from numpy's by up to {abs(field - found).max():.3g}")
