"""What the tests of Hiroba over test hosts share: jobs started on the head host as a user does, by hirobarun --hosts,
under watch: how they end, how long that takes, what they say, and what they leave on which host.

A test owns its hosts; finishing a job kills what is left of it there. Everything blocks for a limited time.
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
from collections.abc import Mapping, Sequence
from typing import IO

import mpi
from hosts import HEAD, SKIPPED, Hosts, Unavailable, require
from namespaces import command_line

Word = str | os.PathLike[str]
Command = list[Word]


# The variables by which both MPIs stay on eth0; Open MPI wants to be told that we are root.
NETWORK = {
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "HYDRA_IFACE": "eth0",
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": "eth0",
}


def environment(folder_of_ssh: str, settings: Mapping[str, str]) -> dict[str, str]:
    """With nothing of the caller's that changes how Hiroba or an MPI behaves."""
    foreign = ("HIROBA", "OMP", "UCX_", "HYDRA_", "PMI", "SLURM", "REACH_", "GASNET_", "ARMCI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, **NETWORK, **settings, "PATH": f"{folder_of_ssh}:{kept['PATH']}"}


@dataclasses.dataclass
class Ended:
    """A job that is over."""

    status: int | None  # the launcher's; None: it did not end in time
    text: str  # what it wrote, standard output first
    seconds: float  # until all was gone, from the beginning or the moment that was given
    left: dict[str, list[str]]  # by host: command lines of what was still running

    def __str__(self) -> str:
        how = "did not end in time" if self.status is None else f"ended with status {self.status}"
        left = "".join(f"  left on {host}: {command}\n" for host, commands in self.left.items() for command in commands)
        return f"the launcher {how}, all was over after {self.seconds:.1f} s\n{left}{self.text}"


class Job:
    """A command on the head host. Its output goes to files, so that whoever holds them open delays nothing."""

    def __init__(self, hosts: Hosts, command: Sequence[Word], settings: Mapping[str, str]) -> None:
        self._hosts = hosts
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 (closed by finish)
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            hosts.command(HEAD, command), env=settings, stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err
        )

    def said(self) -> str:
        return _text(self._out) + _text(self._err)

    def wait_until_said(self, pattern: str, limit: float = 20) -> None:
        end = time.monotonic() + limit
        while not re.search(pattern, self.said()):
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"the job never said /{pattern}/:\n{self.said()}")
            time.sleep(0.02)

    def finish(self, limit: float, since: float | None = None) -> Ended:
        """Waits until `limit` seconds after `since`, or after the beginning, for the end of the launcher and of all
        that runs on the hosts."""
        since = self.begun if since is None else since
        status = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(max(0.1, since + limit - time.monotonic()))
        while (left := self.running()) and time.monotonic() < since + limit:
            time.sleep(0.05)
        seconds = time.monotonic() - since
        self._kill()
        ended = Ended(status, self.said(), seconds, left)
        self._out.close()
        self._err.close()
        return ended

    def running(self) -> dict[str, list[str]]:
        """By host: what runs there."""
        found = {name: self._hosts.processes(name) for name in self._hosts.addresses}
        return {name: [" ".join(command_line(pid))[:120] for pid in pids] for name, pids in found.items() if pids}

    def _kill(self) -> None:
        end = time.monotonic() + 5
        while self.running() and time.monotonic() < end:
            for name in self._hosts.addresses:
                for pid in self._hosts.processes(name):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        self.process.wait(5)


def _text(file: IO[bytes]) -> str:
    """The first and the last MiB."""
    some, size = 1 << 20, os.fstat(file.fileno()).st_size
    parts = [(min(size, some), 0), (some, max(size - some, some))]
    # Not by seek: the position is the writers', too.
    return b"".join(os.pread(file.fileno(), *part) for part in parts).decode(errors="replace")


class JobsTest(unittest.TestCase):
    kind: str  # whose mpirun: "openmpi" or "mpich"
    transport: str
    build: pathlib.Path
    long = False
    folder_of_ssh: str

    @classmethod
    def setUpClass(cls) -> None:
        # What users have: the launchers find a program called ssh.
        cls.folder_of_ssh = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="hosts-test-"))
        (pathlib.Path(cls.folder_of_ssh) / "ssh").symlink_to(mpi.AGENT)

    def hirobarun(self, where: str, options: Sequence[str] = ()) -> list[Word]:
        fixed = ["--hosts", where, "--mpi", self.kind, "--transport", self.transport]
        return [self.build / "bin/hirobarun", *fixed, *options]

    def start(
        self,
        hosts: Hosts,
        where: str,
        program: Sequence[Word],
        settings: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> Job:
        command = [*self.hirobarun(where, options), *program]
        return Job(hosts, command, environment(self.folder_of_ssh, settings or {}))

    def run_job(
        self,
        hosts: Hosts,
        where: str,
        program: Sequence[Word],
        settings: Mapping[str, str] | None = None,
        limit: float = 60,
    ) -> Ended:
        """A job that must end well."""
        ended = self.start(hosts, where, program, settings).finish(limit)
        self.assertEqual((ended.status, ended.left), (0, {}), f"{' '.join(map(str, program))} on {where}: {ended}")
        return ended

    def example(self, name: str) -> pathlib.Path:
        return self.build / "bin" / name

    def program(self, name: str) -> pathlib.Path:
        return self.build / "tests/programs" / name

    def patient(self) -> pathlib.Path:
        return self.build / "tests/hosts/patient"


def main(case: type[JobsTest], description: str) -> None:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("wire", help="what carries the data: TRANSPORT-MPI, such as mpi-mpich, or TRANSPORT")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder")
    parser.add_argument("--long", action="store_true", help="more of everything: many minutes")
    parser.add_argument("tests", nargs="*", help="names of tests; default: all")
    options = parser.parse_intermixed_args()
    case.transport, _, case.kind = options.wire.partition("-")
    case.kind = case.kind or "openmpi"  # a launcher that speaks PMIx, as UCX wants
    plugin_name = f"wire-{options.wire}.so"
    case.build, case.long = options.build.resolve(), options.long
    try:
        require()
        mpi.launcher(case.kind)
        if not (case.build / "lib/hiroba" / plugin_name).exists():
            raise Unavailable(f"this build has no {plugin_name}")
    except (Unavailable, FileNotFoundError) as error:
        print(f"SKIPPED: {error}")
        sys.exit(SKIPPED)
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite(map(case, options.tests)) if options.tests else loader.loadTestsFromTestCase(case)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
