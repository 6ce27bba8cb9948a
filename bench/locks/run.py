"""What a lock costs that carries what was written under it: bench_locks CASE, beside a mutex in shared memory.

The count that the lock protects, and the data that nobody writes, are checked before a figure is reported.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import Contestant, Samples, Target


@dataclass
class Case:
    """One run of bench_locks: ranks over nodes, turns of each rank, MiB, and microseconds that must be reached."""

    label: str
    case: str
    ranks: int
    nodes: int
    turns: int
    mib: int = 0
    limit: float = 0


MUTEX = "mutex in shared memory"
MIB = 32
LARGE = 1024
CASES = [
    Case("contended, one node", "contended", 2, 1, 200000),
    Case("contended, 2 nodes", "contended", 2, 2, 20000, limit=8),
    Case("contended, 4 nodes", "contended", 4, 4, 5000),
    Case("32 MiB cached, one node", "cached", 2, 1, 5000, MIB),
    Case("32 MiB cached, 2 nodes", "cached", 2, 2, 3000, MIB, 25),
    Case("32 MiB cached, 4 nodes", "cached", 4, 4, 500, MIB, 60),
    Case("uncontended, one node", "uncontended", 2, 1, 200000, limit=0.3),
    Case("uncontended, 2 nodes", "uncontended", 2, 2, 200000, limit=0.3),
    Case("shared, one node", "shared", 2, 1, 100000),
    Case("shared, 2 nodes", "shared", 2, 2, 50000),
    Case("condition, one node", "condition", 2, 1, 10000),
    Case("condition, 2 nodes", "condition", 2, 2, 5000),
    Case("one page, empty cache", "bring", 2, 2, 500, 0),
    Case("one page, 1 GiB cached", "bring", 2, 2, 500, LARGE),
]


def contestants(build: Path, small: bool) -> list[Contestant]:
    folder = build / "bench" / "locks"

    def command(case: Case) -> list[str | Path]:
        shape = ["-n", str(case.ranks), "--nodes", str(case.nodes), "--cache", "2G"]
        turns, mib = (100, min(case.mib, 2)) if small else (case.turns, case.mib)
        return [build / "bin" / "hirobarun", *shape, folder / "bench_locks", case.case, str(turns), str(mib)]

    rival = Contestant(MUTEX, [folder / "bench_mutex", "1000" if small else "200000"])
    return [rival, *(Contestant(case.label, command(case)) for case in CASES)]


def targets(samples: Samples) -> list[Target]:
    def middle(label: str) -> float:
        return samples.median(label, "microseconds")

    def ratio(one: str, other: str) -> float:
        return sorted(samples.ratios(one, other, "microseconds"))[len(samples.runs[one]) // 2]

    found = [
        Target(f"{case.label}: microseconds", middle(case.label), case.limit, True, "", "")
        for case in CASES
        if case.limit
    ]
    found.append(Target("contended, one node / mutex", ratio("contended, one node", MUTEX), 1.5, True, "", ""))
    brought = ratio("one page, 1 GiB cached", "one page, empty cache")
    found.append(Target("one page with 1 GiB cached / empty cache", brought, 1.2, True, "", ""))
    return found


def run() -> int:
    options = harness.arguments(__doc__ or "").parse_args()
    rounds = options.rounds or (1 if options.small else 7)
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}\n")
    samples = harness.compete(contestants(options.build, options.small), rounds, "locks")
    print(harness.table(harness.figures(samples)))
    met = [] if options.small else targets(samples)
    for target in met:
        print(target.line())
    name = "locks_small" if options.small else "locks"
    panels = {
        "microseconds a turn (lower is better)": {c.label: samples.values(c.label, "microseconds") for c in CASES}
    }
    picture = harness.plot(options.out / f"{name}.png", "Locks", panels, "", sharey=False)
    kept = harness.write(options.out, name, around, {"locks": samples}, met)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
