"""What short parallel regions of an unchanged OpenMP program cost over ranks of one node and of two virtual nodes,
beside libgomp with as many threads, which sleep where they wait (OMP_WAIT_POLICY=passive).

Each kind of region is started many times; its answer is checked, and its median in microseconds is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
import workshop
from harness import Contestant, Samples, Target

FOLDER = Path(__file__).resolve().parent
LIBGOMP, ONE, TWO = "libgomp, 2 threads", "2 ranks, one node", "2 ranks, 2 nodes"
# What a region does, by its name in the program, and the microseconds that two nodes are to reach.
REGIONS = {
    "reduction": ("a reduction over 64 numbers", 14),
    "own halves": ("one array of 100 KB, each thread its own half", 25),
    "one number": ("main writes one number, all read it", 25),
    "read parts": ("main writes 100 KB, all read parts", 45),
    "many arrays": ("one element of each of 100 arrays", 50),
    "allocated": ("allocate 2 x 100 KB, fill, read two elements, free", 45),
    "dynamic": ("dynamic, 26 chunks", 60),
    "crossed": ("two loops, the second reads the first's array reversed", 110),
    "crossed in turn": ("the same of one of 100 arrays in turn", 60),
}


def contestants(build: Path, times: int) -> list[Contestant]:
    folder = build.resolve() / "bench" / "regions"
    folder.mkdir(parents=True, exist_ok=True)
    tools = build.resolve() / "bin"
    flags: list[str | Path] = ["-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror", FOLDER / "regions.c", "-o"]
    workshop.call_compiler(["gcc", *flags, folder / "regions_libgomp"])
    workshop.call_compiler([tools / "hirobacc", "-fopenmp-nodes", *flags, folder / "regions_nodes"])
    job: list[str | Path] = [tools / "hirobarun", "-n", "2", "--threads", "1"]
    passive = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    return [
        Contestant(LIBGOMP, [folder / "regions_libgomp", str(times)], environment=passive),
        Contestant(ONE, [*job, folder / "regions_nodes", str(times)]),
        Contestant(TWO, [*job, "--nodes", "2", folder / "regions_nodes", str(times)]),
    ]


def shown(samples: Samples) -> str:
    rows = [["us of a region", *samples.runs, f"{TWO} / libgomp"]]
    for name, (what, _) in REGIONS.items():
        middles = [samples.median(contestant, name) for contestant in samples.runs]
        spreads = [samples.spread(contestant, name) for contestant in samples.runs]
        figures = [f"{middle:.1f} +- {100 * spread:.0f} %" for middle, spread in zip(middles, spreads, strict=True)]
        rows.append([what, *figures, f"{samples.ratio(TWO, LIBGOMP, name):.2f}"])
    return harness.table(rows)


def run() -> int:
    options = harness.arguments(__doc__ or "").parse_args()
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}\n")
    rounds = options.rounds or (1 if options.small else 5)
    samples = harness.compete(contestants(options.build, 5 if options.small else 500), rounds, "regions")
    print(shown(samples))
    met = []
    if not options.small:
        met = [
            Target(f"{what}, 2 nodes: microseconds", samples.median(TWO, name), limit, True, "", "")
            for name, (what, limit) in REGIONS.items()
        ]
        for target in met:
            print(target.line())
    panels = {
        f"{name}, us": {contestant: samples.values(contestant, name) for contestant in samples.runs} for name in REGIONS
    }
    name = "regions_small" if options.small else "regions"
    picture = harness.plot(options.out / f"{name}.png", "Short regions", panels, "", sharey=False)
    kept = harness.write(options.out, name, around, {"regions": samples}, met)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
