#!/usr/bin/env python3
"""What option task-graph writes about task_graph.cpp: the edges between tasks, exactly, whatever tasks had ended when
others were created; the events between ranks; and where it stops. And which task released each task that waited, in
the events of option report.

task_graph.py HIROBARUN TASK_GRAPH
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HIROBARUN, PROGRAM = sys.argv[1:3]
READS = [f"read {number}" for number in range(3, 9)]
EDGES = {
    ("make 1", "copy 2"),
    ("make 1", "last 9"),
    ("copy 2", "last 9"),
    *(("copy 2", read) for read in READS),
    *((read, "last 9") for read in READS),
    ("child", "grandchild"),
}
# On two ranks of one node: who tells whom what. The tasks that write a[1] to a[6] run on the first rank.
EVENTS = {
    ("r0_1", "e0_1_0"),
    ("e0_1_0", "r1_2"),
    ("e0_1_0", "r1_9"),
    ("r1_2", "e1_0_0"),
    *(("e1_0_0", f"r0_{number}") for number in range(3, 9)),
    *((f"r0_{number}", "e0_1_1") for number in range(3, 9)),
    ("e1_0_0", "e0_1_1"),
    ("e0_1_1", "r1_9"),
}


class Graph:
    def __init__(self, options: list[str], words: tuple[str, ...] = ()) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.dot"
            command = [HIROBARUN, "--timeout", "20", *options, "--task-graph", str(path), PROGRAM, *words]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            self.said = done.stdout + done.stderr
            if done.returncode != 0:
                raise AssertionError(f"{' '.join(command)}\n{self.said}")
            self.text = path.read_text()
        self.names: dict[str, str] = {}
        self.ranks = {int(rank) for rank in re.findall(r'label="rank (\d+)"', self.text)}
        for node, name in re.findall(
            r'^(r\d+_c?\d+) \[shape=box,label="(\w+)\\ntask_graph.cpp:\d+"\]$', self.text, re.M
        ):
            self.names[node] = name if "c" in node else f"{name} {node.partition('_')[2]}"
        self.labels = dict(re.findall(r'^(\w+) \[shape=plaintext,label="(.*)"\]$', self.text, re.M))
        self.dashed = set(re.findall(r"^(\w+) -> (\w+) \[style=dashed\]$", self.text, re.M))
        self.edges = self.dashed | set(re.findall(r"^(\w+) -> (\w+)$", self.text, re.M))

    def between_tasks(self) -> set[tuple[str, str]]:
        """The edges of tasks, through events and copies."""

        def tasks_after(node: str) -> set[str]:
            found: set[str] = set()
            for first, second in self.edges:
                if first == node:
                    found |= {second} if second in self.names else tasks_after(second)
            return found

        return {(name, self.names[end]) for node, name in self.names.items() for end in tasks_after(node)}


class TaskGraph(unittest.TestCase):
    def test_edges_do_not_depend_on_ranks_and_order(self) -> None:
        for ranks, nodes, threads in ((1, 1, 1), (1, 1, 3), (2, 1, 1), (2, 1, 2), (2, 2, 2), (3, 1, 1), (3, 2, 1)):
            for chaos in ("0", "3"):
                shape = ["-n", str(ranks), "--nodes", str(nodes), "--threads", str(threads), "--chaos", chaos]
                with self.subTest(shape=shape):
                    graph = Graph(shape)
                    # On another node than y's the tasks read a copy, which the last one does not change.
                    copied = {(read, "last 9") for read in READS} if nodes > 1 else set()
                    self.assertEqual(graph.between_tasks(), EDGES - copied)
                    self.assertEqual(graph.ranks, set(range(ranks)))
                    self.assertEqual(len(graph.names), 12)

    def test_events(self) -> None:
        graph = Graph(["-n", "2"])
        self.assertEqual(graph.dashed, EVENTS)
        self.assertEqual(graph.labels["e0_1_0"], r"task_graph.cpp:11[0]\n4 B")
        self.assertEqual(graph.labels["e1_0_0"], r"task_graph.cpp:11[3072]\n4 B")

    def test_limit(self) -> None:
        graph = Graph(["-n", "1"], ("many",))
        self.assertEqual(len(graph.names), 1000)
        self.assertRegex(
            graph.said, r"option task-graph: .*graph.dot has the first 1000 of the 3012 tasks of this rank"
        )

    def test_no_file(self) -> None:
        command = [HIROBARUN, "-n", "1", "--task-graph", ".", PROGRAM]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("option task-graph: cannot write . (Is a directory", done.stdout + done.stderr)


def releasers(*options: str) -> list[tuple[str, str]]:
    """Of each task, its name and that of the one which released it; "" if none did."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.perfetto.json"
        command = [HIROBARUN, "--timeout", "20", *options, "--report", str(path), PROGRAM]
        subprocess.run(command, capture_output=True, timeout=300, check=True)
        events = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    tasks = [event for event in events if event["cat"] == "task"]
    return [(task["name"], task["args"].get("released by", "").split(" at ")[0]) for task in tasks]


class Releasers(unittest.TestCase):
    NAMES = frozenset((first.split()[0], second.split()[0]) for first, second in EDGES)

    def test_a_thread_that_has_created_all_before_it_runs_any(self) -> None:
        found = releasers("-n", "1", "--threads", "1")
        self.assertEqual({task for task, by in found if not by}, {"make", "after", "child"})
        self.assertLessEqual({(by, task) for task, by in found if by}, self.NAMES)

    def test_only_what_a_task_waited_for_released_it(self) -> None:
        for chaos in ("0", "3"):
            found = releasers("-n", "1", "--threads", "3", "--chaos", chaos)
            self.assertEqual(len(found), 12)
            self.assertLessEqual({(by, task) for task, by in found if by}, self.NAMES)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
