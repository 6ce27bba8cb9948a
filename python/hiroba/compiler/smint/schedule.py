"""schedule(dynamic, n), schedule(guided, n): the iterations that ranks take while a loop runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.found import Directive
from ..core.shared import Anchor, Rewriter
from ..core.source import Node, parse, text_of, walk

KINDS = ("static", "dynamic", "guided", "auto", "runtime")
TAKEN = {"dynamic": "SMINT_DYNAMIC", "guided": "SMINT_GUIDED"}


@dataclass
class Schedule:
    chunk: str = ""  # as C; empty: the iterations of each rank are known when the loop begins
    flags: list[str] = field(default_factory=list)
    explained: list[str] = field(default_factory=list)


def schedule_of(
    rewriter: Rewriter, directive: Directive, loop: Node, clauses: list[tuple[str, str]], threads: bool
) -> Schedule:
    """Returns the schedule of the ranks; that of an OpenMP directive below ours is for the threads of each. `threads`:
    there are some."""
    text = next((argument for name, argument in clauses if name == "schedule"), "static")
    modifiers, _, words = text.rpartition(":")
    kind, _, chunk = (part.strip() for part in words.partition(","))
    if kind not in KINDS:
        rewriter.source.error(
            directive.place("schedule"), f"there is no schedule `{text}`", f"write one of {', '.join(KINDS)}"
        )
    if kind not in TAKEN:
        return Schedule()
    if "monotonic" in [word.strip() for word in modifiers.split(",")]:
        rewriter.source.error(
            directive.place("schedule"),
            "iterations that ranks take from others are in no order: `monotonic` is not possible",
            f"leave it out: schedule({kind})",
        )
    shared = shared_name(rewriter, Anchor(loop, loop.start_byte), chunk)
    if shared:
        rewriter.source.error(
            directive.place("schedule"),
            f"the chunk of this schedule is computed from shared `{shared}`, which may change meanwhile",
            "copy it into a variable of each rank before the loop",
        )
    chunk = chunk or "1"
    larger = ", at first more at once" * (kind == "guided")
    each = " for each of its threads" * threads
    return Schedule(
        f"(int64_t)({chunk})" + " * smint_threads()" * threads,
        [TAKEN[kind]],
        [
            f"  schedule: a rank takes {chunk} of its iterations{each} at a time{larger}; then of those of other ranks",
            "            of its node, then of other nodes",
        ],
    )


def shared_name(rewriter: Rewriter, anchor: Anchor, expression: str) -> str:
    names = (n for n in walk(parse(f"void f(void) {{ return {expression}; }}")) if n.type == "identifier")
    return next((text_of(n) for n in names if text_of(n) != "f" and rewriter.resolve(n, anchor) is not None), "")
