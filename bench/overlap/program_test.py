"""The overlap program of one library (PROGRAM, LIBRARY in the environment) with 1, 2 and 3 ranks: every collective with
right answers, the lines that it prints, what its options do, and what it says to bad ones."""

from __future__ import annotations

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
PHASES = ["comm", "nbcomm", "comp", "block", "ovlp", "ovlp_start", "ovlp_comp", "ovlp_wait"]
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

    def test_a_line_says_what_was_done(self) -> None:
        for line in self.lines(2, *SHORT, "-M", "8,16", "-N", "16", "--collectives", "alltoall"):
            self.assertEqual(line["bytes"], 8 * line["m"])
            self.assertEqual((line["n"], line["repetitions"], line["per_machine"]), (16, 2, 2))
            self.assertIn(line["schedule"], ("static", "dynamic"))
            for phase in PHASES:
                times = line[phase]
                self.assertTrue(
                    0 <= times["min"] <= times["q1"] <= times["median"] <= times["q3"] <= times["max"], (phase, times)
                )
                self.assertTrue(times["min"] <= times["mean"] <= times["max"] * 1.000001, (phase, times))
            self.assertGreater(line["comp"]["min"], 0)

    def test_placement(self) -> None:
        cpus = len(os.sched_getaffinity(0))
        for ranks in (1, 2):
            full, spare = (
                self.lines(ranks, *SHORT, "--schedule", "static", "--placement", which, "barrier:0:8")[0]
                for which in ("full", "spare")
            )
            self.assertEqual(full["threads"], max(1, cpus // ranks))
            self.assertEqual(spare["threads"], max(1, cpus // ranks - 1))
            if cpus > 1:
                self.assertLess(spare["computing_cpus"], cpus)
            self.assertLessEqual(full["computing_cpus"], cpus)

    def test_computation_in_parts(self) -> None:
        """More calls of test than rows are no more parts than rows; the product is right in any number of parts."""
        for calls in ("3", "1000"):
            (line,) = self.lines(2, *SHORT, "--test-calls", calls, "--schedule", "dynamic", "alltoall:64:8")
            self.assertEqual(line["test_calls"], int(calls))
        if LIBRARY == "hiroba":
            (line,) = self.lines(2, *SHORT, "--region", "--schedule", "static", "allreduce:64:8")
            self.assertTrue(line["region"])
        (line,) = self.lines(2, *SHORT, "--additions", "50", "--schedule", "static", "allreduce:16:1")
        self.assertEqual(line["additions"], 50)

    def test_product_is_that_of_a_blas(self) -> None:
        try:
            import numpy
        except ModuleNotFoundError:
            self.skipTest("there is no numpy")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "matrices"
            self.lines(2, *SHORT, "--matrices", str(path), "bcast:4:64")
            self.assertEqual(wrong_elements(path), 0)
            data = numpy.frombuffer(path.read_bytes(), dtype=numpy.uint8).copy()
            data[-8:] = 0
            path.write_bytes(data.tobytes())
            self.assertEqual(wrong_elements(path), 1)

    def test_help_and_a_bad_word(self) -> None:
        self.assertEqual(call(2, "--help").stdout.count("--test-calls K"), 1)
        done = call(2, "-N", "1")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("{"), 0)
        self.assertIn("N is less than the number of ranks", done.stderr)


if __name__ == "__main__":
    unittest.main()
