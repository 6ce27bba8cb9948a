"""The table "at 1,000 nodes" in docs/scaling.md: computed from the model of that page. `with_table()` replaces the rows
in the text of the page. tests/programs/scaling.c compares the messages of the model with counters. Standard library
only."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

HEAD = "| at 1,000 nodes | 1 rank a node | 64 ranks a node |\n|---|---|---|\n"
NODES = 1000


class Job(NamedTuple):
    nodes: int
    ranks_here: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_here

    @property
    def rounds(self) -> int:
        return math.ceil(math.log2(self.nodes))

    @property
    def ranks_elsewhere(self) -> int:
        return self.ranks - self.ranks_here


def size(value: float) -> str:
    units = ["bytes", "KB", "MB", "GB", "TB"]
    while value >= 1000:
        value /= 1000
        units.pop(0)
    digits = 0 if value >= 100 or units[0] == "bytes" else 1
    return f"{value:,.{digits}f} {units[0]}"


def count(value: float) -> str:
    return f"{value:,.0f}"


# What is counted, and its formula. Messages are those that a node, or a rank, sends.
ROWS: list[tuple[str, Callable[[Job], str]]] = [
    ("a barrier or reduction: messages of a node", lambda job: count(job.rounds)),
    ("bytes of a node in all rounds of a barrier", lambda job: size(32 * job.ranks)),
    (
        "an epoch of two barriers in which all ranks write and one of each node reads a page of the next node: "
        "messages of a node",
        lambda job: count(2 * job.rounds + 2 * job.ranks_here + 2),
    ),
    (
        "reading the notices of all ranks of other nodes, the worst case: messages of a rank",
        lambda job: count(2 * job.ranks_elsewhere),
    ),
    ("the same: round trips that the rank waits for", lambda job: count(1)),
    ("a page fault: messages of all", lambda job: count(2)),
    ("a lock of another rank, after all nodes have published: messages of all", lambda job: count(12 + 4 * job.nodes)),
    ("puts in flight and numbers of ranks: memory of a rank", lambda job: size(96 * job.ranks)),
    ("the board: memory of a host", lambda job: size(256 * job.ranks_here + 320 * job.ranks)),
    ("words of barriers: memory of a rank", lambda job: size(8 * job.ranks)),
    ("the same: of the first rank of a node", lambda job: size(66 * job.ranks)),
    ("answers about empty pages: addresses of a rank, at most", lambda job: size(8 * job.ranks)),
    (
        "reserved addresses, with `--space 8T`: 47 bits are 140 TB",
        lambda job: size(2 * ((8 << 40) + 3 * job.ranks * (1 << 30))),
    ),
]


def table() -> str:
    jobs = (Job(NODES, 1), Job(NODES, 64))
    rows = [f"| {what} | {' | '.join(formula(job) for job in jobs)} |\n" for what, formula in ROWS]
    return HEAD + "".join(rows)


def with_table(page: str) -> str:
    if HEAD not in page:
        sys.exit(f"docs/scaling.md has no table that begins with {HEAD!r}")
    before, after = page.split(HEAD, 1)
    lines = after.splitlines(keepends=True)
    rest = next((i for i, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return before + table() + "".join(lines[rest:])
