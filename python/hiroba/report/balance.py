"""Rules on work that is not divided evenly: ranks that the others wait for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from hiroba.report.data import MOST, START_OF_REGION, Place, Report
from hiroba.report.findings import LEAST_LOST, Finding, named, percent, remedy

LEAST_OF_WAITING = 0.15  # of the time, at one barrier for one rank
MOST_WITHOUT = 0.1  # of the time of most ranks without a processor: with more, all ranks compete for processors
MOST_QUEUED = 0.97  # of the time of most ranks without a processor: what is left says nothing of balance


@dataclass
class Balance:
    slowest: dict[str, Any]
    seconds: float  # that the slowest rank computes
    others: list[float]
    total: float  # of all ranks, without the time in which all compete

    def longer(self) -> float:
        return self.seconds / max(median(self.others), 1e-9)

    def held_up(self) -> bool:
        """One rank alone has not had a processor, or has slept, for much of what seems to be its computing."""
        alike = max(self.others) < 1.25 * max(min(self.others), 1e-9)
        return alike and float(self.slowest["seconds"]["processor"]) < 0.7 * self.seconds


def without_processor(report: Report) -> float:
    """The part of its time in which a rank waits for a processor; half of the ranks wait longer."""
    queued = [r["seconds"]["queued"] / max(r["seconds"]["total"], 1e-9) for r in report.ranks]
    return float(sorted(queued)[(len(queued) - 1) // 2])


def balance(report: Report) -> Balance | None:
    """Where all ranks compete for processors, the time in which they had none is no matter of the program."""
    if len(report.ranks) < 2 or not all(r["complete"] for r in report.ranks):
        return None
    without = without_processor(report)
    compete = without > MOST_WITHOUT
    if without > MOST_QUEUED:
        return None

    def computing(r: dict[str, Any]) -> float:
        seconds = float(r["seconds"]["computing"])
        had = min(seconds, float(r["seconds"]["processor"]))  # some of that it may have spent waiting
        not_queued = seconds - float(r["seconds"]["queued"])  # a rank that sleeps by itself has a processor for less
        return max(had, not_queued) if compete else seconds

    slowest = max(report.ranks, key=computing)
    total = report.total - (sum(r["seconds"]["queued"] for r in report.ranks) if compete else 0)
    others = [computing(r) for r in report.ranks if r is not slowest]
    return Balance(slowest, computing(slowest), others, max(total, 1e-9))


def waiting_for(report: Report, rank: int) -> tuple[float, Place | None]:
    """The seconds that others have waited for a rank in collective calls, and the place where they waited longest."""
    others = [r["rank"] for r in report.ranks if r["rank"] != rank]
    known = any(s > 0 for r in report.ranks for other, s in enumerate(r["waited_for"]) if other != r["rank"])

    def seconds(place: Place) -> float:
        """Of an operation no rank sees which one comes last, nor over hosts of a barrier: it waits least itself."""
        if place.kind == "barrier" and known:
            return place.waited_for.get(rank, 0)
        least = place.by_rank.get(rank, 0)
        return sum(max(0, place.by_rank.get(other, 0) - least) for other in others)

    places = sorted(report.of_kind("barrier") + report.of_kind("collective"), key=lambda place: -seconds(place))
    in_barriers = sum(r["waited_for"][rank] for r in report.ranks if r["rank"] != rank and rank < len(r["waited_for"]))
    in_operations = sum(seconds(place) for place in places if place.kind == "collective" or not known)
    return in_barriers + in_operations, places[0] if places else None


def uneven(report: Report, limit: float, held_up: bool) -> Iterator[tuple[Balance, float, Place | None]]:
    """The others wait for the slowest rank for as long as it computes longer; all else has other reasons."""
    found = balance(report)
    if found is None or found.longer() < limit or found.held_up() != held_up:
        return
    waiting, place = waiting_for(report, found.slowest["rank"])
    seconds = min(waiting, sum(found.seconds - other for other in found.others), found.total)
    if seconds >= max(LEAST_LOST, 0.1 * found.total):
        yield found, seconds, place


def serial_part(report: Report, place: Place | None) -> str:
    """Returns the place of the region of OpenMP that main came to latest, if the ranks wait for its serial part."""
    if place is None or place.call != START_OF_REGION or place.place:
        return ""
    starts = [each for each in report.of_kind("barrier") if each.call == START_OF_REGION and 0 in each.by_rank]
    found = {each.place: each.critical.get(0, 0) for each in starts if each.place}
    return max(found, key=lambda name: found[name], default="")


def uneven_in_turn(report: Report, limit: float) -> Iterator[Finding]:
    """Barriers that one rank comes to last, although all ranks compute for equally long in all."""
    found, others = balance(report), len(report.ranks) - 1
    if found is None or found.longer() >= limit or without_processor(report) > MOST_WITHOUT:
        return
    for place in report.of_kind("barrier"):
        rank = max(place.waited_for, key=lambda r: place.waited_for[r], default=-1)
        lost = place.waited_for.get(rank, 0)
        if not place.place or lost < max(LEAST_LOST, LEAST_OF_WAITING * report.total):
            continue  # the start of the program has no place
        computing = place.critical.get(rank, 0)
        longer = computing / max(computing - lost / others, 1e-9)
        if lost < MOST * sum(place.waited_for.values()) or computing < MOST * lost / others or longer < limit:
            continue
        share = lost / report.total
        yield Finding(
            share,
            longer,
            f"rank {rank} computes for {computing:.2f} s before {place.place}, {min(longer, 100):.1f} times as long as "
            f"the others, which wait for it {lost:.2f} s there ({percent(share)} of the time of all ranks); in all "
            "they compute for equally long",
            remedy(report, "balance"),
            place.place,
        )


def load_imbalance(report: Report, limit: float) -> Iterator[Finding]:
    yield from uneven_in_turn(report, limit)
    for found, seconds, place in uneven(report, limit, False):
        rank, share = found.slowest["rank"], percent(seconds / found.total)
        region = serial_part(report, place) if rank == 0 else ""
        sentence = (
            f"rank {rank} computes for {found.seconds:.2f} s, {found.longer():.1f} times as long as the others, which "
            f"wait for it {seconds:.2f} s ({share} of the time of all ranks), "
        )
        where = region or named(place)
        without = without_processor(report)
        if without > MOST_WITHOUT:
            sentence = (
                f"most ranks have waited for a processor for {percent(without)} of their time: there are more "
                f"ranks than processors. Of the time that they had one, {sentence}"
            )
        sentence += f"most in its serial part before the parallel region {region}" if region else f"longest in {where}"
        yield Finding(
            seconds / found.total,
            found.longer(),
            sentence,
            remedy(report, "serial" if region else "balance", place=region),
            where,
        )


def slow_rank(report: Report, limit: float) -> Iterator[Finding]:
    for found, seconds, place in uneven(report, limit, True):
        rank = found.slowest
        yield Finding(
            seconds / found.total,
            found.longer(),
            f"rank {rank['rank']} on {rank['host']} (CPUs {rank['cpus']}) takes {found.longer():.1f} times as long as "
            f"the others, but has used a processor for only {rank['seconds']['processor']:.2f} s of "
            f"{found.seconds:.2f} s: the others wait for it {seconds:.2f} s, longest in {named(place)}",
            "look what else runs on its CPUs, and bind ranks (--bind core); or find what the rank sleeps in, such as "
            "output or files",
            named(place),
        )
