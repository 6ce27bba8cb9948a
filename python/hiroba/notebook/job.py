"""The kernel's side of a notebook's job: starts hirobarun, sends cells to the ranks, and takes their output.

No call waits for a rank alone: the pipes of hirobarun are always waited for, too, and they end when the job does, for
whatever reason. hirobarun is in a session of its own: the kernel's interrupts reach the ranks only from here."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from hiroba import commands

Show = Callable[[int, str, Any], None]  # rank; "stdout", "stderr" or "shown"; text or what is to be shown
LAUNCHER = -1  # in the place of a rank: output of hirobarun, and what compiled code in ranks prints
SECONDS_TO_LEAVE = 5


class JobEndedError(RuntimeError):
    """The job is no more; its variables and arrays are lost."""


class Rank:
    """The connection to a rank, and how far it is with the cell."""

    def __init__(self, connection: Connection, process: int) -> None:
        self.connection, self.process = connection, process
        self.executed = self.ended = True
        self.lost = False
        self.error: str | None = None


class Job:
    """A running job."""

    def __init__(self, options: list[str], show: Show) -> None:
        self.options, self._show = options, show
        self._said = ""  # by hirobarun, since the last cell: the reason, if the job ends
        self._ranks: dict[int, Rank] = {}
        self._folder = tempfile.mkdtemp(prefix="hiroba-")  # others cannot look into it
        path = str(pathlib.Path(self._folder) / "socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            program = [sys.executable, "-m", "hiroba.notebook.rank", path]
            self._launcher = subprocess.Popen(
                [commands.path("hirobarun"), *options, *program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            self._pipes: dict[Any, str] = {self._launcher.stdout: "stdout", self._launcher.stderr: "stderr"}
            try:
                self._connect(listener)
            except BaseException:
                self.end()
                raise

    def _connect(self, listener: socket.socket) -> None:
        size = 1
        ready: Any
        while len(self._ranks) < size:
            for ready in wait([listener, *self._pipes]):
                if ready is not listener:
                    self._read_pipe(ready)
                    continue
                connection: Connection = Connection(listener.accept()[0].detach())
                with contextlib.suppress(EOFError, OSError):  # it has ended; hirobarun will say why
                    _, rank, size, process = connection.recv()
                    self._ranks[rank] = Rank(connection, process)
            if not self._pipes:
                raise self._ended("could not start")

    @property
    def size(self) -> int:
        return len(self._ranks)

    def check(self) -> None:
        """Raises JobEndedError if the job has ended since the last cell."""
        while self._pipes and (ready := wait(list(self._pipes), 0)):
            for pipe in ready:
                self._read_pipe(pipe)
        if not self._pipes:
            raise self._ended("has ended since the last cell")

    def run(self, number: int, source: str) -> dict[int, str]:
        """Runs a cell, and returns the tracebacks of the ranks that raised an exception. An interrupt of the kernel
        goes to the ranks that execute the cell, the second one ends the job."""
        self._said = ""
        for rank in self._ranks.values():
            rank.executed, rank.ended, rank.error = False, False, None
            with contextlib.suppress(OSError):  # it has ended, which hirobarun tells
                rank.connection.send((number, source))
        interrupted = False
        while not all(rank.ended for rank in self._ranks.values()):
            try:
                self._wait()
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                self._interrupt()
        return self._errors()

    def _errors(self) -> dict[int, str]:
        return {number: rank.error for number, rank in sorted(self._ranks.items()) if rank.error is not None}

    def _wait(self) -> None:
        by_connection = {
            rank.connection: number for number, rank in self._ranks.items() if not (rank.ended or rank.lost)
        }
        ready: Any
        for ready in wait([*by_connection, *self._pipes]):
            if ready in self._pipes:
                self._read_pipe(ready)
                continue
            number = by_connection[ready]
            try:
                self._take(number, *ready.recv())
            except (EOFError, OSError):  # the rank has ended; hirobarun will say why, and end the others
                self._ranks[number].lost = True
        if not self._pipes:
            raise self._ended("has ended")

    def _take(self, number: int, kind: str, *content: Any) -> None:
        rank = self._ranks[number]
        if kind == "executed":
            rank.executed, rank.error = True, content[0]
        elif kind == "ended":
            rank.ended = True
        elif kind == "text":
            self._show(number, *content)
        else:
            self._show(number, kind, *content)

    def _read_pipe(self, pipe: Any) -> None:
        data = os.read(pipe.fileno(), 1 << 16)
        if not data:
            del self._pipes[pipe]
            return
        text = data.decode(errors="replace")
        if self._pipes[pipe] == "stderr":
            self._said += text
        self._show(LAUNCHER, self._pipes[pipe], text)

    def _interrupt(self) -> None:
        for rank in self._ranks.values():
            if not rank.executed:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank.process, signal.SIGINT)

    def _ended(self, how: str) -> JobEndedError:
        self.end()
        reason = self._said.strip() or f"hirobarun ended with status {self._launcher.returncode}"
        before = "".join(f"\nBefore, rank {number} had:\n{text.rstrip()}" for number, text in self._errors().items())
        return JobEndedError(f"the job {how}: {reason}{before}")

    def end(self) -> None:
        """Ends the job, at once if it executes a cell."""
        for rank in self._ranks.values():
            with contextlib.suppress(OSError):
                rank.connection.send(None) if rank.ended else rank.connection.close()
        try:
            said = self._launcher.communicate(timeout=SECONDS_TO_LEAVE if self._ranks else 0)
        except subprocess.TimeoutExpired:
            self._launcher.kill()  # which ends the ranks, too
            said = self._launcher.communicate()
        for name, data in zip(("stdout", "stderr"), said, strict=True):
            self._show(LAUNCHER, name, data.decode(errors="replace"))
        for rank in self._ranks.values():
            rank.connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)
