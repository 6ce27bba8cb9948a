"""Barnes-Hut: one core, two ranks, two virtual nodes; what a step consists of and how many pages it fetches, with
BodySort and without; and lines of code.

Every run verifies its forces against the direct sum, and its energy; a wrong one ends the benchmark. With --barnes FILE
also against BARNES of SPLASH-3, at the opening angle at which both have the same error.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import count
import harness
from harness import BenchmarkError, Contestant, Samples, Target

SIZE, STEPS = 1048576, 2
SMALL_SIZE, SMALL_STEPS = 8192, 2
PARTS_SIZE = 262144
PAGES_SIZE = 65536
PHASES = ("build", "sort", "forces", "update", "exchange")
SHAPES = ((1, 1), (2, 1), (2, 2), (4, 4))  # ranks, nodes
# What BARNES is told, and the angle at which a million bodies have its error here (docs/measurements.md).
STEP, SOFTENING, THETA, THETA_HERE = 0.025, 0.05, 0.5, 0.43
SEQUENTIAL = ("tree.c", "forces.c", "barnes_hut_seq.c")
SHARED = ("tree.c", "forces.c", "barnes_hut_sms.c")


def shared(build: Path, ranks: int, nodes: int, *more: str) -> list[str | Path]:
    start: list[str | Path] = [
        build / "bin" / "hirobarun",
        "-n",
        str(ranks),
        "--nodes",
        str(nodes),
        "--threads",
        "1",
        *more,
    ]
    return [*start, build / "bin" / "barnes_hut_sms"]


def speeds(build: Path, size: int, steps: int) -> list[Contestant]:
    options = ["--size", str(size), "--steps", str(steps), "--verify", "--json"]
    programs = build / "bin"
    return [
        Contestant("serial", [programs / "barnes_hut_seq", *options]),
        Contestant("OpenMP, 2 threads", [programs / "barnes_hut_omp", *options], harness.threads(2)),
        Contestant("1 rank", [*shared(build, 1, 1), *options]),
        Contestant("2 ranks", [*shared(build, 2, 1), *options]),
        Contestant("2 nodes", [*shared(build, 2, 2), *options]),
    ]


def parts(build: Path, size: int, steps: int) -> list[Contestant]:
    found = []
    for ranks, nodes in SHAPES:
        for sort, name in ((1, ""), (0, ", unsorted")):
            where = f"{nodes} nodes" if nodes > 1 else f"{ranks} rank{'s' if ranks > 1 else ''}"
            options = ["--size", str(size), "--steps", str(steps), "--bodysort", str(sort), "--verify", "--json"]
            found.append(Contestant(where + name, [*shared(build, ranks, nodes), *options]))
    return found


def pages(build: Path, size: int) -> list[Contestant]:
    """One page for each request, as the paper counts."""
    return [
        Contestant(
            f"{nodes} nodes{'' if sort else ', unsorted'}",
            [
                *shared(build, nodes, nodes, "--readahead", "4K"),
                *("--size", str(size), "--steps", "5", "--bodysort", str(sort), "--verify", "--json"),
            ],
        )
        for nodes in (2, 4)
        for sort in (1, 0)
    ]


def verified(contestant: Contestant) -> dict[str, Any]:
    result = harness.run_once(contestant)
    if result["error"] is None:
        raise BenchmarkError(f"{harness.shown(contestant)}\n  it did not verify its answer")
    return result


def show_speeds(size: int, samples: Samples) -> None:
    rows = [["", "us", "us of a core", "spread", "bytes", "remote accesses", "page requests", "interactions", "error"]]
    for name, runs in samples.runs.items():
        last = runs[-1]
        rows.append(
            [
                name,
                f"{samples.median(name, 'us_per_body'):.2f}",
                f"{samples.median(name, 'core_us_per_body'):.2f}",
                f"{100 * samples.spread(name):.0f} %",
                f"{last['bytes_per_body']:.0f}",
                f"{last['accesses_per_body']:.2f}",
                f"{last['pages_per_body']:.5f}",
                f"{last['interactions_per_body']:.0f}",
                f"{last['error']:.1e}",
            ]
        )
    print(f"\n{size} bodies, for each body and step\n{harness.table(rows)}", flush=True)


def show_parts(size: int, samples: Samples) -> None:
    rows = [["", *PHASES, "us", "page requests"]]
    for name in samples.runs:
        us = [1e6 * samples.median(name, phase) / size / samples.runs[name][0]["steps"] for phase in PHASES]
        total = samples.median(name, "us_per_body")
        rows.append([name, *(f"{value:.3f}" for value in us), f"{total:.3f}"])
        rows[-1].append(f"{samples.median(name, 'pages_per_body'):.5f}")
    print(f"\n{size} bodies, us for each body and step\n{harness.table(rows)}", flush=True)


def draw_parts(path: Path, size: int, samples: Samples) -> Path:
    """A bar for each shape, of the phases on top of each other."""
    figure, grid = harness.empty_panels(1, 1, sharey=False)
    axes, names = grid[0][0], list(samples.runs)
    below = [0.0] * len(names)
    for colour, phase in zip(harness.COLOURS, PHASES, strict=False):
        us = [1e6 * samples.median(name, phase) / size / samples.runs[name][0]["steps"] for name in names]
        axes.bar(names, us, 0.7, bottom=below, color=colour, label=phase)
        below = [a + b for a, b in zip(below, us, strict=True)]
    axes.tick_params("x", rotation=40)
    axes.set_ylabel("us for each body and step")
    axes.set_title(f"{size} bodies, with BodySort and without", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.set_size_inches(7, 5)
    figure.savefig(path, dpi=140)
    return path


def lines(files: tuple[str, ...]) -> int:
    folder = harness.ROOT / "apps" / "barnes_hut"
    return sum(len(count.code((folder / file).read_text())) for file in files)


def barnes_seconds(program: Path, size: int, steps: int) -> float:
    """The time of a run of BARNES on one core."""
    answers = ["", size, 123, "", STEP, SOFTENING, THETA, 2.0, 5.0, STEP * (steps - 1), 0.25, 1]
    began = time.monotonic()
    subprocess.run(
        [program], input="\n".join(map(str, answers)) + "\n", text=True, check=True, stdout=subprocess.DEVNULL
    )
    return time.monotonic() - began


def barnes(program: Path, build: Path, size: int) -> tuple[float, float]:
    """us for each body and step, here and there: that of BARNES is the difference of two runs."""
    options = ["--size", str(size), "--steps", str(STEPS), "--theta", str(THETA_HERE), "--verify", "--json"]
    here = verified(Contestant("1 rank, the error of BARNES", [*shared(build, 1, 1), *options]))
    return here["us_per_body"], 1e6 * (barnes_seconds(program, size, 3) - barnes_seconds(program, size, 1)) / 2 / size


def targets(samples: Samples, fetched: Samples, rival: tuple[float, float] | None) -> list[Target]:
    one = "1 rank"
    found = [
        Target("one core, us for each body and step", samples.median(one, "core_us_per_body"), 5),
        Target("2 ranks: times as fast as 1", samples.ratio(one, "2 ranks"), 1.8, at_most=False),
        Target("2 nodes: times as fast as 1 rank", samples.ratio(one, "2 nodes"), 1.6, at_most=False),
    ]
    if rival is not None:
        found.append(Target("1 rank / BARNES at the same error", rival[0] / rival[1], 0.4))
    for nodes in ("2 nodes", "4 nodes"):
        ratio = fetched.ratio(nodes, f"{nodes}, unsorted", "pages_per_body")
        why_not = "the cache holds all pages, so without BodySort each is fetched only once or twice in a step"
        found.append(Target(f"{nodes}: page requests with BodySort / without", ratio, 0.2, why_not=why_not))
    found.append(
        Target("lines of the tree and the forces: shared / sequential", lines(SHARED) / lines(SEQUENTIAL), 1.5)
    )
    return found


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--size", type=int, help=f"bodies (default {SIZE})")
    parser.add_argument("--barnes", type=Path, help="the program BARNES of SPLASH-3, for comparison")
    chosen = parser.parse_args()
    small = chosen.small
    rounds = chosen.rounds or (1 if small else 3)
    size, steps = (SMALL_SIZE, SMALL_STEPS) if small else (SIZE, STEPS)
    size = chosen.size or size

    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, load {around['load_before']:.2f}")
    print(f"{rounds} rounds; medians, and the distance of the quartiles as spread")
    samples = harness.compete(speeds(chosen.build, size, steps), rounds, "speed", verified)
    show_speeds(size, samples)
    parts_size = min(size, PARTS_SIZE)
    divided = harness.compete(parts(chosen.build, parts_size, steps), rounds, "parts", verified)
    show_parts(parts_size, divided)
    fetched = harness.compete(pages(chosen.build, min(size, PAGES_SIZE)), 1, "pages", verified, warm_up=False)
    show_speeds(min(size, PAGES_SIZE), fetched)
    rival = barnes(chosen.barnes, chosen.build, size) if chosen.barnes else None
    if rival is not None:
        print(f"\nus for each body and step at the same error: 1 rank {rival[0]:.2f}, BARNES {rival[1]:.2f}")

    reached = [] if small else targets(samples, fetched, rival)
    print("" if small else "\nTargets")
    for target in reached:
        print(target.line())
    name = "barnes_hut_small" if small else "barnes_hut"
    kept = harness.write(
        chosen.out,
        name,
        around,
        {"speed": samples, "parts": divided, "pages": fetched},
        reached,
        {"barnes": rival},
    )
    picture = draw_parts(chosen.out / f"{name}.png", parts_size, divided)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
