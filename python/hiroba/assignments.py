"""Assignments to elements of arrays, `A[index] = value`: NumPy's own function, which the library calls after a look at
the statement, so that one element takes as long as in NumPy. The type is made by the stable interface of Python's C
functions, so that it needs no compiler."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from hiroba.job import library
from hiroba.library import INT, POINTER, TEXT, declare

ASSIGN = 3  # Py_mp_ass_subscript
MAY_BE_BASE = 1 << 10  # Py_TPFLAGS_BASETYPE


class Slot(ctypes.Structure):
    """PyType_Slot"""

    _fields_ = (("slot", INT), ("function", POINTER))


class Spec(ctypes.Structure):
    """PyType_Spec"""

    _fields_ = (
        ("name", TEXT),
        ("basicsize", INT),
        ("itemsize", INT),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(Slot)),
    )


def watched_type(look: Callable[[np.ndarray, Any], None]) -> type[np.ndarray]:
    """Makes a subclass of numpy.ndarray that calls look(array, index) before some assignments: the first ones by each
    statement, and then fewer and fewer."""
    declare(library, {"hiroba_watched_assignments": (POINTER, POINTER, ctypes.py_object)})
    slot_of, make = ctypes.pythonapi.PyType_GetSlot, ctypes.pythonapi.PyType_FromSpecWithBases
    slot_of.restype, slot_of.argtypes = POINTER, (ctypes.py_object, INT)
    make.restype, make.argtypes = ctypes.py_object, (ctypes.POINTER(Spec), ctypes.py_object)
    function = library.hiroba_watched_assignments(slot_of(np.ndarray, ASSIGN), look)
    if function is None:
        raise ImportError("this interpreter lacks functions of C that CPython 3.11 and later have")
    slots = (Slot * 2)(Slot(ASSIGN, function))
    made = make(Spec(b"hiroba.assignments.Watched", 0, 0, MAY_BE_BASE, slots), (np.ndarray,))
    made._look = look  # which the library does not own
    return made
