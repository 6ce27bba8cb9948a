"""The last rank crashes or ends the job by a message, as the argument says; without one, nothing happens. For debug.py,
which looks where gdb finds it. As debugged.c."""

import ctypes
import os
import sys

import hiroba

numbers = hiroba.zeros(100)


def go_wrong(how: str) -> None:
    if how == "past":
        ctypes.memset(numbers.ctypes.data + 40000, 0, 8)
    if how == "null":
        ctypes.string_at(0)
    if how == "abort":
        os.abort()
    if how == "message":
        hiroba.lock(3).__exit__()
    if how == "exception":
        numbers[5000] = 1


hiroba.barrier()
if len(sys.argv) > 1 and hiroba.rank == hiroba.size - 1:
    go_wrong(sys.argv[1])
hiroba.barrier()
if hiroba.rank == 0:
    print("done")
