"""Graphs have the tasks and edges that arithmetic says, and a runtime that is wrong does not get away with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from contestants import Workshop, program
from workshop import SEQUENTIAL

WIDTH, STEPS, TILES = 8, 10, 7
READS: dict[str, Callable[[int, int], set[int]]] = {  # columns, by step and column
    "stencil": lambda _, i: {i - 1, i, i + 1},
    "fft": lambda step, i: {i - (1 << (step - 1) % 3), i, i + (1 << (step - 1) % 3)},
    "tree": lambda _, i: {i // 2},
    "all": lambda _, i: set(range(WIDTH)),
}
FREE = ("independent", "independent_inout")


def edges(graph: str) -> int:
    """A task waits for those of the step before whose cells it reads, and for those that have read the cell that it
    overwrites; if nobody has, for the one that has written it."""

    def reads(step: int, i: int) -> set[int]:
        return READS[graph](step, i) & set(range(WIDTH)) if step > 0 else set()

    count = 0
    for step in range(1, STEPS):
        for i in range(WIDTH):
            readers = {j for j in range(WIDTH) if i in reads(step - 1, j)}
            count += len(reads(step, i) | readers) + (not readers and step > 1)
    return count


WRONG = "wrong answer"


class Check(unittest.TestCase):
    workshop: Workshop

    @classmethod
    def setUpClass(cls) -> None:
        cls.workshop = Workshop(Path(os.environ["BUILD"]), ["serial"], None)
        assert cls.workshop.made(program("damaged", "damaged.c", "cc", SEQUENTIAL))

    def run_it(self, name: str, *words: str, backwards: bool = False) -> subprocess.CompletedProcess[str]:
        settings = os.environ | ({"BACKWARDS": "1"} if backwards else {})
        command = [str(self.workshop.folder / f"taskgraph_{name}"), "--repeats", "1", "--threads", "1", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, env=settings)

    def test_tasks_and_edges(self) -> None:
        for graph in (*FREE, *READS):
            done = self.run_it("serial", "--graph", graph, "--width", str(WIDTH), "--steps", str(STEPS))
            found = json.loads(done.stdout)
            self.assertEqual(found["tasks"], WIDTH * STEPS)
            self.assertEqual(found["edges"], 0 if graph in FREE else edges(graph), graph)

    def test_cholesky(self) -> None:
        n = TILES
        done = self.run_it("serial", "--graph", "cholesky", "--width", str(n))
        found = json.loads(done.stdout)
        updates = n * (n - 1) * (n - 2) // 6
        self.assertEqual(found["tasks"], n + n * (n - 1) + updates)
        # All but the first task of a tile wait for the one before; a trsm for its potrf, a syrk for its trsm, a gemm
        # for two.
        same_tile = found["tasks"] - n * (n + 1) // 2
        self.assertEqual(found["edges"], same_tile + n * (n - 1) + 2 * updates)

    def test_a_missing_task_is_noticed(self) -> None:
        for graph in (*FREE, *READS, "random", "cholesky"):
            done = self.run_it("damaged", "--graph", graph)
            self.assertNotEqual(done.returncode, 0, graph)
            self.assertIn(WRONG, done.stderr)

    def test_a_wrong_order_is_noticed(self) -> None:
        for graph in (*READS, "random", "cholesky"):
            done = self.run_it("damaged", "--graph", graph, "--steps", "2", backwards=True)
            self.assertNotEqual(done.returncode, 0, graph)
            self.assertIn(WRONG, done.stderr)

    def test_bad_input_is_refused(self) -> None:
        for words, said in (
            (["--graph", "ring"], "there are: independent"),
            (["--graph", "cholesky", "--memory"], "is for patterns"),
            (["--replay"], "cannot run a graph again"),
            (["--bytes", "12"], "no multiple of 8"),
            (["--repeats", "1000"], "at most"),
        ):
            done = self.run_it("serial", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
