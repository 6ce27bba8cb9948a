"""Running a job under watch: how it ends, how long that takes, what it says, and what it leaves behind.

A job carries a mark in its environment, by which its processes are found in /proc wherever they have gone. Only
processes with the mark are ever signalled. Not for use from several threads on one Job.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import uuid
from typing import IO

MARK = "PROGRAMS_TEST_MARK"
# But for what option check says of itself.
ABOUT_CHECK = r"rank \d+: check: (?:races on shared arrays are|what tasks do not name is) not looked for"
MESSAGE = re.compile(rf"^(hiroba|hirobarun): (?!{ABOUT_CHECK})", re.MULTILINE)


class Job:
    """A started command. stdout and stderr go to files, so that a child that holds them open delays nothing."""

    def __init__(self, command: list, settings: dict[str, str] | None = None) -> None:
        self.command = [str(word) for word in command]
        self.mark = uuid.uuid4().hex
        environment = {**os.environ, **(settings or {}), MARK: self.mark}
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 (closed by finish)
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            self.command, env=environment, stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err
        )
        self.hung = False
        self.left: list[tuple[int, str]] = []
        self.status = 0
        self.out = self.err = ""

    def processes(self) -> list[tuple[int, str]]:
        """(pid, name) of all processes of the job that have not ended."""
        return marked_processes(self.mark)

    def finish(self, limit: float) -> float:
        """Waits at most `limit` seconds from now, then ends what is there. Returns the seconds that it took."""
        start = time.monotonic()
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.hung = True
        took = time.monotonic() - start
        if not self.hung:
            self.left = self._leftovers(0.5)
        self._end_all()
        self.process.wait()
        self.status = self.process.returncode
        self.out, self.err = _text(self._out), _text(self._err)
        return took

    def messages(self) -> int:
        return len(MESSAGE.findall(self.err))

    def _leftovers(self, patience: float) -> list[tuple[int, str]]:
        """What is still there a moment later; a process that is being torn down is none."""
        until = time.monotonic() + patience
        left = self.processes()
        while left and time.monotonic() < until:
            time.sleep(0.02)
            left = self.processes()
        return left

    def _end_all(self) -> None:
        for _ in range(50):
            left = self.processes()
            if not left:
                return
            for pid, _name in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.poll()
            time.sleep(0.02)


def marked_processes(mark: str) -> list[tuple[int, str]]:
    found = []
    wanted = f"{MARK}={mark}".encode()
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted not in (entry / "environ").read_bytes().split(b"\0"):
                continue
            text = (entry / "stat").read_text()
        except OSError:
            continue
        name, state = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2]
        if state not in "ZX":
            found.append((int(entry.name), name))
    return found


def named_leftovers() -> list[str]:
    """Files that outlive processes: there must be none with our name."""
    return sorted(path.name for path in pathlib.Path("/dev/shm").iterdir() if "hiroba" in path.name)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    text = file.read().decode(errors="replace")
    file.close()
    return text
