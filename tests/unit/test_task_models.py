"""The small state machines of the task floor, in all orders in which their threads can take steps.

A model is what a few lines of src/task do, as generators, one for each thread: what lies between two yields happens at
once, and each atomic operation of the source is a step of its own. A thread that waits yields what it waits for. From
each state every thread that can go on does, by search; a state is met once. In a state in which none can go on the work
must be done: nothing lost, nothing done twice. Each model has mutants, wrong in the way that one would get it wrong,
and the search must find what is wrong with them.

Steps are sequentially consistent. Where the source relies on less, in the protocol of sleeping, the model has a store
buffer.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable, Generator, Iterable
from types import SimpleNamespace as State
from typing import Any

Thread = Generator[Any, None, Any]  # yields None, or a function that says whether it can go on
Model = tuple[State, list[Thread], Callable[[], None]]  # and what must hold when no thread can go on


class WrongError(Exception):
    """What a model does is wrong."""


def must(good: bool, what: str) -> None:
    if not good:
        raise WrongError(what)


# ---- the search ------------------------------------------------------------------------------------------------------


class Run:
    """A model after some steps."""

    def __init__(self, make: Callable[[], Model], steps: Iterable[int]) -> None:
        self.state, self.threads, self.check = make()
        self.waits: list[Callable[[], bool] | None] = [None] * len(self.threads)
        self.over = [False] * len(self.threads)
        for thread in range(len(self.threads)):
            self.step(thread)  # to its first yield
        for thread in steps:
            self.step(thread)

    def step(self, thread: int) -> None:
        try:
            self.waits[thread] = next(self.threads[thread])
        except StopIteration:
            self.over[thread] = True

    def ready(self) -> list[int]:
        found = []
        for thread, wait in enumerate(self.waits):
            if not self.over[thread] and (wait is None or wait()):
                found.append(thread)
        return found

    def fingerprint(self) -> str:
        places: list[Any] = []
        for thread in self.threads:
            inner: Any = thread
            while inner is not None and inner.gi_frame is not None:
                own = {k: v for k, v in inner.gi_frame.f_locals.items() if not isinstance(v, State)}
                places.append((inner.gi_frame.f_lasti, repr(own)))
                inner = inner.gi_yieldfrom
            places.append("|")
        return repr((vars(self.state), places))


def explore(make: Callable[[], Model]) -> int:
    """The number of states; WrongError with the steps that lead to what is wrong."""
    seen: set[str] = set()
    open_ends: list[tuple[int, ...]] = [()]
    while open_ends:
        steps = open_ends.pop()
        try:
            run = Run(make, steps)
            mark = run.fingerprint()
            if mark in seen:
                continue
            seen.add(mark)
            ready = run.ready()
            if not ready:
                run.check()
        except WrongError as wrong:
            raise WrongError(f"{wrong}, after the steps of threads {steps}") from None
        open_ends += [(*steps, thread) for thread in ready]
    return len(seen)


# ---- the list of successors: connect() in node.hpp, Worker::submit() and Worker::end_all() in crew.cpp ---------------

CLOSED, BEING_CREATED = "closed", 1000
BEFORE = {"B": ("A", "C"), "D": ("A",)}  # what each task waits for


def run_task(s: State, task: str) -> None:
    s.ran.append(task)
    for before in BEFORE[task]:
        must(before in s.ended, f"{task} runs before {before} has ended")
    for edge in s.next:
        if edge[0] == task:
            s.next[edge] = "of another task"  # the node may serve again


def connect(s: State, before: str, edge: str) -> Thread:
    yield
    first = s.successors[before]
    while first != CLOSED:
        s.next[edge] = first
        yield
        if s.successors[before] == first:
            s.successors[before] = edge
            return True
        first = s.successors[before]
    return False


def create_tasks(s: State, mutant: str) -> Thread:
    for task, before in BEFORE.items():
        edges = 0
        s.blockers[task] = 0 if mutant == "not marked as being created" else BEING_CREATED
        for one in before:
            if (yield from connect(s, one, task + one)):
                edges += 1
                if mutant == "not marked as being created":
                    yield
                    s.blockers[task] += 1
        if mutant == "not marked as being created":
            if s.blockers[task] == 0:
                run_task(s, task)
            continue
        yield
        s.blockers[task] += edges - BEING_CREATED
        if s.blockers[task] == 0:
            run_task(s, task)


def end_task(s: State, task: str, mutant: str) -> Thread:
    yield
    s.ended.append(task)
    edge = s.successors[task]
    if mutant == "closed a step later":
        yield
    s.successors[task] = CLOSED
    while edge is not None:
        successor, following = edge[0], s.next[edge]
        yield
        s.blockers[successor] -= 1
        if s.blockers[successor] == 0:
            run_task(s, successor)
        if mutant == "next edge read too late":
            yield
            following = s.next[edge]
        must(following in (None, *s.next), "an edge leads to one of another task")
        edge = following


def successor_list(mutant: str = "") -> Model:
    s = State(
        ran=[], ended=[], successors={"A": None, "C": None}, blockers={}, next={"BA": None, "BC": None, "DA": None}
    )
    threads = [create_tasks(s, mutant), end_task(s, "A", mutant), end_task(s, "C", mutant)]
    return s, threads, lambda: must(sorted(s.ran) == ["B", "D"], f"tasks that ran: {s.ran}")


# ---- the slot of an event: Events::expect(), Events::come() in events.cpp --------------------------------------------

EVENTS, WINDOW = 4, 1


def expect_events(s: State, slots: int, mutant: str) -> Thread:
    for number in range(EVENTS):
        if number >= WINDOW and mutant != "no wait for the event a window ago":
            before = (number - WINDOW) % slots
            yield lambda before=before: s.slot[before] is None
        yield
        s.allowed = number + 1 + WINDOW
        slot = number % slots
        yield
        if s.slot[slot] is None:
            s.slot[slot] = ("task", number)
            continue
        kind, what = s.slot[slot]
        must(kind == "event" and what == number, f"task {number} finds {kind} {what}")
        yield
        s.slot[slot] = None
        s.ran.append(number)


def come(s: State, number: int, slots: int, mutant: str) -> Thread:
    yield lambda: number < s.allowed  # the sender has credit; messages are not ordered
    slot = number % slots
    found = s.slot[slot]
    if mutant == "looked at before it is taken":
        yield
    if found is None:
        s.slot[slot] = ("event", number)
        return
    yield
    s.slot[slot] = None
    must(found == ("task", number), f"event {number} finds {found}")
    s.ran.append(number)


def event_slots(mutant: str = "") -> Model:
    slots = WINDOW if mutant == "as many slots as the window" else 2 * WINDOW
    s = State(slot=[None] * slots, allowed=WINDOW, ran=[])
    threads = [expect_events(s, slots, mutant), *(come(s, n, slots, mutant) for n in range(EVENTS))]
    return s, threads, lambda: must(sorted(s.ran) == list(range(EVENTS)), f"tasks that ran: {s.ran}")


# ---- exclusions: exclusion.hpp, Worker::acquire(), release() and end_all() in crew.cpp -------------------------------

USES = {"a": "X", "b": "XY", "c": "XY"}


def acquire_all(s: State, task: str, mutant: str) -> Thread:
    while s.held[task] < len(USES[task]):
        one = USES[task][s.held[task]]
        yield
        if s.taken[one]:
            s.waiting[one] = [task, *s.waiting[one]]
            if mutant == "looked at again after it waits":
                break
            return False
        s.taken[one] = True
        s.held[task] += 1
    yield
    return s.held[task] == len(USES[task])


def release_all(s: State, task: str, mutant: str) -> Thread:
    """The tasks that try again."""
    found = []
    for one in USES[task]:
        yield
        if mutant == "list taken before it is free":
            waiting, s.waiting[one] = s.waiting[one], []
            yield
            s.taken[one] = False
        else:
            s.taken[one] = False
            waiting, s.waiting[one] = s.waiting[one], []
        if mutant == "only the first tries again":
            waiting = waiting[:1]
        found += waiting
    return found


def run_excluded(s: State, first: str, mutant: str) -> Thread:
    tasks = [first]
    while tasks:
        task = tasks.pop()
        if not (yield from acquire_all(s, task, mutant)):
            continue
        must(not any(set(USES[task]) & set(USES[other]) for other in s.inside), f"{task} runs beside {s.inside}")
        s.inside = [*s.inside, task]
        yield
        s.inside = [one for one in s.inside if one != task]
        s.ran.append(task)
        tasks += yield from release_all(s, task, mutant)


def exclusions(mutant: str = "") -> Model:
    s = State(
        taken={"X": False, "Y": False}, waiting={"X": [], "Y": []}, held=dict.fromkeys(USES, 0), inside=[], ran=[]
    )
    threads = [run_excluded(s, task, mutant) for task in USES]
    return s, threads, lambda: must(sorted(s.ran) == sorted(USES), f"tasks that ran: {s.ran}")


# ---- sleeping: Worker::push() and Worker::rest(), Crew::wake() and Crew::any_work() in crew.cpp ----------------------

TASKS = 2


def flush(s: State) -> None:
    s.ready += s.buffer
    s.buffer = 0


def store_buffer(s: State) -> Thread:
    while True:
        yield lambda: s.buffer > 0
        flush(s)


def push_tasks(s: State, listens: bool) -> Thread:
    for _ in range(TASKS):
        yield
        s.buffer += 1  # of Ready::size_
        yield
        if s.sleepers == 0:
            continue
        yield
        flush(s)  # an atomic addition waits for the stores before it
        s.bell += 1
        yield
        listening = listens and s.listening
        yield
        if listening and s.sleepers == 1:
            s.interrupted = True
        elif s.waiters > s.woken:
            s.woken += 1


def sleep_outside(s: State) -> Thread:
    yield lambda: s.interrupted
    s.interrupted = False


def sleep_on_bell(s: State, bell: int) -> Thread:
    yield
    if s.bell != bell:
        return
    s.waiters += 1
    yield lambda: s.woken > 0
    s.waiters -= 1
    s.woken -= 1


def work(s: State, listens: bool, mutant: str) -> Thread:
    while True:
        yield
        if s.ready > 0:  # with the lock
            s.ready -= 1
            s.ran += 1
            continue
        yield
        bell = s.bell
        mine = listens and not s.listening
        if mine:
            s.listening = True
        if mutant != "counted as a sleeper after looking":
            yield
            s.sleepers += 1
        if mutant != "no membarrier":
            yield
            flush(s)
        yield
        any_work = s.ready > 0
        if mutant == "counted as a sleeper after looking":
            yield
            s.sleepers += 1
        if mutant == "bell read after looking":
            yield
            bell = s.bell
        if not any_work:
            yield from sleep_outside(s) if mine else sleep_on_bell(s, bell)
        yield
        s.sleepers -= 1
        if mine:
            yield
            s.listening = False


def sleeping(workers: int = 1, listens: bool = False, mutant: str = "") -> Model:
    s = State(ready=0, buffer=0, ran=0, bell=0, sleepers=0, waiters=0, woken=0, listening=False, interrupted=False)
    threads = [push_tasks(s, listens), store_buffer(s), *(work(s, listens, mutant) for _ in range(workers))]
    return s, threads, lambda: must(s.ran == TASKS, f"{s.ran} of {TASKS} tasks ran, and all threads sleep")


# ---- the end of a task with children: Worker::end(), count_end(), Crew::let_go() in crew.cpp -------------------------

CHILDREN = 3


def end_parent(s: State, mutant: str) -> Thread:
    yield
    if mutant == "compared before it is changed":
        if s.children == CHILDREN:
            s.ends += 1
            return
        yield
        s.children -= CHILDREN
        return
    before = s.children
    s.children -= CHILDREN
    if before == CHILDREN:
        s.ends += 1


def end_child(s: State, mutant: str) -> Thread:
    yield
    before = s.children
    if mutant == "counted in two steps":
        yield
    s.children = before + 1
    if before == -1:
        s.ends += 1


def children(mutant: str = "") -> Model:
    s = State(children=0, ends=0)
    threads = [end_parent(s, mutant), *(end_child(s, mutant) for _ in range(CHILDREN))]
    return s, threads, lambda: must(s.ends == 1, f"the parent has ended {s.ends} times")


# ---- tests -----------------------------------------------------------------------------------------------------------


class Models(unittest.TestCase):
    def right(self, make: Callable[[], Model], least: int) -> None:
        self.assertGreater(explore(make), least)  # else the model takes fewer steps than it should

    def wrong(self, make: Callable[..., Model], *mutants: str) -> None:
        for mutant in mutants:
            with self.subTest(mutant), self.assertRaises(WrongError):
                explore(lambda mutant=mutant: make(mutant=mutant))  # type: ignore[misc]

    def test_successors(self) -> None:
        self.right(successor_list, 100)
        self.wrong(successor_list, "not marked as being created", "closed a step later", "next edge read too late")

    def test_events(self) -> None:
        self.right(event_slots, 40)
        self.wrong(
            event_slots,
            "as many slots as the window",
            "no wait for the event a window ago",
            "looked at before it is taken",
        )

    def test_exclusions(self) -> None:
        self.right(exclusions, 200)
        self.wrong(
            exclusions,
            "looked at again after it waits",
            "list taken before it is free",
            "only the first tries again",
        )

    def test_sleeping(self) -> None:
        self.right(sleeping, 100)
        self.right(lambda: sleeping(workers=2), 1000)
        self.wrong(sleeping, "no membarrier", "bell read after looking", "counted as a sleeper after looking")

    def test_sleeping_with_one_outside(self) -> None:
        self.right(lambda: sleeping(workers=2, listens=True), 1000)

    def test_children(self) -> None:
        self.right(children, 10)
        self.wrong(children, "compared before it is changed", "counted in two steps")


if __name__ == "__main__":
    unittest.main()
