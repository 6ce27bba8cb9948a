"""The critical path: what the ranks did that came last to barriers, and the longest chains of tasks."""

from __future__ import annotations

from typing import Any

from hiroba.report.data import WAITING, Report

KINDS = ("computing", *WAITING)
NAMES = {kind: kind for kind in KINDS} | {"collective": "collective calls", "faults": "page faults"}
Sums = dict[str, float]


def add(to: Sums, more: dict[str, float]) -> None:
    for kind in KINDS:
        to[kind] = to.get(kind, 0) + more.get(kind, 0)


def total(sums: Sums) -> float:
    return sum(sums.values())


def barriers_text(ranks: dict[int, Sums], places: dict[str, Sums]) -> str:
    if not ranks:
        return ""
    seconds = sum(total(sums) for sums in ranks.values())
    rank = max(ranks, key=lambda r: total(ranks[r]))
    kind = max(KINDS, key=lambda k: ranks[rank][k])
    place = max(places, key=lambda p: total(places[p]))
    return (
        f"Between barriers the rank that comes last sets the pace. Of the {seconds:.2f} s on this path, rank {rank} "
        f"has {total(ranks[rank]):.2f} s, most of it {NAMES[kind]} ({ranks[rank][kind]:.2f} s); the longest part, "
        f"{total(places[place]):.2f} s, ends at {place}"
    )


def tasks_text(report: Report) -> str:
    rank = max(report.ranks, key=lambda r: float(r["seconds"]["chain"]), default=None)
    if rank is None or rank["seconds"]["chain"] <= 0:
        return ""
    work, chain = rank["seconds"]["tasks"], rank["seconds"]["chain"]
    return (
        f"The tasks of rank {rank['rank']} compute for {work:.2f} s; its longest chains of tasks that wait for each "
        f"other, {rank['chain']:,} of {rank['tasks']:,}, take {chain:.2f} s, so at most {max(1, work / chain):.1f} "
        "threads can compute at once"
    )


def critical_path(report: Report) -> dict[str, Any]:
    """`known` is false where no rank sees when all others come: on several hosts."""
    ranks: dict[int, Sums] = {}
    places: dict[str, Sums] = {}
    tasks: Sums = {}
    for site in report.data["sites"]:
        sums = site.get("critical", {})
        if total(sums) <= 0:
            continue
        place = site["place"] or site["call"]
        if site["kind"] in ("task", "copy"):
            tasks[f"{site['call']} {place}"] = tasks.get(f"{site['call']} {place}", 0) + sums["computing"]
        else:
            add(ranks.setdefault(site["rank"], {}), sums)
            add(places.setdefault(place, {}), sums)
    by_time = sorted(places.items(), key=lambda entry: -total(entry[1]))
    sentences = [text for text in (barriers_text(ranks, places), tasks_text(report)) if text]
    return {
        "known": bool(ranks) or not report.of_kind("barrier"),
        "sentences": sentences,
        "ranks": [{"rank": rank} | sums for rank, sums in sorted(ranks.items())],
        "places": [{"place": place} | sums for place, sums in by_time[:20]],
        "tasks": [{"place": place, "seconds": s} for place, s in sorted(tasks.items(), key=lambda t: -t[1])[:20]],
    }
