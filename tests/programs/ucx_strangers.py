"""A stranger on the same machine who speaks plain UCX to the ranks of a job over tcp: it reads and writes nothing of
the job's memory, its messages are counted, and the job ends as it should.

ucx_strangers.py BUILD
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
STRANGER = BUILD / "tests" / "programs" / "ucx_stranger"
PATIENT = BUILD / "tests" / "programs" / "patient"
OVER_TCP = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}


class Strangers(unittest.TestCase):
    def start(self, **settings: str) -> subprocess.Popen[str]:
        command: list[str | Path] = [BUILD / "bin/hirobarun", "-n", "2", "--nodes", "2", "--transport", "ucx", PATIENT]
        environment = {**os.environ, **settings, "HIROBA_TIMEOUT": "30"}
        job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=environment)  # fmt: skip
        self.addCleanup(job.kill)
        return job

    def ports_of(self, process: int) -> list[int]:
        """Those that it listens to."""
        sockets = set()
        for link in Path(f"/proc/{process}/fd").iterdir():
            if match := re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink())):
                sockets.add(match[1])
        rows = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]]
        return [int(row[1].partition(":")[2], 16) for row in rows if row[3] == "0A" and row[9] in sockets]

    def begin(self, job: subprocess.Popen[str]) -> tuple[int, str]:
        """Returns the process of rank 0, and the address of its array."""
        assert job.stdout is not None
        word = job.stdout.readline().split()
        self.assertEqual(word[:1], ["running"])
        return int(word[1]), word[2]

    def finish(self, job: subprocess.Popen[str]) -> str:
        out, error = job.communicate("\n", timeout=120)
        # UCX prints to standard output what it has had no use for.
        self.assertEqual((job.returncode, out.splitlines()[-1]), (0, "right"), out + error)
        return error

    def ask(self, what: str, port: int, address: str) -> str:
        command: list[str | Path] = [STRANGER, what, "127.0.0.1", str(port), address]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout

    def test_ranks_of_one_machine_listen_to_nothing(self) -> None:
        job = self.start()
        process, _ = self.begin(job)
        self.assertEqual(self.ports_of(process), [])
        self.finish(job)

    def test_memory_is_neither_read_nor_written(self) -> None:
        job = self.start(**OVER_TCP)
        process, address = self.begin(job)
        (port,) = self.ports_of(process)
        for what in ("put", "get", "put"):
            self.assertEqual(self.ask(what, port, address), "none\n", what)
        self.finish(job)

    def test_messages_are_counted(self) -> None:
        job = self.start(**OVER_TCP)
        process, address = self.begin(job)
        (port,) = self.ports_of(process)
        self.assertEqual(self.ask("message", port, address), "done\n")
        self.assertRegex(self.finish(job), r"messages of strangers were refused: 5")


if __name__ == "__main__":
    unittest.main()
