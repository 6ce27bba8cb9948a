"""What is known of processes and network namespaces from /proc alone. A namespace is named by its inode; whoever asks
must be root, and a process that has ended, zombies included, is nowhere."""

import contextlib
import os
import pathlib
import signal
import time
from collections.abc import Iterator


def pids() -> Iterator[int]:
    return (int(folder.name) for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit())


def namespace_of(pid: int | str) -> int | None:
    try:
        return pathlib.Path(f"/proc/{pid}/ns/net").stat().st_ino
    except OSError:
        return None


def processes_in(namespace: int) -> list[int]:
    return [pid for pid in pids() if namespace_of(pid) == namespace]


def command_line(pid: int) -> list[str]:
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def environment(pid: int) -> list[str]:
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def kill_all_in(namespace: int, spare: int = 0, limit: float = 5) -> bool:
    """Kills until nothing but `spare` is left, because what is being killed may still fork. False if that lasts."""
    end = time.monotonic() + limit
    while left := [pid for pid in processes_in(namespace) if pid != spare]:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
