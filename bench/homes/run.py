"""What it costs that data lies on the wrong node, and what is left of it when homes move: bench_homes.

The grid of each run is compared with one that a single rank has computed. Then the applications sort, md and fft3d,
with all memory on the last rank: X_misplaced. They verify a smaller answer first.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import Contestant, Samples, Target

PLACES = {"one": "all on rank 0", "other": "each on the next rank"}
POLICIES = {"one": ["fixed", "first", "migrating", "redistributed"], "other": ["fixed", "first", "migrating"]}
WELL = "placed well"
MOVE = "half of an array to another node"
BEFORE, STEPS = 10, 20  # steps of an application that are left out, and that are timed
PROBLEMS = {"sort": ("--size", "8388608"), "md": ("--size", "21"), "fft3d": ("--size", "128")}
SMALL = {"sort": ("--size", "100003"), "md": ("--size", "6"), "fft3d": ("--size", "30")}


def label_of(place: str, policy: str) -> str:
    return f"{PLACES[place]}, {policy}"


def launch(build: Path, *words: str | Path) -> list[str | Path]:
    return [build / "bin" / "hirobarun", "-n", "2", "--nodes", "2", *words]


def contestants(build: Path, small: bool) -> list[Contestant]:
    rows, mib = ("64", "8") if small else ("2048", "512")

    def command(*words: str) -> list[str | Path]:
        return launch(build, build / "bench" / "homes" / "bench_homes", *words)

    found = [Contestant(WELL, command("steps", "well", "fixed", rows))]
    for place, policies in POLICIES.items():
        found += [Contestant(label_of(place, policy), command("steps", place, policy, rows)) for policy in policies]
    return [*found, Contestant(MOVE, command("move", mib))]


def programs(build: Path, app: str, words: Sequence[str]) -> list[Contestant]:
    misplaced = build / "bench" / "homes" / f"{app}_misplaced"
    return [Contestant(f"{app}, {WELL}", launch(build, build / "bin" / f"{app}_hiroba", *words))] + [
        Contestant(f"{app}, {policy}", launch(build, "--homes", policy, misplaced, *words))
        for policy in ("fixed", "migrating")
    ]


def later_step(contestant: Contestant) -> dict[str, Any]:
    """A step after the first ones: the difference of a short run and a longer one."""
    times = []
    for steps in (BEFORE, BEFORE + STEPS):
        command = [*contestant.command, "--steps", str(steps), "--json", "-"]
        times.append(harness.run_once(Contestant(contestant.name, command))["seconds"])
    return {"seconds": (times[1] - times[0]) / STEPS, "first_steps": times[0]}


def run_programs(build: Path, small: bool, rounds: int) -> tuple[dict[str, Samples], list[Target]]:
    samples, reached = {}, []
    for app, words in PROBLEMS.items():
        if not (build / "bench" / "homes" / f"{app}_misplaced").exists():
            continue
        verified = programs(build, app, [*SMALL[app], "--steps", "15", "--verify", "--json", "-"])
        samples[app] = harness.compete(verified, 1, f"{app}, verified", warm_up=False)
        if small:
            continue
        samples[app] = harness.compete(programs(build, app, words), rounds, app, later_step, warm_up=False)
        print(harness.table(harness.figures(samples[app])), flush=True)
        ratio = samples[app].ratio(f"{app}, migrating", f"{app}, {WELL}")
        reached.append(Target(f"{app}, all on the last rank, migrating / {WELL}", ratio, 1.2))
    return samples, reached


def targets(samples: Samples) -> list[Target]:
    def ratio(label: str) -> float:
        return samples.ratio(label, WELL)

    found = [
        Target(f"{label_of(place, policy)} / {WELL}", ratio(label_of(place, policy)), 1.2)
        for place, policies in POLICIES.items()
        for policy in policies
        if policy != "fixed"
    ]
    moved = samples.median(MOVE) / samples.median(MOVE, "preload")
    found.append(Target(f"{MOVE} / to preload it into a cache without memory for it", moved, 1.2))
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
    of_programs, reached = run_programs(options.build, options.small, rounds)
    for target in reached:
        print(target.line())
    name = "homes_small" if options.small else "homes"
    kept = harness.write(options.out, name, around, {"homes": samples, **of_programs}, [*met, *reached])
    print(f"\nkept in {kept}")
    return 0


if __name__ == "__main__":
    harness.main(run)
