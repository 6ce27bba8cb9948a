"""libhiroba, loaded by ctypes: its functions, and the errors of calls.

It is preloaded: preload.py says why.

ctypes releases the interpreter's lock in each call, so other threads of Python run while one waits."""

from __future__ import annotations

import ctypes
import functools
import os

import hiroba
from hiroba.places import PACKAGE
from hiroba.preload import OF_RANK, beside, execute_again, forget_preload, path

INT, LONG, POINTER, TEXT = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p


SECTION_DIMS = 3  # HIROBA_SECTION_DIMS, without the elements of a block


class Error(RuntimeError):
    """A call that cannot be carried out."""

    __module__ = "hiroba"  # under which programs know it


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
    "hiroba_start_interpreted": (None,),
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
    "hiroba_make_notes": (POINTER, LONG),
    "hiroba_swap_note": (LONG, POINTER, LONG, LONG),
    "hiroba_wait": (None, POINTER),
    "hiroba_test": (None, POINTER, POINTER),
    "hiroba_fail": (None, TEXT),
    "hiroba_known_operator": (POINTER, INT),
}


def load_beside(name: str) -> ctypes.CDLL:
    """Loads another library of the same installation."""
    return ctypes.CDLL(beside(name))


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
