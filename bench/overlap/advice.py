"""What the figures mean for a program: one sentence, the targets of Hiroba, and what a program with known calls would
gain (`--like`). README.md has the formulas."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from contestants import FULL, HIROBA, NORMAL, SPARE, THREAD
from figures import Case, Figures, Found, ranks_text, seconds_text, size_text
from harness import BenchmarkError, Target

FASTER = ("allreduce", "alltoall", "bcast", "allgather")  # than any MPI's, on a node
LEAST_GAIN = 0.03  # less than that is no reason to rewrite a program
WITH = {
    (NORMAL, FULL): "without a progress thread",
    (NORMAL, SPARE): "without a progress thread, with a spare core",
    (THREAD, FULL): "with a progress thread, all cores computing",
    (THREAD, SPARE): "with a progress thread on a spare core",
}


def way_text(mode: str, placement: str) -> str:
    return WITH.get(
        (mode, placement), f"with {mode}, {'a spare core' if placement == SPARE else 'all cores computing'}"
    )


def today(found: Found, library: str) -> float | None:
    """Blocking, without a progress thread, with the cores that make it fastest: the program before it is rewritten."""
    times = [f.block for case, f in found.items() if case.library == library and case.mode == NORMAL]
    return min(times, default=None)


def judged(found: Found) -> tuple[bool, str]:
    """Of one collective and size: whether overlap pays, and the words that say how much. The library is the one with
    which the overlapped program is fastest, compared with its own blocking program."""
    case = min(found, key=lambda case: found[case].ovlp)
    before = today(found, case.library)
    ratio = found[case].ovlp / (before if before is not None else found[case].block)
    how = f"{ratio:.2f} of blocking, {way_text(case.mode, case.placement)} ({case.library}, {case.schedule})"
    if ratio > 1 - LEAST_GAIN:
        return False, f"does not pay: at best {how}"
    if 1 - ratio < found[case].spread:
        return False, f"may pay: {how}, but the spread is {100 * found[case].spread:.0f} %"
    return True, f"pays here: {how}"


def advice(found: Found) -> str:
    """One sentence for each number of ranks: about the largest size of each collective, with the largest matrices."""
    parts = []
    for ranks in sorted({case.ranks for case in found}):
        words = []
        for collective in dict.fromkeys(case.collective for case in found):
            here = {c: f for c, f in found.items() if (c.collective, c.ranks) == (collective, ranks)}
            if not here:
                continue
            point = max((case.m, case.n) for case in here)
            pays, how = judged({case: f for case, f in here.items() if (case.m, case.n) == point})
            name = collective.capitalize() + (f" of {size_text(8 * point[0])}" if point[0] else "")
            words.append((pays, f"{name} {how}"))
        words.sort(key=lambda entry: not entry[0])
        parts.append(f"Overlap with {ranks_text(ranks)}: {'; '.join(text for _, text in words)}.")
    return " ".join(parts)


def targets(found: Found) -> list[Target]:
    """What Hiroba must reach, beside the best of the others in the same run."""
    ours = {case: f for case, f in found.items() if case.library == HIROBA}
    if not ours:
        return []
    worst = max(ours, key=lambda case: ours[case].ratio)
    where = f"{worst.collective}, {size_text(worst.bytes)}, {worst.mode}, {worst.placement}, {worst.schedule}"
    reached = [Target(f"ovlp / block, the worst ({where})", ours[worst].ratio, 1.02)]
    for collective, m, n in (("alltoall", 131072, 512),):
        here = {c: f for c, f in found.items() if (c.collective, c.m, c.n, c.placement) == (collective, m, n, SPARE)}
        mine = [f.ratio for case, f in here.items() if case.library == HIROBA]
        rivals = [f.ratio for case, f in here.items() if case.library != HIROBA]
        if mine and rivals:
            what = f"ovlp / block of {collective}, M={m}, N={n}, spare / that of the best MPI"
            reached.append(Target(what, min(mine) / min(rivals), 0.9))
    for case, f in ours.items():
        if (case.mode, case.placement, case.schedule) != (THREAD, FULL, "static") or case.collective not in FASTER:
            continue
        same = (case.placement, case.schedule, case.collective, case.m, case.n, case.ranks)
        others = [
            g.comm
            for c, g in found.items()
            if (c.placement, c.schedule, c.collective, c.m, c.n, c.ranks) == same
            if c.library != HIROBA and c.mode == NORMAL
        ]
        if others:
            what = f"{case.collective} of {size_text(case.bytes)}, {ranks_text(case.ranks)} / the best MPI's"
            reached.append(Target(what, f.comm / min(others), 0.9))
    idle = [
        f.comp / found[other].comp
        for case, f in ours.items()
        if case.mode == THREAD and (other := Case(**{**case.__dict__, "mode": NORMAL})) in found
    ]
    if idle:
        reached.append(Target("comp with an idle progress engine / without, the worst", max(idle), 1.02))
    return reached


# ---- a program with known calls --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """What a program does: `calls` times this collective, each beside computation that does not need its result."""

    collective: str
    bytes: float
    calls: float
    compute: float  # seconds


@dataclass(frozen=True)
class Way:
    library: str
    mode: str
    placement: str
    schedule: str
    ranks: int

    @property
    def text(self) -> str:
        return f"{self.library}, {self.mode}, {self.placement}, {self.schedule}, {ranks_text(self.ranks)}"


NAMES = ("collective", "bytes", "calls", "compute_seconds_between")


def of_report(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What rank 0 has called in a run, of the data of its report: docs/report.md. The sizes of one place are told apart
    by their powers of two, so they are the mean of these."""
    found: dict[tuple[str, int], list[float]] = {}
    for site in report["sites"]:
        call = site["call"].split("(")[0]
        if site["kind"] != "collective" or site["rank"] != 0 or not call.startswith("hiroba_"):
            continue
        name = call.removeprefix("hiroba_").removeprefix("i")
        sums = found.setdefault((name, round(site["amount"] / site["count"])), [0, 0])
        sums[0] += site["count"]
        sums[1] += site["before"]
    return [
        dict(zip(NAMES, (name, size, calls, before / calls), strict=True))
        for (name, size), (calls, before) in sorted(found.items())
    ]


def read_uses(path: Path) -> list[Use]:
    try:
        rows = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise BenchmarkError(f"--like {path}: {error}") from error
    if isinstance(rows, dict) and "hiroba_report" in rows:
        rows = of_report(rows)
    if not isinstance(rows, list) or not rows:
        raise BenchmarkError(f"--like {path}: a list of calls is needed, as README.md shows it")
    uses = []
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or set(row) != set(NAMES):
            raise BenchmarkError(f"--like {path}: entry {number} must have exactly {', '.join(NAMES)}: {row}")
        values = [row[name] for name in NAMES[1:]]
        if any(isinstance(v, bool) or not isinstance(v, int | float) or not 0 <= v < math.inf for v in values):
            raise BenchmarkError(f"--like {path}: entry {number}: {', '.join(NAMES[1:])} are numbers from 0: {row}")
        uses.append(Use(str(row["collective"]), *map(float, values)))
    return uses


def between(points: Sequence[tuple[float, float]], size: float, times: bool) -> float:
    """The value at `size` of a curve through (bytes, value): straight in the logarithm of the size, and of times, too.
    Outside, ratios stay as they are, and so do times of smaller messages; times of larger ones grow with the size."""
    points = sorted(points)
    first, last = points[0], points[-1]
    if size <= first[0]:
        return first[1]
    if size >= last[0]:
        return last[1] * size / last[0] if times and last[0] > 0 else last[1]
    low = max(point for point in points if point[0] <= size)
    high = min(point for point in points if point[0] > size)
    share = math.log(size / low[0]) / math.log(high[0] / low[0]) if low[0] > 0 else 1.0
    if times:
        return low[1] * (high[1] / low[1]) ** share
    return low[1] + share * (high[1] - low[1])


@dataclass(frozen=True)
class Prospect:
    """Seconds of all calls of a use, with the computation between."""

    blocking: float
    overlapped: float


class Measured:
    """The figures of a benchmark as curves over the size."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.ways = list(dict.fromkeys(Way(c.library, c.mode, c.placement, c.schedule, c.ranks) for c in found))

    def cases(self, way: Way, collective: str) -> dict[Case, Figures]:
        return {
            case: f
            for case, f in self.found.items()
            if case.collective == collective
            and (case.library, case.mode, case.placement, case.schedule, case.ranks)
            == (way.library, way.mode, way.placement, way.schedule, way.ranks)
        }

    def before(self, way: Way) -> Way:
        """The program as it is: no progress thread, all cores compute."""
        before = Way(way.library, NORMAL, FULL, way.schedule, way.ranks)
        return before if before in self.ways else Way(way.library, NORMAL, way.placement, way.schedule, way.ranks)

    def prospect(self, way: Way, use: Use) -> Prospect:
        here, base = self.cases(way, use.collective), self.cases(self.before(way), use.collective)
        if not here or not base:
            remedy = f"measure it: --collectives {use.collective}"
            raise BenchmarkError(
                f"{use.collective} was not measured for {way.text}, {NORMAL} and with progress; {remedy}"
            )

        def at(cases: Found, name: str, times: bool) -> float:
            return between([(case.bytes, getattr(f, name)) for case, f in cases.items()], use.bytes, times)

        parts = [(case.bytes, min(1.0, f.hidden) if f.hidden_known else 0.0) for case, f in here.items()]

        pairs = [
            (case.bytes, f.comp / g.comp)
            for case, f in here.items()
            for other, g in base.items()
            if other.n == case.n and other.bytes == case.bytes
        ]
        slower = between(pairs, use.bytes, times=False) if pairs else 1.0
        comm, comp = at(here, "comm", times=True), use.compute * slower
        hidden = between(parts, use.bytes, times=False) * min(comm, comp)
        blocking = at(base, "comm", times=True) + use.compute
        return Prospect(use.calls * blocking, use.calls * (comm + comp - hidden))


def share(entry: dict[str, Any]) -> float:
    return float(entry["gain"] / entry["blocking"]) if entry["blocking"] > 0 else 0.0


def rows_of(entries: Sequence[dict[str, Any]], use: Use | None) -> list[list[str]]:
    """Of all uses together every way; of one, the best way of each library."""
    if use is not None:
        by_library: dict[str, dict[str, Any]] = {}
        for entry in sorted(entries, key=share):
            by_library[entry["library"]] = entry
        entries = list(by_library.values())
    what = ["", "", ""] if use is None else [size_text(use.bytes), f"{use.calls:g}", seconds_text(use.compute)]
    rows = []
    for entry in entries:
        way = Way(*(entry[name] for name in Way.__dataclass_fields__))
        gain = f"{'-' if entry['gain'] < 0 else ''}{seconds_text(abs(entry['gain']))}"
        times = [
            seconds_text(entry["blocking"]),
            seconds_text(entry["overlapped"]),
            gain,
            f"{100 * share(entry):.1f} %",
        ]
        rows.append([f"{entry['use']}: {way.text}", *what, *times])
    return rows


def outside(found: Found, uses: Sequence[Use]) -> str:
    """Which sizes lie beyond those that were measured, and what that means."""
    sizes = {use: [case.bytes for case in found if case.collective == use.collective] for use in uses}
    larger = [use for use in uses if use.bytes > max(sizes[use])]
    smaller = [use for use in uses if use.bytes < min(sizes[use])]
    notes = ""
    for text, here in [
        ("Larger than any measured size, so their times are scaled", larger),
        ("Smaller than any measured size, so they have the time of the smallest", smaller),
    ]:
        if here:
            notes += f"\n{text}: " + ", ".join(f"{use.collective} of {size_text(use.bytes)}" for use in here)
    return notes


def like(found: Found, uses: Iterable[Use]) -> tuple[str, list[dict[str, Any]]]:
    """A table and a sentence, and all figures as data."""
    measured, uses = Measured(found), list(uses)
    rows = [["", "size", "calls", "computation", "blocking", "overlapped", "gain", ""]]
    kept: list[dict[str, Any]] = []
    for use in [*uses, None]:
        here = []
        for way in measured.ways:
            parts = [measured.prospect(way, part) for part in (uses if use is None else [use])]
            blocking, overlapped = sum(p.blocking for p in parts), sum(p.overlapped for p in parts)
            entry = {"use": use.collective, "bytes": use.bytes} if use else {"use": "all"}
            gain = blocking - overlapped
            here.append(entry | way.__dict__ | {"blocking": blocking, "overlapped": overlapped, "gain": gain})
        rows += rows_of(here, use)
        kept += here
    best = max((entry for entry in kept if entry["use"] == "all"), key=share)
    how = way_text(best["mode"], best["placement"])
    word = "would gain" if share(best) > LEAST_GAIN else "would not gain enough to be worth it:"
    sentence = f"This program {word} {100 * share(best):.1f} % at best, {how} ({best['library']}, {best['schedule']})."
    return f"{harness.table(rows)}\n{sentence}{outside(found, uses)}", kept
