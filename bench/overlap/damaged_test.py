"""The overlap program with the library of damaged.c (DAMAGED in the environment), one rank without an MPI: it finds the
wrong answers that this library brings; what its lines say, what its options do, and what is wrong with bad ones."""

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

PHASES = ["comm", "nbcomm", "comp", "block", "ovlp", "ovlp_start", "ovlp_comp", "ovlp_wait"]
SCHEDULES = ["static", "dynamic"]
MOVES = ["alltoall", "allgather", "gather", "scatter"]
SUMS = ["allreduce", "reduce", "reduce_scatter", "scan"]


def start(*words: str) -> subprocess.CompletedProcess[str]:
    command = [os.environ["DAMAGED"], *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False)


def call(damage: str, collective: str) -> subprocess.CompletedProcess[str]:
    """Started once in each phase."""
    return start(damage, "--repetitions", "1", "--warm-up", "0", "--schedule", "static", f"{collective}:100:8")


class DamagedTest(unittest.TestCase):
    def test_no_damage(self) -> None:
        for name in [*MOVES, *SUMS, "bcast", "barrier"]:
            self.assertTrue(json.loads(call("nothing", name).stdout)["same_bits"])

    def test_a_wrong_value_ends_the_job(self) -> None:
        for damage, names in (("value", [*MOVES, *SUMS, "bcast"]), ("bit", [*MOVES, "bcast"])):
            for name in names:
                done = call(damage, name)
                self.assertEqual((done.returncode, done.stdout), (1, ""), (damage, name))
                self.assertIn(f"a collective has brought a wrong value ({name}, 99)", done.stderr)

    def test_a_sum_in_another_order_is_said(self) -> None:
        for name in SUMS:
            done = call("bit", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(json.loads(done.stdout)["same_bits"])

    def lines(self, *words: str) -> list[dict[str, Any]]:
        done = start("nothing", "--repetitions", "3", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_line_says_what_was_done(self) -> None:
        lines = self.lines("-M", "8,16", "-N", "16", "--collectives", "alltoall")
        self.assertEqual(
            [(line["m"], line["schedule"]) for line in lines], [(m, s) for m in (8, 16) for s in SCHEDULES]
        )
        for line in lines:
            self.assertEqual(line["bytes"], 8 * line["m"])
            self.assertEqual((line["library"], line["n"], line["repetitions"]), ("damaged", 16, 3))
            for phase in PHASES:
                times = line[phase]
                order = [times[name] for name in ("min", "q1", "median", "q3", "max")]
                self.assertEqual(order, sorted(order), phase)
                self.assertTrue(0 <= times["min"] <= times["mean"] <= times["max"] * 1.000001, (phase, times))
            self.assertGreater(line["comp"]["min"], 0)

    def test_placement(self) -> None:
        cpus = len(os.sched_getaffinity(0))
        (full,) = self.lines("--schedule", "static", "--placement", "full", "barrier:0:8")
        (spare,) = self.lines("--schedule", "static", "--placement", "spare", "barrier:0:8")
        self.assertEqual((full["threads"], full["computing_cpus"]), (cpus, cpus))
        self.assertEqual((spare["threads"], spare["computing_cpus"]), (max(1, cpus - 1), max(1, cpus - 1)))

    def test_computation_in_parts(self) -> None:
        """The product is right in any number of parts, which are at most as many as there are rows."""
        for calls in ("1", "3", "1000"):
            for line in self.lines("--test-calls", calls, "alltoall:64:8"):
                self.assertEqual(line["test_calls"], int(calls))
        (line,) = self.lines("--additions", "50", "--schedule", "static", "allreduce:16:1")
        self.assertEqual(line["additions"], 50)

    def test_product_is_that_of_a_blas(self) -> None:
        try:
            import numpy
        except ModuleNotFoundError:
            self.skipTest("there is no numpy")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "matrices"
            self.lines("--matrices", str(path), "bcast:4:64")
            self.assertEqual(wrong_elements(path), 0)
            data = numpy.frombuffer(path.read_bytes(), dtype=numpy.uint8).copy()
            data[-8:] = 0
            path.write_bytes(data.tobytes())
            self.assertEqual(wrong_elements(path), 1)

    def test_help(self) -> None:
        done = start("nothing", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--test-calls K", done.stdout)

    def test_bad_words(self) -> None:
        many = ",".join(map(str, range(40)))
        for words, told in [
            (["-M", "8x"], "8x"),
            (["-M", "8x9"], "8x9"),
            (["-M", "8,,9"], "8,,9"),
            (["-M", "9999999999"], "9999999999"),
            (["-N", "0"], "0"),
            (["--repetitions", "0"], "0"),
            (["--collectives", "alltoal"], "alltoal"),
            (["--collectives", "all", "-M", many], "more than 256"),
            (["--schedule", "guided"], "guided"),
            (["--placement", "none"], "none"),
            (["alltoall:8"], "alltoall:8"),
            (["--region"], "no calls that say where progress is wanted"),
            (["alltoall:8:9:10"], "alltoall:8:9:10"),
            (["alltoall:-8:9"], "alltoall:-8:9"),
        ]:
            done = start("nothing", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(told, done.stderr)
            self.assertIn("see --help", done.stderr)
        self.assertEqual(start("nothing", "--wrong").returncode, 2)


if __name__ == "__main__":
    unittest.main()
