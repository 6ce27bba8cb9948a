"""What may be wrong with a run, as a table of rules: what is measured, the limit, a sentence, and a remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from hiroba.report.balance import load_imbalance, slow_rank
from hiroba.report.data import COHERENCE_OF_LOCK, OTHER_LOCKS, TASK_OF_OPENMP, Place, Report
from hiroba.report.findings import LEAST_LOST, Finding, most_at, percent, remedy
from hiroba.report.sharing import (
    alone,
    divided_pages,
    false_sharing,
    fault_seconds,
    fills_alone,
    sending_seconds,
    serial_fill,
    shared_writes,
)

LEAST_SECONDS = 0.1  # a shorter run has no advice: its start is most of it
LEAST_IN_ORDER = 0.3  # of faults: with fewer that continue where the last one ended, pages cannot be read ahead
# Seconds of what the library, or the Python module, does at a collective call beside waiting; they count as computing.
COST_OF_CALL = {"": 0.5e-6, "Python": 10e-6}
# Seconds to create and to run an empty task (docs/measurements.md); in Python they are larger, and so is the limit.
COST_OF_TASK = {"": 1e-6, "OpenMP": 0.2e-6, "Python": 30e-6}
LIMIT_IN_PYTHON = 10
REDUCTIONS = ("sms_reduce", "smint_reduce", "xmp_reduction", "xmp_loop_reduction")  # of one value are barriers
LEAST_OF_TASKS = 0.03  # of the time: with less, small tasks do no harm
MOST_WAITED = 0.5  # of the time: what waits longer for a lock does so not only because ranks lose the processor
MOST_BYTES = 2**40  # of the arrays of a program


@dataclass
class Rule:
    name: str
    measures: str
    limit: float
    find: Callable[[Report, float], Iterator[Finding]]
    page: str


def thrashing_arrays(report: Report, limit: float) -> Iterator[tuple[int, float]]:
    for array in range(len(report.arrays)):
        fetched, evicted = report.sum_of(array, "fetched"), report.sum_of(array, "evicted")
        if evicted >= 256 and evicted >= limit * fetched:  # pages that nobody has written count as not fetched
            yield array, evicted / max(evicted, fetched)


def cache_thrashes(report: Report, limit: float) -> Iterator[Finding]:
    for array, part in thrashing_arrays(report, limit):
        seconds = fault_seconds(report, array)
        if report.active_share(seconds) < 0.05:
            continue
        places = report.faults_of(array)
        need = sum(a["bytes"] * a["count"] for a in report.arrays)
        known = need < MOST_BYTES  # of address ranges from which a program allocates it is not
        enough = f"--cache {need // 2**20 + 1}M holds all arrays" if known else "option --cache"
        yield Finding(
            report.active_share(seconds),
            part,
            f"{report.sum_of(array, 'evicted'):,} of the {report.sum_of(array, 'fetched'):,} pages of array "
            f"{report.array_name(array)} that were fetched had to leave the cache again, because it is full "
            f"(option cache is {report.data['options'].get('cache', '?')}); faults take "
            f"{percent(report.active_share(seconds))} of the time outside of collective calls, most at "
            f"{most_at(places)}",
            f"give each rank a larger cache: {enough}; or work on one part of the array until it is done",
            most_at(places),
            array,
        )


def slow_arrays(report: Report, limit: float) -> Iterator[tuple[int, float, list[Place]]]:
    """Arrays whose faults cost much, for no reason that another rule knows."""
    thrash = {array for array, _ in thrashing_arrays(report, limit_of("cache that thrashes"))}
    shared, misplaced = limit_of("false sharing"), limit_of("worst placement")
    for array in range(len(report.arrays)):
        seconds, places = fault_seconds(report, array), report.faults_of(array)
        if report.active_share(seconds) < limit or seconds < 0.02 or sum(p.count for p in places) < 1000:
            continue
        if array in thrash or divided_pages(report, array):
            continue
        if shared_writes(report, array) < shared and alone(report, array) < misplaced:
            yield array, seconds, places


def in_order(places: list[Place]) -> float:
    return sum(p.ordered for p in places) / max(1, sum(p.count for p in places))


def fault_finding(report: Report, array: int, seconds: float, places: list[Place], how: str, remedy: str) -> Finding:
    count, pages = sum(p.count for p in places), sum(p.amount for p in places)
    epochs = max((r["barriers"] for r in report.ranks), default=0)
    rank = max(places[0].by_rank, key=lambda r: places[0].by_rank[r])
    waiting = sum(report.ranks[i]["seconds"][kind] for i in index_of(report, rank) for kind in ("faults", "collective"))
    of_rank = sum(p.by_rank.get(rank, 0) for p in places) / waiting if waiting > 0 else 0
    share = report.active_share(seconds)
    sentence = (
        f"{percent(share)} of the ranks' time outside of collective calls, and {percent(of_rank)} of rank {rank}'s "
        f"waiting, are page faults on {report.faults_text(array)}, most at {most_at(places)}: {count:,} faults "
        f"for {pages:,} pages between {epochs:,} barriers{how}"
    )
    return Finding(share, share, sentence, remedy, most_at(places), array)


def index_of(report: Report, rank: int) -> list[int]:
    return [i for i, r in enumerate(report.ranks) if r["rank"] == rank]


def missing_preload(report: Report, limit: float) -> Iterator[Finding]:
    for array, seconds, places in slow_arrays(report, limit):
        if in_order(places) >= LEAST_IN_ORDER:
            yield fault_finding(
                report,
                array,
                seconds,
                places,
                "",
                remedy(report, "preload", array, most_at(places)),
            )


def irregular_order(report: Report, limit: float) -> Iterator[Finding]:
    for array, seconds, places in slow_arrays(report, limit):
        if in_order(places) < LEAST_IN_ORDER:
            yield fault_finding(
                report,
                array,
                seconds,
                places,
                f"; only {percent(in_order(places))} of them continue where the last one ended, so pages cannot be "
                "read ahead",
                remedy(report, "order", array, most_at(places)),
            )


def worst_placement(report: Report, limit: float) -> Iterator[Finding]:
    longest = max((r["seconds"]["total"] for r in report.ranks), default=0)
    for array in range(len(report.arrays)):
        part, sent = alone(report, array), report.sum_of(array, "bytes_sent")
        if part < limit or sent < 2**20 or sent < 10e6 * longest or fills_alone(report, array):
            continue
        places = report.faults_of(array)
        share = report.active_share(fault_seconds(report, array) + sending_seconds(report, array))
        yield Finding(
            share,
            part,
            f"{percent(part)} of the pages of {report.array_text(array)} have long been written by one rank alone, on "
            f"another node than their home: {sent / 1e6:,.0f} MB were sent to homes, which takes {percent(share)} of "
            "the time outside of collective calls"
            + (f", and its faults are most at {most_at(places)}" if places else ""),
            remedy(report, "placement", array),
            most_at(places),
            array,
        )


def short_epochs(report: Report, limit: float) -> Iterator[Finding]:
    places = [place for place in report.of_kind("coherence") if place.call != COHERENCE_OF_LOCK]
    seconds = sum(place.seconds for place in places)
    share = report.active_share(seconds)
    barriers = max((r["barriers"] for r in report.ranks), default=0)
    if share < limit or seconds < LEAST_LOST or barriers < 1000:
        return
    epochs = len(report.ranks) * barriers
    coherence, computing = 1e6 * seconds / epochs, 1e6 * sum(r["seconds"]["computing"] for r in report.ranks) / epochs
    yield Finding(
        share,
        share,
        f"{percent(share)} of the ranks' time outside of collective calls is coherence, which is to find and send what "
        f"was written, and to drop old copies: a rank computes for {computing:,.0f} us between two of {barriers:,} "
        f"barriers, and coherence takes {coherence:,.0f} us at each, most at {most_at(places)}",
        remedy(report, "epochs") + "; or use fewer nodes for a problem of this size",
        most_at(places),
    )


def name_of_lock(report: Report, place: Place) -> str:
    if place.lock is None:
        return place.call
    return "a critical section" if report.notation == "SMint" and place.lock >= 2**15 else f"lock {place.lock}"


def lock_contention(report: Report, limit: float) -> Iterator[Finding]:
    def is_slow(places: list[Place]) -> bool:
        seconds = report.with_processor(places)
        most = report.active_share(sum(place.seconds for place in places)) >= MOST_WAITED
        return seconds >= LEAST_LOST and (most or report.active_share(seconds) >= limit)

    by_lock: dict[str, list[Place]] = {}
    by_line: dict[str, list[Place]] = {}
    for place in report.of_kind("lock"):
        if place.lock is not None or place.call.startswith(OTHER_LOCKS):
            by_lock.setdefault(name_of_lock(report, place), []).append(place)
            by_line.setdefault(place.named(), []).append(place)
    slow = {lock: places for lock, places in by_lock.items() if is_slow(places)}
    told = {id(place) for places in slow.values() for place in places}
    for places in by_line.values():  # none of the locks of a line is slow alone, but all are together
        left = [place for place in places if id(place) not in told]
        # With less, ranks that lose the processor while they have one of the locks may be the reason.
        if len(left) > 1 and is_slow(left) and report.active_share(report.with_processor(left)) >= 2 * limit:
            slow[f"one of {len(left)} locks"] = left
    for lock, places in slow.items():
        seconds, count = sum(p.seconds for p in places), sum(p.count for p in places)
        held = sum(p.held for p in places)
        yield Finding(
            report.active_share(seconds),
            report.active_share(seconds),
            f"{percent(report.active_share(seconds))} of the time outside of collective calls is waiting for "
            f"{lock}, most at {most_at(places)}: {count:,} times, {1e6 * seconds / count:,.0f} us each"
            + (f"; it is held for {1e6 * held / count:,.0f} us each" if held > 0 else ""),
            f"do less between taking {lock} at {most_at(places)} and giving it back, take several locks that each "
            "protect a part, or add up in each " + remedy(report, "combine"),
            most_at(places),
        )


def collective_in_loop(report: Report, limit: float) -> Iterator[Finding]:
    computing = sum(r["seconds"]["computing"] for r in report.ranks) / max(1, len(report.ranks))
    reductions = [place for place in report.of_kind("barrier") if place.call.startswith(REDUCTIONS)]
    for place in report.of_kind("collective") + reductions:
        calls = place.count / max(1, len(place.by_rank))
        size = 8 if place.kind == "barrier" else place.amount / max(1, place.count)
        small = 1 <= size <= 256  # of moves of sections the size is not known
        share = min(1, report.share(place.seconds + COST_OF_CALL.get(report.notation, COST_OF_CALL[""]) * place.count))
        if not small or calls < 1000 or calls < 10000 * computing or share < limit:
            continue
        yield Finding(
            share,
            share,
            f"{percent(share)} of the time of all ranks is {place.call.split('(')[0]} at "
            f"{place.named()}: {calls:,.0f} calls a rank, of {size:.0f} bytes each",
            f"move the call at {place.named()} out of the inner loop: "
            + remedy(report, "collect", many=f"{min(calls, 100):.0f}"),
            place.named(),
        )


def small_tasks(report: Report, limit: float) -> Iterator[Finding]:
    for place in report.of_kind("task"):
        notation = report.notation if report.notation == "Python" or place.call == TASK_OF_OPENMP else ""
        each, cost = report.with_processor([place]) / max(1, place.count), COST_OF_TASK[notation]
        lost, most = min(1, report.share(cost * place.count)), limit * (LIMIT_IN_PYTHON if notation == "Python" else 1)
        if place.count < 5000 or each >= most or lost < LEAST_OF_TASKS:
            continue
        name = "" if place.call in ("task", TASK_OF_OPENMP) else f" {place.call}"
        yield Finding(
            lost,
            each,
            f"{place.count:,} tasks{name} of {place.named()} compute for {1e6 * each:.2g} us each; to create and to "
            f"run one takes about {1e6 * cost:.2g} us, so they cost {percent(lost)} of the time of all ranks",
            remedy(report, "tasks"),
            place.named(),
        )


RULES = [
    Rule(
        "false sharing",
        "part of an array's pages that two ranks write before the same barrier",
        0.3,
        false_sharing,
        "memory-model",
    ),
    Rule("serial fill", "time of waiting for a rank that fills an array alone", 0.15, serial_fill, "first-program"),
    Rule("missing preload", "time of page faults in order on an array", 0.1, missing_preload, "first-program"),
    Rule("irregular order", "time of page faults without order on an array", 0.1, irregular_order, "first-program"),
    Rule("cache that thrashes", "part of an array's pages that were evicted", 0.3, cache_thrashes, "memory-model"),
    Rule("worst placement", "part of an array that one other rank alone writes", 0.25, worst_placement, "homes"),
    Rule("short epochs", "time of coherence at many barriers", 0.3, short_epochs, "memory-model"),
    Rule("lock contention", "time of waiting for one lock", 0.1, lock_contention, "locks"),
    Rule("load imbalance", "computing of the slowest rank, by that of the others", 1.3, load_imbalance, "scaling"),
    Rule("slow rank", "the same, of a rank that has no processor", 1.3, slow_rank, "on-a-cluster"),
    Rule("collective in inner loop", "time of one call with few bytes", 0.15, collective_in_loop, "collectives"),
    Rule("tasks too small", "seconds of a task", 5e-6, small_tasks, "tasks"),
]


def limit_of(name: str) -> float:
    return next(rule.limit for rule in RULES if rule.name == name)


def advice(report: Report) -> list[dict[str, Any]]:
    """What applies, the most expensive first; that on epochs and balance last: arrays and locks may be its reason."""
    if max((r["seconds"]["total"] for r in report.ranks), default=0) < LEAST_SECONDS:
        return []
    found = []
    for rule in RULES:
        for finding in rule.find(report, rule.limit):
            about = {"rule": rule.name, "measures": rule.measures, "limit": rule.limit, "page": f"docs/{rule.page}.md"}
            found.append(about | asdict(finding))
    if any(entry["rule"] == "false sharing" and "without a gap" in str(entry["sentence"]) for entry in found):
        found = [entry for entry in found if entry["rule"] != "load imbalance"]  # who waits for pages differs by rank
    if any(entry["rule"] == "serial fill" for entry in found):
        found = [entry for entry in found if entry["rule"] != "load imbalance"]  # it is the same waiting
    last = ("short epochs", "load imbalance", "slow rank")
    return sorted(found, key=lambda entry: (entry["rule"] in last, -entry["lost"]))
