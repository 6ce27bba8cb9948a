"""libhiroba, loaded by ctypes: its functions, and the errors of calls.

The library must be in the process before the C library's functions are bound: it replaces those that make system calls
on memory that may be on another node, and sigaction(). So it is preloaded: `hirobarun` does so for Python; otherwise
the interpreter is executed once more, with the same arguments, when the job starts.

ctypes releases the interpreter's lock in each call, so other threads of Python run while one waits."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import hiroba
from hiroba.places import PACKAGE

if TYPE_CHECKING:
    import pathlib

TUNABLES = "glibc.rtld.optional_static_tls=4096"  # docs/dependencies.md, jemalloc
STARTED_AGAIN = "HIROBA_PYTHON_PRELOADED"
OF_RANK = "PYTHON_HIROBA_PROCESS"  # the process that is a rank; no option of the library

INT, LONG, POINTER, TEXT = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p


SECTION_DIMS = 3  # HIROBA_SECTION_DIMS, without the elements of a block


class Error(RuntimeError):
    """A call that cannot be carried out."""


class Statistics(ctypes.Structure):
    """sms_statistics"""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in [
            "read_faults",
            "pages_fetched",
            "pages_preloaded",
            "bytes_fetched",
            "pages_diffed",
            "bytes_sent",
            "pages_evicted",
            "pages_invalidated",
            "notices_sent",
            "pages_cached",
            "messages_sent",
            "message_bytes",
            "home_faults",
        ]
    ]


class Range(ctypes.Structure):
    """sms_range"""

    _fields_ = (("base", LONG), ("length", LONG), ("step", LONG))


class Handle(ctypes.Structure):
    """hiroba_request"""

    _fields_ = (("number", ctypes.c_uint64),)


class Section(ctypes.Structure):
    """hiroba_section"""

    _fields_ = (
        ("address", POINTER),
        ("bytes", ctypes.c_size_t),
        ("dims", INT),
        ("count", LONG * SECTION_DIMS),
        ("stride", LONG * SECTION_DIMS),
    )


# Result and arguments of each function; those of collective operations are in collectives.py.
FUNCTIONS = {
    "hiroba_version": (TEXT,),
    "sms_startup": (INT, POINTER, POINTER),
    "sms_shutdown": (INT,),
    "sms_barrier": (None,),
    "sms_sync": (None,),
    "sms_mapalloc_large_at": (POINTER, POINTER, POINTER, ctypes.c_size_t, INT, INT, TEXT),
    "sms_free": (None, POINTER),
    "sms_name": (None, POINTER, TEXT),
    "sms_set_scalar": (None, POINTER, ctypes.c_size_t),
    "sms_set_homes": (None, POINTER, INT),
    "sms_redistribute_on": (None, POINTER, POINTER, INT, INT),
    "sms_home": (INT, POINTER),
    "sms_local_box": (INT, POINTER, INT, POINTER, POINTER),
    "sms_preload_start": (Handle, POINTER, POINTER),
    "sms_stats": (None, POINTER, POINTER),
    "sms_lock": (None, INT),
    "sms_trylock": (INT, INT),
    "sms_unlock": (None, INT),
    "sms_lock_shared": (None, INT),
    "sms_unlock_shared": (None, INT),
    "sms_fetch_add": (LONG, POINTER, LONG),
    "sms_compare_swap": (LONG, POINTER, LONG, LONG),
    "sms_atomic_load": (LONG, POINTER),
    "sms_atomic_store": (None, POINTER, LONG),
    "sms_fetch_add32": (ctypes.c_int32, POINTER, ctypes.c_int32),
    "sms_compare_swap32": (ctypes.c_int32, POINTER, ctypes.c_int32, ctypes.c_int32),
    "hiroba_wait": (None, POINTER),
    "hiroba_test": (None, POINTER, POINTER),
    "hiroba_fail": (None, TEXT),
    "hiroba_known_operator": (POINTER, INT),
}


def path() -> str:
    """Where the library is: beside an installed package, in a wheel, or where the system looks for libraries."""
    import pathlib

    here = pathlib.Path(__file__).resolve().parent
    for file in (here / "native" / "lib" / "libhiroba.so", here.parents[2] / "libhiroba.so", *built(here)):
        if file.exists():
            return str(file)
    return "libhiroba.so"


def built(here: pathlib.Path) -> list[pathlib.Path]:
    """A tree that is used in place: that of the shell's paths, `./dev env`."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return [here.joinpath(folder, "libhiroba.so") for folder in folders if folder]


def load_beside(name: str) -> ctypes.CDLL:
    """Loads another library of the same installation."""
    import pathlib

    return ctypes.CDLL(str(pathlib.Path(path()).with_name(name)))


def is_preloaded() -> bool:
    return hasattr(ctypes.CDLL(None), "sms_startup")


@functools.cache
def load() -> ctypes.CDLL:
    """Returns the library with its functions declared; executes the interpreter again if it is not preloaded."""
    leave_job_of_parent()
    if not is_preloaded():
        execute_again()
    library = ctypes.CDLL(None)
    check_version(library)
    declare(library, FUNCTIONS)
    forget_preload()
    return library


def leave_job_of_parent() -> None:
    """A process that a rank has started (multiprocessing, subprocess) has its environment, but is no rank. As a job of
    one it has no memory elsewhere, so it can do without the replaced functions; and it cannot be executed again,
    because it has read what its parent has sent."""
    process, _, ranks = os.environ.get(OF_RANK, "").partition(" of ")
    if process in ("", str(os.getpid())):
        return
    if os.environ.pop("HIROBA_JOB", None) is None and ranks != "1":
        raise ImportError("a process that a rank has started is no rank, and cannot use hiroba under mpirun or srun")
    if not is_preloaded():
        ctypes.CDLL(path(), ctypes.RTLD_GLOBAL)


def mark_children(ranks: int) -> None:
    os.environ[OF_RANK] = f"{os.getpid()} of {ranks}"


def check_version(library: ctypes.CDLL) -> None:
    version = "0.2.0 or older"
    if hasattr(library, "hiroba_version"):
        library.hiroba_version.restype = TEXT
        version = library.hiroba_version().decode()
    if version != hiroba.__version__:
        raise ImportError(
            f"the package hiroba in {PACKAGE} is of version {hiroba.__version__}, and libhiroba "
            f"of version {version}; use both of one installation"
        )


def declare(library: ctypes.CDLL, functions: dict[str, tuple]) -> None:
    for name, (result, *arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


def execute_again() -> NoReturn:
    words = list(sys.orig_argv)
    if STARTED_AGAIN in os.environ:
        raise ImportError(
            f"{path()} cannot be preloaded: is it there, and is {sys.executable} a program that takes LD_PRELOAD?"
        )
    if "ipykernel" in sys.modules:
        raise ImportError(
            "the kernel of a notebook is no rank of a job: %load_ext hiroba, and begin cells with %%hiroba -n 2"
        )
    if hasattr(sys, "ps1") or len(words) == 1 or "-" in words[1:2]:
        raise ImportError(
            "hiroba must be loaded before Python: start this interpreter by `hirobarun -n 1`, or with the variables "
            f"LD_PRELOAD={path()} GLIBC_TUNABLES={TUNABLES}"
        )
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    before = os.environ.get("LD_PRELOAD")
    os.environ["LD_PRELOAD"] = path() if not before else f"{path()}:{before}"
    os.environ.setdefault("GLIBC_TUNABLES", TUNABLES)
    os.environ[STARTED_AGAIN] = "yes"
    os.execv(sys.executable, [sys.executable, *words[1:]])


def forget_preload() -> None:
    """Programs that this one starts are no ranks, so they do not get the library."""
    os.environ.pop(STARTED_AGAIN, None)
    rest = [each for each in os.environ.get("LD_PRELOAD", "").split(":") if "libhiroba" not in each]
    if any(rest):
        os.environ["LD_PRELOAD"] = ":".join(rest)
    else:
        os.environ.pop("LD_PRELOAD", None)
