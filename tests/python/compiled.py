"""Functions that numba and Cython compile, on arrays of hiroba: a program of all ranks, which prints `done` from rank
0; exits with 77 without either. Usage: hirobarun python3 compiled.py"""

from __future__ import annotations

import importlib.util
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any

import hiroba
import numpy as np

POINTS, STEPS = 40, 20
CYTHON = """
def step(double[:, ::1] new, double[:, ::1] old):
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(1, old.shape[0] - 1):
            for j in range(1, old.shape[1] - 1):
                new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])
"""


def by_cython(folder: pathlib.Path) -> Any:
    """Rank 0 compiles; all load."""
    module = folder / f"stencil{sysconfig.get_config_var('EXT_SUFFIX')}"
    if hiroba.rank == 0:
        source = folder / "stencil.pyx"
        source.write_text(CYTHON)
        subprocess.run([sys.executable, "-m", "cython", "-3", source], check=True)
        include = f"-I{sysconfig.get_path('include')}"
        subprocess.run(["cc", "-shared", "-fPIC", include, source.with_suffix(".c"), "-o", module], check=True)
    hiroba.barrier()
    spec = importlib.util.spec_from_file_location("stencil", module)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded.step


def by_numba() -> Any:
    import numba

    @numba.njit
    def step(new: np.ndarray, old: np.ndarray) -> None:
        for i in range(1, old.shape[0] - 1):
            for j in range(1, old.shape[1] - 1):
                new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])

    return step


def by_numpy(new: np.ndarray, old: np.ndarray) -> None:
    new[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])


def heat(old: Any, new: Any, step: Any, part: Any = np.asarray) -> Any:
    """The plate after some steps. part() takes what this rank computes with."""
    part(old)[:, 0] = part(new)[:, 0] = 1
    for _ in range(STEPS):
        step(part(new), part(old))
        hiroba.barrier()
        old, new = new, old
    return old


def main(folder: pathlib.Path) -> None:
    expected = heat(np.zeros((POINTS, POINTS)), np.zeros((POINTS, POINTS)), by_numpy)
    for step in (by_cython(folder), by_numba()):
        plates = hiroba.zeros((POINTS, POINTS)), hiroba.zeros((POINTS, POINTS))
        assert np.allclose(heat(*plates, step, hiroba.Array.halo), expected)
    if hiroba.rank == 0:
        print("done")


if any(importlib.util.find_spec(each) is None for each in ("numba", "Cython")):
    print("no numba, or no Cython")
    sys.exit(77)
with tempfile.TemporaryDirectory() as here:
    main(pathlib.Path(hiroba.bcast(here)))
    hiroba.barrier()
