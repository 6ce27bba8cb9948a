"""What an allocation and a free cost in the heap, beside malloc of glibc and of other libraries that are installed.

Every object carries its number, which is checked before it is freed. The last figures have no rival: a free by another
rank, and the memory in use after many calls by four ranks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import Contestant, Samples, Target

KINDS = ["random", "pairs", "batches"]
RIVALS = ["glibc", "jemalloc", "mimalloc", "tbb"]
REMOTE = {"free by another rank, one node": (1, 1.0), "free by another rank, 2 nodes": (2, 3.0)}
CALLS = "calls by 4 ranks"


def program(build: Path, name: str) -> Path:
    return build / "bench" / "heap" / f"bench_heap_{name}"


def hiroba(build: Path, label: str, ranks: int, nodes: int, *words: str) -> Contestant:
    shape: list[str | Path] = [build / "bin" / "hirobarun", "-n", str(ranks), "--nodes", str(nodes)]
    return Contestant(label, [*shape, program(build, "hiroba"), *words])


def contestants(build: Path, kind: str, pairs: str) -> list[Contestant]:
    rivals = [name for name in RIVALS if program(build, name).exists()]
    ours = hiroba(build, "hiroba", 1, 1, kind, pairs)
    return [ours, *(Contestant(name, [program(build, name), kind, pairs]) for name in rivals)]


def lonely(build: Path, small: bool) -> list[Contestant]:
    objects, calls = ("2000", "100000") if small else ("100000", "100000000")
    found = [hiroba(build, label, 2, nodes, "remote", objects) for label, (nodes, _) in REMOTE.items()]
    return [*found, hiroba(build, CALLS, 4, 1, "calls", calls)]


def targets(samples: dict[str, Samples]) -> list[Target]:
    found = []
    for kind in KINDS:
        ratios = sorted(samples[kind].ratios("hiroba", "glibc", "nanoseconds"))
        found.append(Target(f"{kind}: hiroba / glibc", ratios[len(ratios) // 2], 1.5, True, "", ""))
    for label, (_, limit) in REMOTE.items():
        microseconds = samples["alone"].median(label, "nanoseconds") / 1000
        found.append(Target(f"{label}: microseconds", microseconds, limit, True, "", ""))
    memory = samples["alone"].median(CALLS, "used over live")
    found.append(Target(f"{CALLS}: memory in use / live", memory, 1.3, True, "", ""))
    return found


def run() -> int:
    options = harness.arguments(__doc__ or "").parse_args()
    rounds = options.rounds or (1 if options.small else 7)
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}\n")
    pairs = "50000" if options.small else "10000000"
    samples = {kind: harness.compete(contestants(options.build, kind, pairs), rounds, kind) for kind in KINDS}
    samples["alone"] = harness.compete(
        lonely(options.build, options.small), 1 if options.small else 3, "alone", warm_up=False
    )
    rows = [["", "figure", "median", "spread"]]
    for kind, of_kind in samples.items():
        for label, runs in of_kind.runs.items():
            for metric in runs[0]:
                name = label if kind == "alone" else f"{kind}: {label}"
                spread = f"{100 * of_kind.spread(label, metric):.0f} %"
                rows.append([name, metric, f"{of_kind.median(label, metric):.4g}", spread])
    print(harness.table(rows))
    met = [] if options.small else targets(samples)
    for target in met:
        print(target.line())
    name = "heap_small" if options.small else "heap"
    panels = {
        f"{kind}: ns for an allocation and a free (lower is better)": {
            label: samples[kind].values(label, "nanoseconds") for label in samples[kind].runs
        }
        for kind in KINDS
    }
    picture = harness.plot(options.out / f"{name}.png", "Heap", panels, "", sharey=False)
    kept = harness.write(options.out, name, around, samples, met)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
