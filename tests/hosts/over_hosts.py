"""What the tests of Hiroba over test hosts share: jobs started on the head host as a user does, by hirobarun --hosts,
under watch: how they end, how long that takes, what they say, and what they leave on which host.

A test owns its hosts, and they end all that is left; a Job's files end with it. Everything blocks for a limited time.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import IO

import mpi
from hosts import HEAD, SKIPPED, Hosts, Unavailable, require
from namespaces import command_line, kill_all_in

HERE = pathlib.Path(__file__).resolve().parent
TEARDOWN_S = 1.0  # what a process that is being torn down may take longer than its launcher


def settings_on_head(kind: str) -> dict[str, str]:
    """The variables by which mpirun reaches the hosts, instead of ssh, and over eth0 alone."""
    if kind == "openmpi":
        return {
            "OMPI_MCA_plm": "rsh",
            "OMPI_MCA_plm_rsh_agent": mpi.AGENT,
            "OMPI_MCA_oob_tcp_if_include": "eth0",
            "OMPI_MCA_btl_tcp_if_include": "eth0",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
    return {
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": mpi.AGENT,
        "HYDRA_IFACE": "eth0",
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": "eth0",
    }


def environment(kind: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the caller's that would change how Hiroba or an MPI behaves."""
    foreign = ("HIROBA", "OMP", "UCX_", "HYDRA_", "PMI")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, **settings_on_head(kind), **settings}


@dataclasses.dataclass
class Ended:
    """A job whose launcher has ended."""

    status: int | None  # None: it had to be ended
    text: str  # what it wrote, standard output first
    seconds: float  # from the beginning, or from the moment that was given
    left: dict[str, list[str]]  # by host: command lines of what was still running


class Job:
    """A launcher that runs on the head host. Its output goes to files, so that whoever holds them open delays nothing."""

    def __init__(self, hosts: Hosts, command: Sequence[str | os.PathLike[str]], settings: Mapping[str, str]) -> None:
        self._hosts = hosts
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 (closed by finish)
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            hosts.command(HEAD, command), env=settings, stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err
        )

    def said(self) -> str:
        return "".join(_text(file) for file in (self._out, self._err))

    def wait_for(self, pattern: str, limit: float = 20) -> None:
        """Until the job has said it."""
        end = time.monotonic() + limit
        while not re.search(pattern, self.said()):
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"the job never said /{pattern}/:\n{self.said()}")
            time.sleep(0.02)

    def finish(self, limit: float, since: float | None = None) -> Ended:
        """Waits until `limit` seconds after `since`, or after the beginning, for the launcher, and then a little for
        what it has started."""
        since = self.begun if since is None else since
        status = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(max(0.1, since + limit - time.monotonic()))
        left = self._left(max(since + limit, time.monotonic() + TEARDOWN_S) if status is not None else 0)
        seconds = time.monotonic() - since
        for namespace in (self._hosts.namespaces[name] for name in left):
            for pid in self._pids(namespace):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        ended = Ended(status, self.said(), seconds, left)
        self._out.close()
        self._err.close()
        return ended

    def _left(self, until: float) -> dict[str, list[str]]:
        while True:
            left = {
                name: [" ".join(command_line(pid))[:120] for pid in pids]
                for name in self._hosts.addresses
                if (pids := self._hosts.processes(name))
            }
            if not left or time.monotonic() >= until:
                return left
            time.sleep(0.05)

    def _pids(self, namespace: int) -> list[int]:
        names = {number: name for name, number in self._hosts.namespaces.items()}
        return self._hosts.processes(names[namespace])


def _text(file: IO[bytes]) -> str:
    # Not seek: the position is the writers', too.
    return os.pread(file.fileno(), 1 << 20, 0).decode(errors="replace")
