"""Ranks that wait for each other all the time, beside processes that compute.

crowded.py BUILD

Where each wait yielded, which gives a time slice away, this took more than 20 s. With its share of the processors a job
needs one second. Jobs with more ranks than processors go on yielding; so the turns of all ranks are short, where the
kernel knows that: with turns of 3 ms such jobs took ten times as long.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
SUMS = 100_000
TURN = 100_000  # nanoseconds
LINUX_WITH_TURNS = (6, 12)
LIMIT = 15  # seconds


class Crowded(unittest.TestCase):
    def setUp(self) -> None:
        cpus = len(os.sched_getaffinity(0))
        if cpus < 2:
            self.skipTest("two ranks need two processors")
        computing = [sys.executable, "-c", "while True: pass"]
        self.others = [subprocess.Popen(computing) for _ in range(3 * cpus)]

    def tearDown(self) -> None:
        for other in self.others:
            other.kill()
            other.wait()

    def run_job(self, nodes: int, *words: str) -> str:
        command = [str(BUILD / "bin" / "hirobarun"), "-n", "2", "--nodes", str(nodes)]
        command += [str(BUILD / "tests" / "programs" / "crowded"), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_sums(self) -> None:
        for nodes in (1, 2):
            begin = time.monotonic()
            self.run_job(nodes, str(SUMS))
            seconds = time.monotonic() - begin
            print(f"{SUMS} sums of 2 ranks on {nodes} nodes: {seconds:.1f} s")
            self.assertLess(seconds, LIMIT)

    def test_turns_are_short(self) -> None:
        knows_turns = tuple(int(part) for part in platform.release().split(".")[:2]) >= LINUX_WITH_TURNS
        self.assertEqual(self.run_job(2, "turns"), f"{TURN if knows_turns else 0}\n" * 2)


if __name__ == "__main__":
    unittest.main()
