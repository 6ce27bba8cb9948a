"""NumPy arrays in the memory of all nodes of a job: docs/python.md.

    import hiroba
    A = hiroba.zeros((1000, 1000))  # on all ranks; A is a numpy.ndarray
    A.local[...] = hiroba.rank      # this rank's part
    hiroba.barrier()                # now all ranks read what all have written

The job starts when the first name of this module is used, so that hirobacc, which is a part of the package, needs no
NumPy and starts none. It imports only what is built in, because the interpreter may be executed again (preload.py)."""

from __future__ import annotations

import _thread
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from hiroba.arrays import *  # noqa: F403
    from hiroba.collectives import *  # noqa: F403
    from hiroba.files import *  # noqa: F403
    from hiroba.fourier import *  # noqa: F403
    from hiroba.job import *  # noqa: F403
    from hiroba.linear import *  # noqa: F403
    from hiroba.mpi import *  # noqa: F403
    from hiroba.parallel import *  # noqa: F403
    from hiroba.solvers import *  # noqa: F403
    from hiroba.tasks import *  # noqa: F403
    from hiroba.turns import *  # noqa: F403
    from hiroba.whole import *  # noqa: F403

__version__ = "0.2.0"  # that of the library, which is compared at the start

FIRST = ("job", "turns", "arrays", "parallel", "collectives", "whole", "fourier")
MODULES = (*FIRST, "tasks", "files", "linear", "solvers", "mpi")
OTHER_NAMES = dict.fromkeys(("from_file", "open", "memmap"), "hiroba.load(path)")  # that programs may try
# Parts of the package that start no job.
OTHER = ("commands", "compiler", "devices", "notebook", "own_files", "preload", "report")

starting = _thread.RLock()
imported_in = os.getpid()


if not TYPE_CHECKING:  # for which names that are not there are errors

    def __getattr__(name: str) -> Any:
        if name in (*MODULES, *OTHER) or (name.startswith("_") and name != "__all__"):
            raise AttributeError(f"module 'hiroba' has no attribute '{name}'")
        start()
        if name in globals():
            return globals()[name]
        raise AttributeError(f"module 'hiroba' has no attribute '{name}'; {instead_of(name)}")


def start() -> None:
    """Starts the job, and takes the names of the modules over. Threads that use a first name at once wait for one."""
    import importlib

    from hiroba import preload

    preload.refuse_child(imported_in)
    with starting:
        names: list[str] = []
        for module in MODULES:
            part = importlib.import_module(f"hiroba.{module}")
            globals().update({each: getattr(part, each) for each in part.__all__})
            names += part.__all__
        globals()["__all__"] = names


def instead_of(name: str) -> str:
    """What a program may have meant."""
    import difflib

    here = globals()
    if name in OTHER_NAMES:
        return f"{OTHER_NAMES[name]} does this"
    if hasattr(here["Array"], name):
        return f"arrays have it: A.{name}"
    near = difflib.get_close_matches(name, here["__all__"], 1)
    return f"did you mean hiroba.{near[0]}?" if near else "docs/python.md lists what there is"


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext hiroba` in Jupyter: gives it `%%hiroba`."""
    from hiroba.notebook import magic

    magic.load(shell)


def __dir__() -> list[str]:
    start()
    return sorted(globals())


def is_statement_of_program(frame: FrameType | None) -> bool:
    """Whether the module whose code `frame` executes is imported by `import hiroba`, or by its names, in the program's
    own file; not by an import of a part that starts no job, such as hiroba.compiler."""
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__name__") != "__main__":
        return False
    names = frame.f_code.co_names
    return "hiroba" in names and not any(name.startswith("hiroba.") for name in names)


if is_statement_of_program(sys._getframe(1)):
    from hiroba import preload

    preload.at_import()
