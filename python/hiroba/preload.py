"""The library in this process before the C library's functions are bound: it replaces those that make system calls on
memory that may be on another node, and sigaction(). So it is preloaded: `hirobarun` does so for Python; otherwise the
interpreter is executed once more, with the same arguments: when the program imports hiroba, or, where that is not its
own statement, when the job starts. What is done before that is done twice, so little is imported here."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

TUNABLES = "glibc.rtld.optional_static_tls=4096"  # docs/dependencies.md, jemalloc
STARTED_AGAIN = "HIROBA_PYTHON_PRELOADED"
OF_RANK = "PYTHON_HIROBA_PROCESS"  # the process that is a rank; no option of the library


def path() -> str:
    """Where the library is: beside an installed package, in a wheel, or where the system looks for libraries."""
    here = os.path.dirname(os.path.realpath(__file__))
    built = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    # The last ones: a tree that is used in place, that of the shell's paths, `./dev env`.
    folders = [os.path.join(here, "native", "lib"), built, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    for folder in folders:
        file = os.path.join(here, folder, "libhiroba.so")
        if folder and os.path.exists(file):
            return file
    return "libhiroba.so"


def beside(name: str) -> str:
    """Where another library of the same installation is."""
    return os.path.join(os.path.dirname(path()), name)


def at_import() -> None:
    """Executes the interpreter again if the job will need it, and it can be."""
    if OF_RANK in os.environ or why_not() is not None or not os.path.exists(path()):
        return
    with open("/proc/self/maps") as maps:
        if "libhiroba.so" in maps.read():
            return
    execute_again()


def refuse_child(imported_in: int) -> None:
    """A child that the program has forked before it used hiroba has the environment of the rank, and would take its
    place."""
    if os.getpid() != imported_in and "HIROBA_JOB" in os.environ and OF_RANK not in os.environ:
        raise ImportError(
            f"process {os.getpid()}, a child that process {imported_in} has made by fork, is no rank and cannot use "
            "hiroba; use it in the rank itself, and before the fork, where hiroba.rank suffices"
        )


def why_not() -> str | None:
    """Why the interpreter cannot be executed again."""
    words = sys.orig_argv
    if STARTED_AGAIN in os.environ:
        return f"{path()} cannot be preloaded: is it there, and is {sys.executable} a program that takes LD_PRELOAD?"
    if "ipykernel" in sys.modules:
        return "the kernel of a notebook is no rank of a job: %load_ext hiroba, and begin cells with %%hiroba -n 2"
    if hasattr(sys, "ps1") or len(words) == 1 or "-" in words[1:2]:
        return (
            "hiroba must be loaded before Python: start this interpreter by `hirobarun -n 1`, or with the variables "
            f"LD_PRELOAD={path()} GLIBC_TUNABLES={TUNABLES}"
        )
    return None


def execute_again() -> NoReturn:
    reason = why_not()
    if reason is not None:
        raise ImportError(reason)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    before = os.environ.get("LD_PRELOAD")
    os.environ["LD_PRELOAD"] = path() if not before else f"{path()}:{before}"
    os.environ.setdefault("GLIBC_TUNABLES", TUNABLES)
    os.environ[STARTED_AGAIN] = "yes"
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def forget_preload() -> None:
    """Programs that this one starts are no ranks, so they do not get the library."""
    os.environ.pop(STARTED_AGAIN, None)
    rest = [each for each in os.environ.get("LD_PRELOAD", "").split(":") if "libhiroba" not in each]
    if any(rest):
        os.environ["LD_PRELOAD"] = ":".join(rest)
    else:
        os.environ.pop("LD_PRELOAD", None)
