"""mpi4py and hiroba in one program of two ranks or more, which prints `done` from rank 0; exits with 77 without mpi4py.
Usage: hirobarun --transport mpi python3 mpi.py"""

from __future__ import annotations

import importlib.util
import sys

import hiroba
import numpy as np


def main() -> None:
    every = hiroba.mpi_comm()
    assert (every.rank, every.size) == (hiroba.rank, hiroba.size)
    assert every.allreduce(hiroba.rank) == hiroba.allreduce(hiroba.rank)
    a = hiroba.full(1000, 3.0)
    last = every.size - 1
    if every.rank == 0:
        every.Send(np.asarray(a.local), last)
    if every.rank == last:
        received = np.empty(a[a.box(0)].shape)
        every.Recv(received, 0)
        assert (received == 3).all()
    hiroba.barrier()
    if every.rank == 0:
        print("done")


if importlib.util.find_spec("mpi4py") is None:
    print("no mpi4py")
    sys.exit(77)
main()
