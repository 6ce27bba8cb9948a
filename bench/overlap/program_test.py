"""The overlap program of one library (PROGRAM, LIBRARY in the environment) with 1, 2 and 3 ranks: every collective has
the right answers. Starting an MPI takes seconds on a busy machine, so what needs no ranks is in damaged_test.py."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from check_dgemm import wrong_elements

LIBRARY, PROGRAM = os.environ["LIBRARY"], os.environ["PROGRAM"]
ALL = ["alltoall", "allreduce", "bcast", "reduce", "allgather", "gather", "scatter"]
ALL += ["reduce_scatter", "scan", "barrier"]
SHORT = ["--repetitions", "2", "--warm-up", "1"]


def launch(ranks: int) -> list[str]:
    if LIBRARY == "hiroba":
        return [os.environ["HIROBARUN"], "-n", str(ranks)]
    if LIBRARY == "mpich":
        return ["mpirun.mpich", "-n", str(ranks)]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    unbound = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    return ["mpirun.openmpi", *root, *unbound, "-n", str(ranks)]


def call(ranks: int, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*launch(ranks), PROGRAM, *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=40, check=False)


class ProgramTest(unittest.TestCase):
    def lines(self, ranks: int, *words: str) -> list[dict[str, Any]]:
        done = call(ranks, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_every_collective(self) -> None:
        for ranks in (1, 2, 3):
            points = [f"{name}:{m}:{4 * ranks}" for name in ALL for m in (0, 1, 1000)]
            lines = self.lines(ranks, *SHORT, "--schedule", "static", *points)
            self.assertEqual([line["collective"] for line in lines], [name for name in ALL for _ in range(3)])
            self.assertEqual({line["ranks"] for line in lines}, {ranks})
            if ranks < 3:  # with two ranks there is one order of additions
                self.assertTrue(all(line["same_bits"] for line in lines))

    def test_two_ranks_in_parts_with_a_spare_cpu(self) -> None:
        """Calls of test between parts of the computation, both schedules, and the product as a BLAS has it."""
        cpus = len(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "matrices"
            few = ["--collectives", "alltoall,allreduce", "-M", "8,16", "-N", "64"]
            parts = ["--placement", "spare", "--test-calls", "3", "--matrices", str(path)]
            lines = self.lines(2, *SHORT, *few, *parts)
            self.assertEqual(len(lines), 8)
            for line in lines:
                self.assertEqual((line["ranks"], line["per_machine"], line["n"]), (2, 2, 64))
                self.assertEqual(line["threads"], max(1, cpus // 2 - 1))
                self.assertLess(line["computing_cpus"], max(cpus, 2))
            if importlib.util.find_spec("numpy"):
                self.assertEqual(wrong_elements(path), 0)

    def test_regions_of_progress(self) -> None:
        if LIBRARY != "hiroba":
            self.skipTest("MPI has no such calls")
        (line,) = self.lines(2, *SHORT, "--region", "--schedule", "static", "allreduce:64:8")
        self.assertTrue(line["region"])

    def test_a_bad_word(self) -> None:
        done = call(2, "-N", "1")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("{"), 0)
        self.assertIn("N is less than the number of ranks", done.stderr)


if __name__ == "__main__":
    unittest.main()
