"""What it costs that data lies on the wrong node, and what is left of it when homes move: bench_homes.

The grid of each run is compared with one that a single rank has computed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import Contestant, Samples, Target

PLACES = {"one": "all on rank 0", "other": "each on the next rank"}
POLICIES = {"one": ["fixed", "first", "migrating", "redistributed"], "other": ["fixed", "first", "migrating"]}
WELL = "placed well"
MOVE = "half of an array to another node"


def label_of(place: str, policy: str) -> str:
    return f"{PLACES[place]}, {policy}"


def contestants(build: Path, small: bool) -> list[Contestant]:
    rows, mib = ("64", "8") if small else ("2048", "512")

    def command(*words: str) -> list[str | Path]:
        return [
            build / "bin" / "hirobarun",
            "-n",
            "2",
            "--nodes",
            "2",
            build / "bench" / "homes" / "bench_homes",
            *words,
        ]

    found = [Contestant(WELL, command("steps", "well", "fixed", rows))]
    for place, policies in POLICIES.items():
        found += [Contestant(label_of(place, policy), command("steps", place, policy, rows)) for policy in policies]
    return [*found, Contestant(MOVE, command("move", mib))]


def targets(samples: Samples) -> list[Target]:
    def ratio(label: str) -> float:
        return samples.ratio(label, WELL)

    found = [
        Target(f"{label_of(place, policy)} / {WELL}", ratio(label_of(place, policy)), 1.2, True, "", "")
        for place, policies in POLICIES.items()
        for policy in policies
        if policy != "fixed"
    ]
    moved = samples.median(MOVE) / samples.median(MOVE, "preload")
    found.append(Target(f"{MOVE} / to preload it", moved, 1.5, True, "", ""))
    return found


def run() -> int:
    options = harness.arguments(__doc__ or "").parse_args()
    rounds = options.rounds or (1 if options.small else 5)
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}\n")
    samples = harness.compete(contestants(options.build, options.small), rounds, "homes")
    print(harness.table(harness.figures(samples)))
    met = [] if options.small else targets(samples)
    for target in met:
        print(target.line())
    name = "homes_small" if options.small else "homes"
    kept = harness.write(options.out, name, around, {"homes": samples}, met)
    print(f"\nkept in {kept}")
    return 0


if __name__ == "__main__":
    harness.main(run)
