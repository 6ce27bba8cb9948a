"""The communicator of the job, for programs that use mpi4py, too."""

from __future__ import annotations

from typing import Any

from hiroba.job import library
from hiroba.library import POINTER, declare
from hiroba.turns import in_turn

__all__ = ["mpi_comm"]


def mpi_comm() -> Any:
    """Returns an mpi4py communicator of the ranks of this job, numbered alike. For `hirobarun --transport mpi`; mpi4py
    must be one for the same MPI."""
    import mpi4py

    mpi4py.rc.initialize = False  # the library has done it
    mpi4py.rc.finalize = False
    from mpi4py import MPI

    declare(library, {"hiroba_copy_communicator": (None, POINTER, POINTER)})
    out = MPI.Intracomm()
    in_turn(library.hiroba_copy_communicator, MPI._addressof(out), MPI._sizeof(MPI.Comm))
    return out
