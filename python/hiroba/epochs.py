"""Epochs, the spans between two barriers, as messages about writes need them: which one it is, and whether this thread
is in a lock or a task, which order its writes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hiroba.job import library
from hiroba.turns import in_turn

__all__ = ["barrier"]


class Epoch:
    """What has happened since the start of the job."""

    barriers = 0
    ends: list[Callable[[], None]] = []  # noqa: RUF012 (functions that each barrier calls)
    steps = 0  # since the last barrier: other calls by which ranks may have waited for each other

    @classmethod
    def begin(cls) -> None:
        """After a barrier."""
        for each in cls.ends:
            each()
        cls.barriers += 1
        cls.steps = 0

    @classmethod
    def step(cls) -> None:
        cls.steps += 1

    @classmethod
    def number(cls) -> int:
        """32 bits that ranks in one epoch have alike."""
        return (cls.barriers << 8 | cls.steps & 0xFF) & 0xFFFFFFFF


class Ordered(threading.local):
    """How many locks this thread holds and tasks it runs: others wait for its writes."""

    depth = 0


ordered = Ordered()


def barrier() -> None:
    """Every rank reads after it what any rank has written before it. Collective."""
    in_turn(library.sms_barrier)
    Epoch.begin()
