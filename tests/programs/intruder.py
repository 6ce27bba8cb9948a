"""What a program of another user may try on the processes of a job; prints what has succeeded, a line each.

intruder.py WISH, a dictionary as JSON: "become": user and group; "processes": their numbers; "address": of memory of
the first one; "ports": [address, port] to which they listen; "sockets": names of their Unix sockets; "user": theirs;
"folders": where files of this user may be; "gentle": to leave out what would change the job of one's own. Other users
may have no right to execute this Python, so that it becomes one of them by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_DETACH, PTRACE_SEIZE = 16, 17, 0x4206
PIDFD_GETFD, PROCESS_MADVISE = 438, 440  # system calls
IPC_RMID, SHM_RDONLY = 0, 0o10000
MOST_DESCRIPTORS = 200
SECONDS = 5  # for one connection


class Piece(ctypes.Structure):
    _fields_ = (("at", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def call(function: Any, *words: Any) -> int:
    function.restype = ctypes.c_long
    return function(*words)


def vm(function: Any, process: int, address: int) -> bool:
    here = ctypes.create_string_buffer(8)
    mine, theirs = Piece(ctypes.addressof(here), 8), Piece(address, 8)
    one = ctypes.c_ulong(1)
    return call(function, process, ctypes.byref(mine), one, ctypes.byref(theirs), one, ctypes.c_ulong(0)) == 8


def opens(path: Path, flags: int) -> bool:
    with contextlib.suppress(OSError):
        os.close(os.open(path, flags | os.O_NONBLOCK))
        return True
    return False


def reads(path: Path) -> bool:
    """What a process has that is just ending may be opened, and is empty."""
    with contextlib.suppress(OSError), path.open("rb", buffering=0) as opened:
        return len(opened.read(1)) > 0
    return False


def traced(process: int, how: int) -> bool:
    if call(LIBC.ptrace, ctypes.c_long(how), ctypes.c_long(process), ctypes.c_void_p(0), ctypes.c_void_p(0)) != 0:
        return False
    if how == PTRACE_ATTACH:
        os.waitpid(process, 0)
    call(LIBC.ptrace, ctypes.c_long(PTRACE_DETACH), ctypes.c_long(process), ctypes.c_void_p(0), ctypes.c_void_p(0))
    return True


def taken_descriptors(process: int) -> bool:
    handle = os.pidfd_open(process)
    taken = [call(LIBC.syscall, ctypes.c_long(PIDFD_GETFD), handle, fd, 0) for fd in range(MOST_DESCRIPTORS)]
    os.close(handle)
    return any(fd >= 0 for fd in taken)


def moved(process: int) -> bool:
    """To its own CPUs, and so without effect."""
    with contextlib.suppress(OSError):
        os.sched_setaffinity(process, os.sched_getaffinity(process))
        return True
    return False


def signalled(process: int) -> bool:
    with contextlib.suppress(OSError):
        os.kill(process, 0)
        os.kill(process, signal.SIGTERM)
        return True
    return False


def lists(folder: Path) -> bool:
    return bool(list(folder.iterdir()))


def on_process(process: int, address: int | None) -> Iterator[tuple[str, Callable[[], bool]]]:
    folder = Path(f"/proc/{process}")
    for name in ("environ", "maps", "auxv"):
        yield f"reading /proc/PID/{name}", partial(reads, folder / name)
    for name in ("fd", "map_files"):
        yield f"listing /proc/PID/{name}", partial(lists, folder / name)
    yield (
        "opening a descriptor",
        lambda: any(opens(folder / "fd" / str(fd), os.O_RDWR) for fd in range(MOST_DESCRIPTORS)),
    )
    yield "pidfd_getfd", lambda: taken_descriptors(process)
    yield "sched_setaffinity", lambda: moved(process)
    if WISH["gentle"]:
        return
    yield "reading /proc/PID/mem", lambda: opens(folder / "mem", os.O_RDONLY)
    yield "writing /proc/PID/mem", lambda: opens(folder / "mem", os.O_RDWR)
    for name, how in (("PTRACE_ATTACH", PTRACE_ATTACH), ("PTRACE_SEIZE", PTRACE_SEIZE)):
        yield name, partial(traced, process, how)
    if address is not None:
        yield "process_vm_readv", lambda: vm(LIBC.process_vm_readv, process, address)
        yield "process_vm_writev", lambda: vm(LIBC.process_vm_writev, process, address)
    yield "a signal", lambda: signalled(process)


def attaches(segment: int) -> bool:
    failed = ctypes.c_void_p(-1).value
    return bool(LIBC.shmat(segment, None, SHM_RDONLY) != failed)


def removes(segment: int) -> bool:
    return bool(LIBC.shmctl(segment, IPC_RMID, None) == 0)


def system_v() -> Iterator[tuple[str, Callable[[], bool]]]:
    """Segments of the job's user."""
    LIBC.shmat.restype = ctypes.c_void_p
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        words = line.split()
        number, owner = int(words[1]), int(words[7])
        if owner == WISH["user"]:
            yield "shmat", partial(attaches, number)
            yield "IPC_RMID", partial(removes, number)


def unlinks(path: Path) -> bool:
    path.unlink()
    return True


def files(folders: list[str]) -> Iterator[tuple[str, Callable[[], bool]]]:
    for folder in folders:
        for path in [Path(folder), *Path(folder).rglob("*")]:
            with contextlib.suppress(OSError):
                if path.lstat().st_uid == WISH["user"] and not path.is_symlink():
                    yield f"reading {path}", partial(opens, path, os.O_RDONLY)
                    if not path.is_dir():
                        yield f"writing {path}", partial(opens, path, os.O_RDWR)
                        yield f"removing {path}", partial(unlinks, path)


def connects(kind: socket.AddressFamily, name: Any, chance: random.Random) -> bool:
    with socket.socket(kind, socket.SOCK_STREAM) as connection:
        connection.settimeout(SECONDS)
        connection.connect(name)
        connection.sendall(chance.randbytes(300))
    return True


def attempts() -> Iterator[tuple[str, Callable[[], bool]]]:
    chance = random.Random(1)
    for process in WISH["processes"]:
        yield from on_process(process, WISH["address"] if process == WISH["processes"][0] else None)
    if WISH["gentle"]:
        return
    yield from system_v()
    yield from files(WISH["folders"])
    for name in WISH["sockets"]:
        yield f"connecting to {name}", partial(connects, socket.AF_UNIX, name.replace("@", "\0", 1), chance)
    for address, port in WISH["ports"]:
        yield f"connecting to port {port}", partial(connects, socket.AF_INET, (address, port), chance)


WISH = json.loads(sys.argv[1])
USER, GROUP = WISH["become"]
os.setgroups([])
os.setgid(GROUP)
os.setuid(USER)
for what, attempt in attempts():
    with contextlib.suppress(OSError):
        if attempt():
            print(what)
