#!/usr/bin/env python3
"""Runs every case of tasks_misuse.cpp as misuse.py does: at 2 ranks, on one node and on 2 virtual nodes.

tasks_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import sys
from typing import Any

from misuse import Case, main

PLACE = r"tasks_misuse\.cpp:\d+"
LATE: dict[str, Any] = {"options": ["--timeout", "2"], "extra_seconds": 4}


def everywhere(name: str, *words: str, **more: Any) -> list[Case]:
    return [Case(name, list(words), binary="tasks_misuse", ranks=2, nodes=nodes, **more) for nodes in (1, 2)]


CASES = [
    *everywhere("outside", PLACE, r"section of 80 bytes", r"\[90\]", "past the end"),
    Case("outside", [PLACE, r"section of 80 bytes"], binary="tasks_misuse", ranks=1, nodes=1),
    *everywhere("unowned", PLACE, "use after sms_free"),
    *everywhere("different", "different tasks|is not the same in all ranks", "same order"),
    *everywhere("fewer", PLACE, r"19 tasks, and another rank more|task 20 of this rank"),
    *everywhere("throws", "terminate|Abort|ended by signal|spilled"),
    *everywhere(
        "never_ends", r"timeout", r"thread 0 runs endless \(.*misuse", r"after \(.*\) waits for 1 other\b", **LATE
    ),
    *everywhere("never_let_go", r"timeout", r"held \(.*has to be let go", r"after \(.*\) waits for 1 other\b", **LATE),
    *everywhere("wrong_rank", PLACE, r"on rank 2, but the job has ranks 0\.\.1"),
    *everywhere("wrong_priority", PLACE, r"priority of a task is -1; it is 0 to 32767"),
    *everywhere("wrong_thread", PLACE, "another thread of the program"),
    *everywhere("other_graph", PLACE, "not created as many tasks each time"),
    *everywhere("waits_in_graph", PLACE, "in the function of a graph, which only creates tasks"),
    *everywhere("waits_for_data_in_graph", PLACE, "in the function of a graph, which only creates tasks"),
    *everywhere("different_graphs", "different tasks|is not the same in all ranks", "same order"),
    *everywhere("hold_outside", "hiroba_task_hold outside of a task"),
    *everywhere("no_wait", good=True),
]

if __name__ == "__main__":
    sys.exit(main(CASES))
