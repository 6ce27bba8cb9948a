"""The overlap program finds wrong answers, which the library of damaged.c (DAMAGED in the environment) brings, and says
what is wrong with a command line."""

from __future__ import annotations

import json
import os
import subprocess
import unittest

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
