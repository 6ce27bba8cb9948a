"""The registration of tasks. A new directive is a function, and a line here."""

from __future__ import annotations

from ..core.found import Kind, Stands
from ..core.notation import Notation
from .outline import task, taskwait
from .part import TaskPart
from .words import DEPEND, MODES, REDUCTIONS, VALUES, VARIABLES

CLAUSES = (*MODES, *REDUCTIONS, "depend", *VARIABLES, *VALUES)  # the last is of loops

TASK = Notation(
    "tasks",
    TaskPart,
    header="task.h",
    symbol="hiroba_task_copy_at",
    starts=(),
    beside=("smint.h",),
    family="hiroba",
    common_family=True,
    directives=(
        Kind("task", Stands.ABOVE, task, clauses=CLAUSES[:-1], words=tuple(DEPEND)),
        Kind("taskloop", Stands.ABOVE, task, clauses=CLAUSES, words=tuple(DEPEND), shares_loop=True),
        Kind("taskwait", Stands.ALONE, taskwait, clauses=(*MODES, "depend", "on"), is_statement=True),
    ),
)
