"""What an access, a page and a synchronisation cost, each beside its rival in the same process: bench_memory CASE.

Every case checks the data that it moved before it reports a figure; the cases' source says what each measures.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import Contestant, Samples, Target

RAW = "'plain memory file / malloc' above is the same ratio without Hiroba: small pages of files are placed worse"

ARGODSM_FAULT = 7  # microseconds per page of ArgoDSM 2024 (2 nodes, MPI RMA, 8 pages a fetch): its best of 7 to 13


@dataclass
class Case:
    """One run of bench_memory: ranks over nodes, options of hirobarun, and the figures that must be reached."""

    label: str
    case: str
    ranks: int = 2
    nodes: int = 2
    options: list[str] = field(default_factory=list)
    limits: list[tuple[str, float, bool, str]] = field(default_factory=list)  # metric, limit, at most?, why not


CASES = [
    Case("triad", "triad", 1, 1, [], [("ratio", 0.98, False, "")]),
    Case("triad, small pages", "triad", 1, 1, ["--huge", "no"], [("ratio", 0.98, False, RAW)]),
    Case("read fault", "faults", options=["--readahead", "4K"], limits=[("microseconds", 5, True, "")]),
    Case(
        "read fault, 8 pages a fetch, per page",
        "faults-by-8",
        options=["--readahead", "32K"],
        limits=[("microseconds", ARGODSM_FAULT / 3, True, "")],
    ),
    Case("first write", "first-writes", limits=[("microseconds", 4, True, "")]),
    Case("first write, tracked", "first-writes", options=["--twin", "fetch"], limits=[("microseconds", 1.5, True, "")]),
    Case("barrier, 2048 dirty pages", "barrier-dirty", limits=[("milliseconds", 2, True, "")]),
    Case("barrier, empty", "barrier-empty", limits=[("over raw microseconds", 3, True, "")]),
    Case("sequential faults / memcpy", "sequential", limits=[("ratio", 0.5, False, "")]),
    Case("preload / memcpy", "preload", limits=[("ratio", 0.75, False, "")]),
    Case("release", "release", limits=[("ratio", 1.5, True, ""), ("bytes sent / bytes of pages", 0.02, True, "")]),
    Case("drop 256 MiB", "drop", limits=[("milliseconds", 15, True, "")]),
    Case("jacobi, 1 rank", "jacobi", 1, 1),
    Case("jacobi, 2 ranks", "jacobi", 2, 1, [], [("speed-up", 1.8, False, "")]),
    Case("jacobi, 2 nodes", "jacobi", 2, 2, [], [("speed-up", 1.5, False, "")]),
]
SMALL = ["4", "2"]  # MiB and rounds within a run


def contestants(build: Path, small: bool) -> list[Contestant]:
    def command(case: Case) -> list[str | Path]:
        shape = ["-n", str(case.ranks), "--nodes", str(case.nodes)]
        program = build / "bench" / "memory" / "bench_memory"
        return [build / "bin" / "hirobarun", *shape, *case.options, program, case.case, *(SMALL if small else [])]

    return [Contestant(case.label, command(case)) for case in CASES]


def derive(samples: Samples) -> None:
    """Figures that take two numbers: what a barrier costs over a raw exchange, and Jacobi's speed-up in each round."""
    for run in samples.runs["barrier, empty"]:
        run["over raw microseconds"] = run["microseconds"] - run["raw exchange microseconds"]
    for label in ("jacobi, 2 ranks", "jacobi, 2 nodes"):
        for run, alone in zip(samples.runs[label], samples.runs["jacobi, 1 rank"], strict=True):
            run["speed-up"] = run["Mupd/s"] / alone["Mupd/s"]


def show(samples: Samples) -> None:
    rows = [["", "figure", "median", "spread"]]
    for case in CASES:
        for metric in samples.runs[case.label][0]:
            middle = samples.median(case.label, metric)
            spread = f"{100 * samples.spread(case.label, metric):.0f} %" if middle > 0 else "-"
            rows.append([case.label, metric, f"{middle:.4g}", spread])
    print(harness.table(rows))


def run() -> int:
    options = harness.arguments(__doc__ or "").parse_args()
    rounds = options.rounds or (1 if options.small else 7)
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}\n")
    samples = harness.compete(contestants(options.build, options.small), rounds, "memory")
    derive(samples)
    show(samples)
    targets = [
        Target(f"{case.label}: {metric}", samples.median(case.label, metric), limit, at_most, "", why_not)
        for case in CASES
        for metric, limit, at_most, why_not in case.limits
    ]
    if not options.small:
        print("\nTargets")
        for target in targets:
            print(target.line())
    panels = {
        "bandwidth / rival's (higher is better)": {
            label: samples.values(label, "ratio")
            for label in ("triad", "triad, small pages", "sequential faults / memcpy", "preload / memcpy")
        },
        "microseconds per page (lower is better)": {
            label: samples.values(label, "microseconds")
            for label in ("read fault", "first write", "first write, tracked")
        },
        "Jacobi speed-up (2 is ideal)": {
            label: samples.values(label, "speed-up") for label in ("jacobi, 2 ranks", "jacobi, 2 nodes")
        },
    }
    name = "memory_small" if options.small else "memory"
    picture = harness.plot(options.out / f"{name}.png", "Shared memory, two ranks", panels, "", sharey=False)
    kept = harness.write(options.out, name, around, {"memory": samples}, [] if options.small else targets)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
