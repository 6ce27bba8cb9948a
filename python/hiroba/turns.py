"""Which thread of this rank may make the next collective call.

All ranks make collective calls in one order. Two threads that call as the system lets them run have another order on
each rank: the sum of one thread is then combined with that of another one, and nothing in the calls tells. So a call is
carried out only by a thread that comes after the last one by what the program says: it has made that call; or it was
started since, or has joined the thread that made it, or has waited for a future that did, by itself or through others.
That order is the same on all ranks, while that in which threads get a lock is not. What is ordered by other means, such
as a queue, says so by take_turn().

Each thread knows how many collective calls come before what it does; it hands this on where it starts, joins or waits
for another one. As calls have one order, a number does where vector clocks are needed otherwise."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from hiroba import job
from hiroba.places import calling_place

__all__ = ["take_turn"]

KNOWN = "_hiroba_calls"  # the attribute of threads and futures


class Calls:
    """The collective calls of this rank."""

    lock = threading.Lock()
    number = 0
    last = ("", "")  # the call, and the name of its thread
    inside: threading.Thread | None = None  # the thread that is in a call now
    by: threading.Thread | None = None  # the thread of the last call
    # These ran before Thread.join was replaced, as where a thread is the first to use this package, and another one
    # may have begun to join it.
    older = frozenset(threading.enumerate())


class Task(threading.local):
    """How many tasks this thread runs, one in another."""

    depth = 0


task = Task()


def known(by: object) -> int:
    return getattr(by, KNOWN, 0)


def learn(by: object, of: object) -> None:
    """What `of` knew is before what `by` does from now on."""
    if known(of) > known(by):
        setattr(by, KNOWN, known(of))


def in_turn(function: Callable[..., Any], *words: Any) -> Any:
    """Calls a collective function of the library. Ends the job if another thread is in one, or has made one that is not
    before this one: an exception might be kept in a future that nobody asks."""
    if task.depth > 0:  # whose order that of tasks is
        return function(*words)
    me = threading.current_thread()
    with Calls.lock:
        is_nested = Calls.inside is me  # a function of the program that the library calls
        if Calls.by in Calls.older and not Calls.by.is_alive():
            setattr(me, KNOWN, Calls.number)  # where it is not joined, the other order is refused
        if (Calls.inside or me) is not me or known(me) != Calls.number:
            refuse(function.__name__, me.name)
        Calls.number += 1
        setattr(me, KNOWN, Calls.number)
        Calls.inside, Calls.by, Calls.last = me, me, (function.__name__, me.name)
    try:
        return function(*words)
    finally:
        if not is_nested:
            Calls.inside = None


def refuse(call: str, mine: str) -> None:
    before, other = Calls.last
    text = (
        f"{call} in thread {mine}, and {before} in thread {other}: nothing says which of the two comes first, so ranks "
        "may make them in different orders, and would mix their values. Make collective calls in one thread, or start "
        "this one after the calls of the other, or join that before; if the program orders them otherwise, as by a "
        "queue, say so before the call: hiroba.take_turn()"
    )
    job.stand_at(calling_place())
    job.library.hiroba_fail(text.encode())


def take_turn() -> None:
    """Says that the next collective calls are this thread's, and that the program orders them after those of all other
    threads, on all ranks alike: by a queue, an event or the like. What was called by threads and futures that this
    one has waited for needs no word. No synchronisation. While another thread is in a collective call, this ends the
    job."""
    me = threading.current_thread()
    with Calls.lock:
        if (Calls.inside or me) is not me:
            refuse("take_turn", me.name)
        setattr(me, KNOWN, Calls.number)


# ---- what orders threads ---------------------------------------------------------------------------------------------


def around(kind: type, name: str, before: Callable[[Any], None], after: Callable[[Any], None]) -> None:
    """Replaces a method by one that does something with its object before and after it."""
    plain = getattr(kind, name)

    def ordered(self: Any, *arguments: Any, **more: Any) -> Any:
        before(self)
        out = plain(self, *arguments, **more)
        after(self)
        return out

    ordered.__name__, ordered.__doc__ = name, plain.__doc__
    setattr(kind, name, ordered)


def tell(other: object) -> None:
    learn(other, threading.current_thread())


def learn_from(other: object) -> None:
    learn(threading.current_thread(), other)


def learn_from_ended(thread: threading.Thread) -> None:
    if not thread.is_alive():
        learn_from(thread)


def nothing(_: object) -> None: ...


def watch_futures() -> None:
    """Programs that have none need not wait until their module is imported."""
    if (futures := sys.modules.get("concurrent.futures._base")) and not hasattr(futures.Future, KNOWN):
        setattr(futures.Future, KNOWN, 0)
        around(futures.Future, "__init__", nothing, tell)
        around(futures.Future, "set_running_or_notify_cancel", nothing, learn_from)
        for name in ("set_result", "set_exception"):
            around(futures.Future, name, tell, nothing)
        for name in ("result", "exception"):
            around(futures.Future, name, nothing, learn_from)


def begin(thread: threading.Thread) -> None:
    """Before a thread starts, as those do that carry out futures."""
    tell(thread)
    watch_futures()


around(threading.Thread, "start", begin, nothing)
around(threading.Thread, "join", nothing, learn_from_ended)
watch_futures()
