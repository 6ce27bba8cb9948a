"""The programs of this folder, and what each needs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from workshop import HIROBA, MPI, SEQUENTIAL, THREADS, Program

FOLDER = Path(__file__).resolve().parent

PROGRAMS = [
    Program("serial", FOLDER / "serial.c", "cc", SEQUENTIAL),
    Program("omp", FOLDER / "omp.c", "cc", THREADS),
    Program("mpi", FOLDER / "mpi.c", "mpicc", MPI, "libopenmpi-dev"),
    Program("mpishm", FOLDER / "mpishm.c", "mpicc", MPI, "libopenmpi-dev"),
    # Open MPI 4.1.4 and 4.1.5 die in shmem_finalize, in a hook of a plug-in that is gone (ompi issue 11604).
    Program(
        *("shmem", FOLDER / "shmem.c", "oshcc", MPI, "libopenmpi-dev"),
        optional=True,
        mpirun=("--mca", "opal_common_ucx_opal_mem_hooks", "0"),
    ),
    Program(
        "ga", FOLDER / "ga.c", "ga-config", MPI, "libglobalarrays-dev libarmci-mpi-dev libscalapack-openmpi-dev", True
    ),
    # One image alone finds no window in Open MPI's default; with more there is no difference.
    Program(
        *("caf", FOLDER / "caf.f90", "caf", MPI, "libcoarrays-openmpi-dev gfortran"),
        optional=True,
        mpirun=("--mca", "osc", "^ucx"),
    ),
    Program("sms", FOLDER / "sms.c", "cc", HIROBA),
    Program("mpc", FOLDER / "mpc.c", "hirobacc", HIROBA),
    Program("smint", FOLDER / "smint.c", "hirobacc", HIROBA),
    Program("xmp", FOLDER / "xmp.c", "hirobacc", HIROBA),
]
