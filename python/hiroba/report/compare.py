"""What has changed between two runs: a sentence, and a table of times, arrays and places."""

from __future__ import annotations

from hiroba.report.data import WAITING, Report

LEAST_CHANGE = 0.001

Row = tuple[str, float, float]


def slowest(report: Report) -> float:
    return max((float(r["seconds"]["total"]) for r in report.ranks), default=0)


def times(report: Report) -> dict[str, float]:
    out = {"total": slowest(report)}
    for kind in ("computing", *WAITING):
        out[kind] = sum(r["seconds"].get(kind, 0) for r in report.ranks) / max(1, len(report.ranks))
    return out


def places(report: Report) -> dict[str, float]:
    out: dict[str, float] = {}
    for place in report.places:
        name = f"{place.kind} {place.named()}"
        if place.array is not None:
            name += f" {report.array_name(place.array)}"
        out[name] = out.get(name, 0) + place.seconds / max(1, len(report.ranks))
    return out


def rows(before: dict[str, float], after: dict[str, float]) -> list[Row]:
    return [(name, before.get(name, 0), after.get(name, 0)) for name in before | after]


def changed(rows: list[Row]) -> list[Row]:
    """Those that changed most, the largest first."""
    return sorted(rows, key=lambda row: -abs(row[2] - row[1]))[:10]


def compare(before: Report, after: Report, limit: float) -> tuple[str, bool]:
    """The text, and whether the second run is slower than the limit allows."""
    a, b = slowest(before), slowest(after)
    ratio = b / a if a > 0 else 1
    parts = [row for row in rows(times(before), times(after)) if row[0] != "total"]
    name, old, new = max(parts, key=lambda row: abs(row[2] - row[1]))
    word = "slower" if ratio > 1 else "faster"
    sentence = (
        f"The second run took {b:.3f} s instead of {a:.3f}, {100 * abs(ratio - 1):.1f} % {word}; most of the change is "
        f"{name}: {old:.3f} s a rank before, {new:.3f} now."
    )
    if abs(ratio - 1) < LEAST_CHANGE:
        sentence = f"Both runs took the same time, {a:.3f} s."
    if [len(before.ranks), before.data["nodes"]] != [len(after.ranks), after.data["nodes"]]:
        sentence += (
            f" They had {len(before.ranks)} ranks on {before.data['nodes']} nodes, and {len(after.ranks)} on "
            f"{after.data['nodes']}."
        )
    lines = [sentence, "", f"{'seconds a rank':60} {'before':>10} {'after':>10} {'change':>10}"]
    for name, old, new in rows(times(before), times(after)) + changed(rows(places(before), places(after))):
        lines.append(f"{name:60} {old:10.3f} {new:10.3f} {new - old:+10.3f}")
    old_advice = {entry["sentence"]: entry["rule"] for entry in before.data.get("advice", [])}
    new_advice = {entry["sentence"]: entry["rule"] for entry in after.data.get("advice", [])}
    for word, ours, others in (("gone", old_advice, new_advice), ("new", new_advice, old_advice)):
        lines += [f"{word}: {rule}: {text}" for text, rule in ours.items() if rule not in others.values()]
    return "\n".join(lines), ratio > 1 + limit
