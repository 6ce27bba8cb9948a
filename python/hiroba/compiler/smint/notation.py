"""The registration of SMint. A new directive is a function, and a line here."""

from __future__ import annotations

from ..core.found import Kind, Stands
from ..core.notation import Notation
from .parallel import parallel
from .part import Smint
from .shared import take_shared
from .single import single
from .statements import barrier, critical, preload

LOOP = (
    *("for", "reduction", "nowait", "affinity", "schedule", "collapse", "repeat", "independent", "tasks", "tile"),
    "device",
)

SMINT = Notation(
    "SMint",
    Smint,
    header="smint.h",
    symbol="smint_allocate",
    starts=("smint_start",),
    family="SMint",
    directives=(
        Kind("shared", Stands.DECLARING, take=take_shared),
        Kind("parallel", Stands.ABOVE, parallel, clauses=LOOP, title="parallel for", together=True, shares_loop=True),
        Kind("single", Stands.ABOVE, single, clauses=("copy",), together=True),
        Kind("barrier", Stands.ALONE, barrier, together=True),
        Kind("critical", Stands.ABOVE, critical, one_at_a_time=True),
        Kind("preload", Stands.ALONE, preload),
    ),
)
