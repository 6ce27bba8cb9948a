"""Two users of a machine who have the same group: one runs jobs over each transport, the other tries to read, change
and end them. Nothing succeeds; the ports of an MPI, to which anybody may connect, are told in docs/security.md, and a
connection there changes nothing. Skipped where nobody may become another user.

other_users.py BUILD
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
PATIENT, INTRUDER = BUILD / "tests/programs/patient", Path(__file__).with_name("intruder.py")
SKIPPED = 77
USER, OTHER, GROUP = 61001, 61002, 61001
OVER_TCP = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}  # as between hosts
TRANSPORTS = {
    "shm": ("--transport", "shm"),
    "ucx": ("--nodes", "2", "--transport", "ucx"),
    "mpi-openmpi": ("--mpi", "openmpi", "--transport", "mpi"),
    "mpi-mpich": ("--mpi", "mpich", "--transport", "mpi"),
}
# MPICH's launcher ends the job at the first byte that it does not know: docs/security.md.
LAUNCHERS = ("mpirun", "mpiexec", "hydra")


def become(user: int) -> None:
    os.setgroups([])
    os.setgid(GROUP)
    os.setuid(user)


class Job:
    """Of the first user. Its files are in a folder of its own."""

    def __init__(self, folder: Path, words: tuple[str, ...], settings: dict[str, str]) -> None:
        command: list[str | Path] = [BUILD / "bin/hirobarun", "-n", "2", *words, PATIENT]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HIROBA", "OMP", "PMI"))}
        variables = {
            **kept,
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "HIROBA_TIMEOUT": "60",
            "HIROBA_REPORT": "",
            **settings,
        }
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
            env=variables, preexec_fn=lambda: become(USER),
        )  # fmt: skip
        assert self.process.stdout is not None
        said = self.process.stdout.readline().split()
        if said[:1] != ["running"]:
            raise RuntimeError(f"the job has not begun: {said} {self.process.communicate(timeout=120)[1]}")
        self.first, self.address = int(said[1]), int(said[2], 16)

    def processes(self) -> list[int]:
        """All of the user, that of the array first."""
        found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and owner(entry) == USER]
        return [self.first, *(each for each in found if each != self.first)]

    def finish(self) -> tuple[int, str]:
        out, error = self.process.communicate("\n", timeout=300)
        return self.process.returncode, out + error


def owner(path: Path) -> int:
    try:
        return path.stat().st_uid
    except OSError:
        return -1


def inodes(processes: list[int]) -> dict[str, set[str]]:
    """Of their sockets, and the programs that have each."""
    found: dict[str, set[str]] = {}
    for process in processes:
        name = Path(f"/proc/{process}/comm").read_text().strip()
        for link in Path(f"/proc/{process}/fd").iterdir():
            if match := re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink())):
                found.setdefault(match[1], set()).add(name)
    return found


def ports_of(sockets: dict[str, set[str]], left_out: tuple[str, ...]) -> list[tuple[str, int]]:
    found = []
    for row in (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]):
        address, _, port = row[1].partition(":")
        if row[3] == "0A" and row[9] in sockets and not any(name.startswith(left_out) for name in sockets[row[9]]):
            name = socket.inet_ntoa(struct.pack("<I", int(address, 16)))
            found.append((name if name != "0.0.0.0" else "127.0.0.1", int(port, 16)))
    return found


def unix_sockets_of(sockets: dict[str, set[str]]) -> list[str]:
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return sorted({row[7] for row in rows if len(row) > 7 and row[6] in sockets})


class OtherUsers(unittest.TestCase):
    def intrude(self, job: Job, folder: Path, user: int, left_out: tuple[str, ...] = ()) -> list[str]:
        processes = job.processes()
        sockets = inodes(processes)
        wish = {"processes": processes, "address": job.address, "user": USER, "become": [user, GROUP],
                "gentle": user == USER,
                "ports": ports_of(sockets, left_out), "sockets": unix_sockets_of(sockets),
                "folders": [str(folder), "/dev/shm", "/dev/mqueue"]}  # fmt: skip
        done = subprocess.run([sys.executable, "-S", INTRUDER, json.dumps(wish)], capture_output=True, text=True,
                              timeout=300, check=True, cwd="/")  # fmt: skip
        return done.stdout.splitlines()

    def check(self, transport: str, **settings: str) -> None:
        plugin = BUILD / "lib/hiroba" / f"wire-{transport}.so"
        if transport != "shm" and not plugin.exists():
            self.skipTest(f"this build has no {plugin.name}")
        folder = Path(tempfile.mkdtemp(prefix="other-users-"))
        self.addCleanup(shutil.rmtree, folder)
        os.chown(folder, USER, GROUP)
        job = Job(folder, TRANSPORTS[transport], settings)
        self.addCleanup(job.process.kill)
        own = self.intrude(job, folder, USER)
        for what in ("reading /proc/PID/environ", "sched_setaffinity"):
            self.assertIn(what, own)
        found = self.intrude(job, folder, OTHER, LAUNCHERS if transport == "mpi-mpich" else ())
        told = subprocess.run([BUILD / "bin/hiroba", "top", str(job.process.pid), "--pictures", "1"], check=False,
                              capture_output=True, text=True, timeout=120, cwd="/",
                              preexec_fn=lambda: become(OTHER))  # fmt: skip
        status, said = job.finish()
        print(f"{transport}: {found}", file=sys.stderr)
        self.assertEqual((status, "right" in said.split()), (0, True), said)
        self.assertEqual([what for what in found if not what.startswith("connecting to ")], [])
        if transport in ("shm", "ucx") and not settings:
            self.assertEqual(found, [])
        self.assertEqual((told.returncode, told.stdout), (1, ""), told)

    def test_shm(self) -> None:
        self.check("shm")

    def test_ucx(self) -> None:
        self.check("ucx")

    def test_ucx_over_tcp(self) -> None:
        self.check("ucx", **OVER_TCP)

    def test_open_mpi(self) -> None:
        self.check("mpi-openmpi")

    def test_mpich(self) -> None:
        self.check("mpi-mpich")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("SKIPPED: only root can become two other users")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
