#!/usr/bin/env python3
"""Runs every case of tasks_misuse.cpp and tasks_failures.cpp as misuse.py does: at 2 ranks, on one node and on 2 nodes
that are virtual; and those of option check in more shapes.

tasks_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import pathlib
import sys
from typing import Any

from misuse import Case, main

PLACE = r"(tasks_(misuse|failures)\.cpp|task_cases\.hpp):\d+"
BOOM = rf"task boom \(\S*{PLACE}\) has failed: spilled"
NOT_HANDLED = "and the program has not handled that at this wait"
LATE: dict[str, Any] = {"options": ["--timeout", "2"], "extra_seconds": 4}


def everywhere(name: str, *words: str, binary: str = "tasks_misuse", **more: Any) -> list[Case]:
    return [Case(name, list(words), binary=binary, ranks=2, nodes=nodes, **more) for nodes in (1, 2)]


PROGRAM = pathlib.Path(__file__).with_suffix(".cpp").read_text().splitlines()
SHAPES = [(1, 1, 1), (1, 1, 2), (2, 2, 1), (3, 1, 2), (4, 2, 2)]  # ranks, nodes, threads


def line(text: str) -> int:
    """The number of the only line of the program that has this text."""
    (found,) = (number for number, each in enumerate(PROGRAM, 1) if text in each)
    return found


def checked(name: str, *words: str, **more: Any) -> list[Case]:
    return [
        Case(
            name,
            list(words),
            ["--check"],
            {"OMP_NUM_THREADS": str(threads)},
            None,
            ranks,
            nodes,
            binary="tasks_misuse",
            **more,
        )
        for ranks, nodes, threads in SHAPES
    ]


def writes(name: str, task: str, element: str, code: str, *words: str, how: str = "in") -> list[Case]:
    """A task that writes what it does not name: the lines on which it is created, and which write."""
    place = rf"tasks_misuse\.cpp:{line(task)}\)"
    code_place = rf"tasks_misuse\.cpp:{line(code)}\)"
    array = r"task_cases\.hpp:\d+"
    wrong = rf"check: wrong \(\S*{place} writes \S*{array}\[{element}\] {how} its function \({code_place}, which it"
    return checked(name, wrong, *(words or ["does not name; name it with out"]))


def unordered(name: str, child: str, why: str, parent: str = "parent") -> list[Case]:
    return checked(name, rf"{PLACE}: check: this task {child} and is created in {parent} \(\S*{PLACE}\), which {why}")


OTHER = rf"does not name it, and task after \(\S*{PLACE}\) writes it; name it in the parent"
CHECKED = [
    *unordered("child_writes", r"writes 4 bytes from \S+\[\d+\] on", OTHER),
    *unordered("child_reads", r"reads 4 bytes from \S+\[\d+\] on", OTHER),
    *unordered("grandchild_writes", r"writes 4 bytes from \S+\[\d+\] on", OTHER),
    *unordered("child_writes_what_is_read", r"writes 4 bytes from \S+\[0\] on", "names it only to read"),
    *unordered("child_writes_more", r"writes 80 bytes from \S+\[0\] on", "names only a part of it"),
    *unordered("child_writes_own_memory", "writes 4 bytes of private memory", OTHER),
    *checked("children_named", good=True),
    *writes("unnamed", "a[mine + 4321] = 2", r"\d+", "a[mine + 4321] = 2"),
    *writes("only_read", "a[19] = a[20] = 1", "19", "a[19] = a[20] = 1", "names only to read"),
    *writes("of_another_rank", "a[0] = a[part", r"\d+", "a[0] = a[part"),
    *writes("one_past", 'out(tile), hiroba::name("wrong")', "25300", "k <= (i == 9"),
    *writes("late", 'out(a + 100, 800), hiroba::name("wrong")', "950", "= round + 1", how="near"),
    *writes("later", "a[3150] = 1", "3150", "= round + 2", how="near"),
    *writes("child", "a[104] = 4", "104", "a[104] = 4"),
    *writes("parent", 'out(a[100]), hiroba::name("wrong")', "101", "a[101] = 3"),
    *writes("by_memset", "std::memset", "200", "std::memset"),
    *writes("in_graph", "++round == 6", "20", "++round == 6"),
    *checked("all_named", good=True),
    *checked("held_elsewhere", good=True),
]


def failing(name: str, *words: str, **more: Any) -> list[Case]:
    return everywhere(name, *words, binary="tasks_failures", **more)


WAITS = {
    "barrier": "sms_barrier",
    "split_barrier": "sms_sync_drop_start",
    "free": "sms_free",
    "end": "the end of the program",
    "wait_in_c": "hiroba_taskwait",
}
OF_THE_PROGRAM = {
    "barrier": "sms_barrier",
    "alloc": r"sms_alloc\(4, 4, 0\)",
    "end": "sms_shutdown",
    "run": r"hiroba_graph_run at \S*" + PLACE,
    "blas": "hiroba_sscal",
    "team": "hiroba_team_split",
}
OF_ALL_RANKS = {"collective": r"hiroba_allreduce\(sum of 1 int32\)", "reduction": "sms_reduce_double"}
INNER = rf"task inner \(\S*{PLACE}\)"

FAILURES = [
    *failing("throws_before_wait_for_data", BOOM, NOT_HANDLED),
    *failing("throws_before_wait_for_data_in_c", BOOM, NOT_HANDLED),
    *(
        case
        for name, call in WAITS.items()
        for case in failing(f"throws_before_{name}", BOOM, f"{call} cannot pass that on: call hiroba::taskwait")
    ),
    *failing("throws_no_exception", r"task boom \(\S*\) has failed: it has thrown what is no std::exception"),
    *failing("child_throws_before_end", rf"task task \(\S*{PLACE}\) has failed: spilled"),
    *failing("throws_in_left_out_task", BOOM),
    *failing("fails_outside", "hiroba_task_fail outside of a task"),
    *failing("get_of_nothing", "future::get of a future without a task"),
    *(
        case
        for name, call in OF_THE_PROGRAM.items()
        for case in failing(f"{name}_in_task", rf"{call} in {INNER}; it is a call of the program")
    ),
    *(
        case
        for name, call in OF_ALL_RANKS.items()
        for case in failing(f"{name}_in_task", rf"{call} in {INNER}, which this rank runs alone")
    ),
    *failing("barrier_in_graph", "sms_barrier in the function of a graph, which only creates tasks"),
    *failing("collective_in_task_of_all", good=True),
    *failing("private_too_early", PLACE + ": hiroba_allreduce: tasks that have not ended use send, 4 bytes; call"),
    *failing("shared_too_early", PLACE + r": \S*: tasks that have not ended use send, 4 bytes from \S+\[99\]; call"),
    *failing("written_too_early", PLACE + ": hiroba_bcast: tasks that have not ended use buffer, 4 bytes; call"),
    *failing("after_wait_for_data", good=True),
    *failing("blas_after_tasks", good=True),
    *failing("tiles_of_nothing", PLACE + ": tiles of 0 x 5 of a matrix of 10 x 10; each has at least 1 row"),
    *failing("tiles_of_less", PLACE + ": tiles of 2 x -5 of a matrix of 10 x 10; each has at least 1 row"),
    *failing("tiles_of_negative", PLACE + ": a matrix of -10 x 10, cut into tiles; neither may be negative"),
    *failing("tiles_of_close_rows", PLACE + ": a matrix of 10 x 10, cut into tiles, with 8 elements from a row to"),
    *failing("tiles_larger", good=True),
    *failing("loop_of_nothing", PLACE + ": a loop of tasks of 0 iterations; each has at least one"),
    *failing("run_of_freed", "hiroba_graph_run: the graph was freed already, by hiroba_graph_free"),
    *failing("free_of_freed", "hiroba_graph_free: the graph was freed already"),
]

CASES = [
    *everywhere("outside", PLACE, r"section of 80 bytes", r"\[90\]", "past the end"),
    Case("outside", [PLACE, r"section of 80 bytes"], binary="tasks_misuse", ranks=1, nodes=1),
    *everywhere("negative_count", PLACE, r"access 0 of a task has -2 blocks along dimension 0", r"\[30\]; at least 0"),
    *everywhere("negative_bytes", PLACE, r"access 0 of a task has -12 bytes from private memory on; at least 0"),
    *everywhere("unowned", PLACE, "use after sms_free"),
    *everywhere("freed", PLACE, "use after sms_free"),
    Case("freed", [PLACE, "use after sms_free"], binary="tasks_misuse", ranks=1, nodes=1),
    *everywhere("freed_early", good=True),
    *everywhere("different", "different tasks|is not the same in all ranks", "same order"),
    *everywhere("fewer", PLACE, r"19 tasks, and another rank more|task 20 of this rank"),
    *everywhere("throws", BOOM, NOT_HANDLED),
    *everywhere(
        "never_ends", r"timeout", r"thread 0 runs endless \(.*misuse", r"after \(.*\) waits for 1 other\b", **LATE
    ),
    *everywhere("never_let_go", r"timeout", r"held \(.*has to be let go", r"after \(.*\) waits for 1 other\b", **LATE),
    *everywhere(
        "never_ends_in_graph",
        r"timeout.* in .*graph",
        r"[23] tasks of this rank",
        r"thread 0 runs endless \(.*misuse",
        r"after \(\S*\) waits for (1 other,|2 others, one of them) endless \(",
        **LATE,
    ),
    *everywhere(
        "never_let_go_in_graph",
        r"timeout.* in .*graph",
        r"2 tasks of this rank",
        r"held \(\S*\) has returned, and has to be let go",
        r"after \(\S*\) waits for 1 other, held \(",
        **LATE,
    ),
    *everywhere("wrong_rank", PLACE, r"on rank 2, but the job has ranks 0\.\.1"),
    *everywhere("wrong_priority", PLACE, r"priority of a task is -1; it is 0 to 32767"),
    *everywhere("wrong_thread", PLACE, "another thread of the program"),
    *everywhere("other_graph", PLACE, "not created as many tasks each time"),
    *everywhere("waits_in_graph", PLACE, "in the function of a graph, which only creates tasks"),
    *everywhere("waits_for_data_in_graph", PLACE, "in the function of a graph, which only creates tasks"),
    *everywhere("different_graphs", "different tasks|is not the same in all ranks", "same order"),
    *everywhere("waits_for_successor", "future::get in a task", "would be a cycle"),
    *everywhere("reduction_of_own", PLACE, "on rank 0 alone, with a reduction of private memory", "in shared memory"),
    *everywhere("reduction_elsewhere", r"hiroba_task_part\(1, ..\): access 1 of the calling task is no reduction"),
    *everywhere("reduction_without_order", "hiroba_use_reduction: operator max does not exist for complex double"),
    *everywhere("reduction_of_bytes", PLACE, "of 12 bytes, without a tile; give contiguous elements of type double"),
    *everywhere("reduction_by_function", "hiroba_use_reduction: operator first is a function", "hiroba::reducer"),
    *everywhere("hold_outside", "hiroba_task_hold outside of a task"),
    *everywhere("iwait_outside", PLACE, "hiroba_task_iwait outside of a task", "hiroba_wait"),
    *everywhere("no_wait", good=True),
    *CHECKED,
    *FAILURES,
]

if __name__ == "__main__":
    sys.exit(main(CASES))
