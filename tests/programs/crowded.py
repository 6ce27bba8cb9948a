"""Ranks that wait for each other all the time, beside processes that compute.

crowded.py BUILD

Where each wait yielded, which gives a time slice away, this took more than 20 s. With its share of the processors a job
needs one second.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve()
SUMS = 100_000
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

    def test_sums(self) -> None:
        for nodes in (1, 2):
            begin = time.monotonic()
            command = [str(BUILD / "bin" / "hirobarun"), "-n", "2", "--nodes", str(nodes)]
            command += [str(BUILD / "tests" / "programs" / "crowded"), str(SUMS)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            seconds = time.monotonic() - begin
            print(f"{SUMS} sums of 2 ranks on {nodes} nodes: {seconds:.1f} s")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertLess(seconds, LIMIT)


if __name__ == "__main__":
    unittest.main()
