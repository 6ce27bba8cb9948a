"""Rules on pages that several ranks write, and on what one rank fills for all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from statistics import median

from hiroba.report.balance import waiting_for
from hiroba.report.data import COHERENCE_OF_LOCK, MOST, Report
from hiroba.report.findings import LEAST_LOST, Finding, most_at, named, percent, remedy

PAGE_BYTES = 4096
LEAST_BARRIERS = 20  # with fewer, coherence at barriers is not what writes to shared pages cost
LEAST_ALONE = 0.25  # of the pages of an array, that one rank alone has long written
LEAST_OF_FILLING = 0.15  # of the time of all ranks, waiting for the one that fills
PATH_OF_PAGES = ("faults", "preloads", "coherence")


def fault_seconds(report: Report, array: int) -> float:
    return sum(place.seconds for place in report.faults_of(array))


def part_sent(report: Report, array: int) -> float:
    """The part of an array in the bytes that all have sent to homes."""
    sent = [report.sum_of(each, "bytes_sent") for each in range(len(report.arrays))]
    return sent[array] / max(1, sum(sent))


def sending_seconds(report: Report, array: int) -> float:
    """Of coherence at barriers, the part of an array by the bytes that it has sent to homes."""
    seconds = sum(place.seconds for place in report.of_kind("coherence") if place.call != COHERENCE_OF_LOCK)
    return seconds * part_sent(report, array)


def path_of_pages(report: Report, array: int) -> float:
    """The part of the time that the ranks which came last to barriers spent on pages of an array: all waited for it."""
    sums = [site["critical"] for site in report.data["sites"] if site["kind"] == "barrier" and "critical" in site]
    seconds = sum(each.get(kind, 0) for each in sums for kind in PATH_OF_PAGES)
    return report.share(seconds * len(report.ranks)) * part_sent(report, array)


def shared_writes(report: Report, array: int) -> float:
    """The part of the pages of an array, fetched or written, that two ranks have written before the same barrier."""
    used = max(report.heat(array, "written"), report.heat(array, "fetched"))
    both = report.heat(array, "both")
    return min(1, both / used) if both >= 100 and used > 0 else 0  # several others may have written a page


def lost_by_sharing(report: Report, array: int, again: float) -> float:
    """Faults, what coherence sends and drops, and the waiting for both: each page comes again after each barrier."""
    if max(r["barriers"] for r in report.ranks) < LEAST_BARRIERS:  # the pages are handed over under locks
        return report.active_share(again * fault_seconds(report, array))
    own = report.active_share(again * (fault_seconds(report, array) + sending_seconds(report, array)))
    return min(1, max(own, again * path_of_pages(report, array)))


def run_bytes(report: Report, array: int) -> int | None:
    """The bytes that a rank has without a gap, if a dimension other than the first is divided."""
    name = report.arrays[array]["name"]
    for site in report.data["sites"]:
        call = re.search(r"\(\{([0-9,]+)\}, \{([0-9,]+)\}, ([0-9]+)", site["call"])
        if call is None or site["kind"] != "barrier" or not site["place"] or not name.endswith(site["place"]):
            continue
        dim, div = ([int(n) for n in text.split(",")] for text in call.groups()[:2])
        last = max((i for i, parts in enumerate(div) if parts > 1), default=0)
        if last > 0:
            return dim[last] // div[last] * prod(dim[last + 1 :]) * int(call[3])
    return None


def divided_pages(report: Report, array: int) -> bool:
    """Parts of several ranks lie in one page, and pages come again and again."""
    run, pages = run_bytes(report, array), report.arrays[array]["pages"] * report.arrays[array]["count"]
    return run is not None and run % PAGE_BYTES != 0 and report.sum_of(array, "fetched") >= 10 * max(1, pages)


def division_inside_pages(report: Report, array: int) -> Iterator[Finding]:
    again = min(1, report.sum_of(array, "invalidated") / max(1, report.sum_of(array, "fetched")))
    lost, places = lost_by_sharing(report, array, again), report.faults_of(array)
    if lost < 0.03:
        return
    yield Finding(
        lost,
        again,
        f"a rank has {run_bytes(report, array):,} bytes of {report.array_text(array)} without a gap, so a page of "
        f"{PAGE_BYTES} bytes has parts of several ranks: {report.sum_of(array, 'fetched'):,} pages were fetched, "
        f"{percent(again)} of them again after a barrier, which takes {percent(lost)} of the time with the waiting "
        "for it",
        remedy(report, "division", array),
        most_at(places),
        array,
    )


def false_sharing(report: Report, limit: float) -> Iterator[Finding]:
    for array, described in enumerate(report.arrays):
        if divided_pages(report, array):
            yield from division_inside_pages(report, array)
            continue
        part = shared_writes(report, array)
        again = min(1, report.heat(array, "both") / max(1, report.heat(array, "fetched")))
        lost = lost_by_sharing(report, array, again)
        if part < limit or lost < 0.03:
            continue
        places = report.faults_of(array)
        ranks = [str(p["rank"]) for p in described["ranks"] if sum(p["heat"]["both"]) > 0]
        yield Finding(
            lost,
            part,
            f"{report.heat(array, 'both'):,} times a page of {report.faults_text(array)} that rank"
            f"{'s' if len(ranks) > 1 else ''} {', '.join(ranks)} wrote was written by another rank, too, before the "
            f"same barrier ({percent(part)} of the pages in use), and had to be fetched again, which takes "
            f"{percent(lost)} of the time with coherence and the waiting for both, most at {most_at(places)}",
            remedy(
                report,
                "sharing",
                array,
                many=f"{max(1, PAGE_BYTES // max(1, described['element_bytes']))} elements ({PAGE_BYTES} bytes)",
            ),
            most_at(places),
            array,
        )


def alone(report: Report, array: int) -> float:
    pages = report.arrays[array]["pages"] * report.arrays[array]["count"]
    return report.sum_of(array, "alone") / pages if pages >= 16 else 0


def fills_alone(report: Report, array: int) -> tuple[int, float] | None:
    """The rank that alone sends an array to its homes while the others wait for it, and for how many seconds."""
    if alone(report, array) < LEAST_ALONE or divided_pages(report, array):
        return None
    parts = {p["rank"]: p["bytes_sent"] for p in report.arrays[array]["ranks"]}
    rank = max(parts, key=lambda r: parts[r], default=0)
    if parts.get(rank, 0) < max(2**20, MOST * sum(parts.values())) or len(report.ranks) < 2:
        return None
    seconds = next(r["seconds"] for r in report.ranks if r["rank"] == rank)
    others = median(r["seconds"]["computing"] for r in report.ranks if r["rank"] != rank)
    if seconds["computing"] - others < seconds["coherence"] + seconds["faults"]:
        return None  # what it sends costs more than what it computes: other homes help
    waiting, _ = waiting_for(report, rank)
    enough = waiting >= max(LEAST_LOST, LEAST_OF_FILLING * report.total)
    return (rank, waiting) if enough and part_sent(report, array) >= 0.5 else None


def serial_fill(report: Report, limit: float) -> Iterator[Finding]:
    for array in range(len(report.arrays)):
        found = fills_alone(report, array)
        if found is None:
            continue
        rank, waiting = found
        sending = sending_seconds(report, array) + fault_seconds(report, array)
        share = report.share(waiting + sending)
        _, place = waiting_for(report, rank)
        if share < limit:
            continue
        yield Finding(
            share,
            share,
            f"rank {rank} alone fills {report.array_text(array)}, most of which has its home on other ranks: they wait "
            f"for it {waiting:.2f} s, longest in {named(place)}, and it sends "
            f"{report.sum_of(array, 'bytes_sent') / 1e6:,.0f} MB to them, which is {percent(share)} of the time of all "
            "ranks",
            remedy(report, "fill", array),
            named(place),
            array,
        )
