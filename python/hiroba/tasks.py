"""Tasks that name the data they use, on top of task.h: every rank creates the same tasks in the same order, each runs
once, on the rank that has the first shared data that it writes, as soon as those before it that use the same data have
ended, with its data in place. docs/tasks.md is about them."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable

import numpy as np

from hiroba import job
from hiroba.epochs import Epoch, ordered
from hiroba.job import library
from hiroba.library import INT, POINTER, SECTION_DIMS, TEXT, Section, declare
from hiroba.places import calling_place
from hiroba.table import address_of
from hiroba.turns import in_turn
from hiroba.turns import task as this_thread

__all__ = ["task", "taskwait"]

IN, OUT, INOUT, COMMUTATIVE = 1, 2, 3, 7
ANYWHERE = -1
Sections = Iterable[np.ndarray] | np.ndarray  # an array is one section, not as many as it has rows


class Access(ctypes.Structure):
    """hiroba_access"""

    _fields_ = (
        ("mode", ctypes.c_int),
        ("tile", ctypes.c_void_p),
        ("section", Section),
        ("op", ctypes.c_uint8),
        ("type", ctypes.c_uint8),
    )


class Label(ctypes.Structure):
    """hiroba_task_label"""

    _fields_ = (("name", ctypes.c_char_p), ("place", ctypes.c_char_p))


class Spec(ctypes.Structure):
    """hiroba_task_spec"""

    _fields_ = (("label", ctypes.POINTER(Label)), ("on", ctypes.c_int), ("priority", ctypes.c_int))


declare(
    library,
    {
        "hiroba_task_at": (None, POINTER, POINTER, POINTER, INT, POINTER),
        "hiroba_taskwait_at": (None, TEXT),
    },
)
bodies: dict[int, Callable[[], object]] = {}  # of the tasks since the last taskwait, also of those of other ranks
numbers = itertools.count(1)
labels: dict[tuple[str, str], Label] = {}  # they live as long as the program


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def run(number: int) -> None:
    """Called by the thread that runs the task."""
    ordered.depth += 1
    this_thread.depth += 1
    try:
        bodies.pop(number)()
    except BaseException as error:
        job.fail_with(error)
    finally:
        ordered.depth -= 1
        this_thread.depth -= 1


def section_of(view: np.ndarray) -> Section:
    if not isinstance(view, np.ndarray):
        raise TypeError(
            f"task: {view!r} is a value of type {type(view).__name__}, not a part of an array; the section of an "
            "element is A[i : i + 1]"
        )
    axes = sorted(zip(view.strides, view.shape, strict=True), reverse=True)
    axes = [(stride, count) for stride, count in axes if count != 1]
    together = view.itemsize
    while axes and axes[-1][0] == together:
        together *= axes.pop()[1]
    if len(axes) > SECTION_DIMS or any(stride <= 0 for stride, _ in axes):
        raise ValueError(
            f"task: a view of shape {view.shape} and strides {view.strides}; up to {SECTION_DIMS} dimensions of equal "
            "pieces, forwards"
        )
    out = Section(address_of(view), together if view.size > 0 else 0, len(axes))
    for d, (stride, count) in enumerate(axes):
        out.count[d], out.stride[d] = count, stride
    return out


def task(
    reads: Sections = (),
    writes: Sections = (),
    updates: Sections = (),
    commutes: Sections = (),
    on: int = ANYWHERE,
    priority: int = 0,
) -> Callable[[Callable[[], object]], None]:
    """Makes the function below it a task, at once:

        @hiroba.task(reads=[A[i - 1 : i + 2]], writes=[B[i : i + 1]])
        def _(i=i):
            B[i] = A[i - 1 : i + 2].mean()

    writes: all of it, and nothing of it is read; updates: read and written; commutes: the same, in any order with
    others that do. Values that change later, such as i, are given as defaults. on: the rank that runs it.

    Errors: TypeError if a section is no array, such as the element B[i]; ValueError if it is not in equal pieces of few
    dimensions. What the function raises ends the job."""
    kinds = ((IN, reads), (OUT, writes), (INOUT, updates), (COMMUTATIVE, commutes))
    lists = ((mode, [given] if isinstance(given, np.ndarray) else given) for mode, given in kinds)
    accesses = [Access(mode, None, section_of(view)) for mode, views in lists for view in views]

    def create(function: Callable[[], object]) -> None:
        place, number = calling_place(), next(numbers)
        key = (function.__name__, place)
        label = labels.setdefault(key, Label(*(each.encode() for each in key)))
        spec = Spec(ctypes.pointer(label), on, priority)
        bodies[number] = function
        array = (Access * len(accesses))(*accesses)
        library.hiroba_task_at(run, number, array, len(accesses), ctypes.byref(spec))

    return create


def taskwait() -> None:
    """Waits until all tasks of all ranks have ended; shared memory is then as after barrier(). Collective."""
    in_turn(library.hiroba_taskwait_at, calling_place().encode())
    bodies.clear()
    Epoch.begin()
