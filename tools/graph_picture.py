"""The picture of tasks in docs/tasks.md, from what option task-graph has written (docs/results/task-graph.dot): a half
for each of two ranks, a row for each level of what waits for what. Python standard library only."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from drawing import BLUE, FAINT, LIGHT_BLUE, LIGHT_GREEN, LIGHT_GREY, ORANGE, WIDTH, Drawing

BOX_W, BOX_H, ROW, TOP, MARGIN = 104, 28, 54, 60, 12
Edges = set[tuple[str, str]]


def read(text: str) -> tuple[dict[str, str], Edges, Edges]:
    """The names of the tasks; the edges within ranks; and those through events to the other one."""
    tasks = dict(re.findall(r'^(\w+) \[shape=box,label="(\w+)\\n.*"\]$', text, re.MULTILINE))
    edges = set(re.findall(r"^(\w+) -> (\w+)", text, re.MULTILINE))
    within = {(a, b) for a, b in edges if a in tasks and b in tasks}
    between = {(a, b) for a, event in edges - within for event_too, b in edges - within if event == event_too}
    return tasks, within, {(a, b) for a, b in between if a in tasks and b in tasks}


def places(tasks: dict[str, str], edges: Edges) -> dict[str, tuple[float, float]]:
    """Of the left upper corners of the boxes."""

    @cache
    def level(task: str) -> int:
        return max((1 + level(before) for before, after in edges if after == task), default=0)

    rows: dict[tuple[str, int], list[str]] = {}
    for task in tasks:
        rows.setdefault((task.partition("_")[0], level(task)), []).append(task)
    found: dict[str, tuple[float, float]] = {}
    half = WIDTH / 2
    for (rank, row), names in rows.items():
        step = (half - 2 * MARGIN) / len(names)
        for place, name in enumerate(names):
            aside = 0 if len(names) > 1 else 40 if row % 2 else -40  # so that no edge is hidden by a box between
            left = half * int(rank[1:]) + MARGIN + step * (place + 0.5) - BOX_W / 2 + aside
            found[name] = (left, TOP + ROW * row)
    return found


def task_graph(root: Path) -> Drawing:
    tasks, within, between = read((root / "docs" / "results" / "task-graph.dot").read_text())
    place = places(tasks, within | between)
    height = int(max(y for _, y in place.values())) + BOX_H + 24
    d = Drawing(height, "Cholesky with 4 x 4 tiles on 2 ranks: what each task waits for")
    for rank in range(2):
        left = WIDTH / 2 * rank
        d.box(left + 4, 8, WIDTH / 2 - 8, height - 16, LIGHT_GREY, LIGHT_GREY, round_=8)
        d.text(left + WIDTH / 4, 32, f"rank {rank}", 14, "middle", FAINT, bold=True)
    for edges, colour in ((within, BLUE), (between, ORANGE)):
        for before, after in sorted(edges):
            (x0, y0), (x1, y1) = place[before], place[after]
            d.arrow([(x0 + BOX_W / 2, y0 + BOX_H), (x1 + BOX_W / 2, y1 - 1)], colour, dashed=colour == ORANGE)
    for task, (x, y) in place.items():
        d.box(x, y, BOX_W, BOX_H, LIGHT_BLUE if task.startswith("r0") else LIGHT_GREEN)
        d.text(x + BOX_W / 2, y + 18, f"{task.partition('_')[2]} {tasks[task]}", 12, "middle")
    return d
