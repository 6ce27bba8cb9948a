"""The 27-point stencil with temporal blocking: over shared arrays against MPI+OpenMP with the same blocking, several
depths against one another, and both beside the bounds of memory and arithmetic (the roofline).

Every run verifies its answer against the exact solution; a wrong one ends the benchmark.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Samples, Target

SIZE, STEPS = 512, 16
SMALL_SIZE, SMALL_STEPS = 64, 8
DEPTH = 4
DEPTHS = (1, 2, 4, 8)

# A point is read and written once in a step; a line is also read before it is written.
BYTES = 24
FLOPS = 20  # adds and multiplies of a new point, as block.c computes it
TRIAD_MIB, SMALL_TRIAD_MIB = 64, 4
# With its data in the cache: what arithmetic alone allows.
CACHED = ["--size", "256,14,8", "--depth", "1"]
CACHED_STEPS, SMALL_CACHED_STEPS = 6000, 100


def start(build: Path, ranks: int, nodes: int) -> list[str | Path]:
    return [build / "bin" / "hirobarun", "-n", str(ranks), "--nodes", str(nodes), "--threads", "1"]


def options(size: int, steps: int, depth: int) -> list[str]:
    return ["--size", str(size), "--steps", str(steps), "--depth", str(depth), "--verify", "--json"]


def rivals(build: Path, size: int, steps: int) -> list[Contestant]:
    """On two ranks of one thread."""
    programs = build / "bin"
    common = options(size, steps, DEPTH)
    commands: dict[str, list[str | Path]] = {
        "mpi": [*harness.mpirun(2), programs / "stencil27_mpi", *common],
        "sms": [*start(build, 2, 1), programs / "stencil27_sms", *common],
        "sms, 2 nodes": [*start(build, 2, 2), programs / "stencil27_sms", *common],
        "smint": [*start(build, 2, 1), programs / "stencil27_smint", *common],
        "smint, 2 nodes": [*start(build, 2, 2), programs / "stencil27_smint", *common],
    }
    return [Contestant(name, command, harness.threads(1)) for name, command in commands.items()]


def depths(build: Path, size: int, steps: int) -> list[Contestant]:
    program = build / "bin" / "stencil27_sms"
    return [
        Contestant(f"{depth}", [*start(build, 2, 1), program, *options(size, steps, depth)], harness.threads(1))
        for depth in DEPTHS
    ]


def one_core(build: Path, size: int, steps: int, cached_steps: int, mebibytes: int) -> list[Contestant]:
    """STREAM's triad, the stencil with its data in the cache, and the stencil."""
    program = build / "bin" / "stencil27_sms"
    one = start(build, 1, 1)
    triad = [*one, build / "bench" / "memory" / "bench_memory", "triad", str(mebibytes)]
    slab = f"{size},{size},{max(size // 4, 16)}"
    commands: dict[str, list[str | Path]] = {"triad": triad}
    commands["in the cache"] = [
        build / "bin" / "stencil27_seq",
        *CACHED,
        "--steps",
        str(cached_steps),
        "--verify",
        "--json",
    ]
    for depth in (1, DEPTH):
        commands[f"depth {depth}"] = [*one, program, "--size", slab, *options(0, steps, depth)[2:]]
    return [Contestant(name, command, harness.threads(1)) for name, command in commands.items()]


def verified(contestant: Contestant) -> dict[str, Any]:
    result = harness.run_once(contestant)
    if "glups" in result and result["error"] is None:
        raise BenchmarkError(f"{harness.shown(contestant)}\n  it did not verify its answer")
    return result


def show(label: str, samples: Samples, against: str) -> None:
    rows = [["", "ms/step", "spread", "GLUP/s", f"time / {against}", "MiB/step"]]
    for name, runs in samples.runs.items():
        steps, counters = runs[0]["steps"], runs[-1]["counters"]
        rows.append(
            [
                name,
                f"{1e3 * samples.median(name) / steps:.1f}",
                f"{100 * samples.spread(name):.0f} %",
                f"{samples.median(name, 'glups'):.3f}",
                f"{samples.ratio(name, against):.3f}",
                f"{counters.get('bytes_fetched', 0) / steps / 2**20:.2f}",
            ]
        )
    print(f"\n{label}\n{harness.table(rows)}", flush=True)


def bounds(samples: Samples) -> tuple[float, float]:
    """GLUP/s of one core that memory and arithmetic allow without temporal blocking."""
    return samples.median("triad", "GB/s") / BYTES, samples.median("in the cache", "glups")


def show_one_core(samples: Samples) -> None:
    memory, arithmetic = bounds(samples)
    rows = [["", "GLUP/s", "spread", "/ memory's bound", "/ arithmetic's bound"]]
    for name in samples.runs:
        if name == "triad":
            continue
        found = samples.median(name, "glups")
        spread = f"{100 * samples.spread(name, 'glups'):.0f} %"
        rows.append([name, f"{found:.3f}", spread, f"{found / memory:.2f}", f"{found / arithmetic:.2f}"])
    triad = samples.median("triad", "GB/s")
    print(
        f"\none core; triad {triad:.1f} GB/s, at {BYTES} B per point {memory:.3f} GLUP/s\n{harness.table(rows)}",
        flush=True,
    )


def targets(against: Samples, deep: Samples, core: Samples) -> list[Target]:
    noise = max(against.spread("mpi"), 0.02)
    found = [
        Target(
            f"{name} / mpi, depth {DEPTH}",
            against.ratio(name, "mpi"),
            1 + noise,
            why_not="the limit is 1 and the spread of the rival in this run",
        )
        for name in against.runs
        if name != "mpi"
    ]
    best = min(DEPTHS[1:], key=lambda depth: deep.median(f"{depth}"))
    gain = deep.ratio("1", f"{best}")
    memory, arithmetic = bounds(core)
    most = arithmetic / core.median("depth 1", "glups")
    why_not = f"with all data in the cache a step is {most:.2f} times as fast as one without blocking"
    found.append(Target(f"2 ranks: depth {best} / depth 1", gain, 1.6, at_most=False, why_not=why_not))
    near = min(memory, arithmetic)
    found.append(
        Target(
            f"one core, depth 1 / bound of {'memory' if near == memory else 'arithmetic'}",
            core.median("depth 1", "glups") / near,
            0.8,
            at_most=False,
            why_not=f"memory allows {memory:.2f} GLUP/s, arithmetic {arithmetic:.2f}; a core overlaps them in part",
        )
    )
    return found


def draw_roofline(path: Path, core: Samples, deep: Samples) -> Path:
    """Of one core: GLUP/s over the steps that a point makes for each time that it comes from memory."""
    memory, arithmetic = bounds(core)
    steps = [2 ** (k / 8) for k in range(-8, 33)]
    figure, grid = harness.empty_panels(1, 1, sharey=False)
    axes = grid[0][0]
    roof = [min(memory * n, arithmetic) for n in steps]
    axes.loglog([FLOPS * n / BYTES for n in steps], [FLOPS * bound for bound in roof], color="black", label="bound")
    for place, depth in enumerate(DEPTHS):
        speed = statistics.median(deep.values(f"{depth}", "glups")) / 2
        label = f"{depth} steps at once"
        axes.plot(FLOPS * depth / BYTES, FLOPS * speed, "o", color=harness.COLOURS[place], label=label)
    axes.set_xlabel("operations for each byte of memory traffic")
    axes.set_ylabel("GFLOP/s of one core of two")
    axes.set_title("27-point stencil: roofline")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=140)
    return path


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--size", type=int, help=f"points in each direction (default {SIZE})")
    chosen = parser.parse_args()
    small = chosen.small
    rounds = chosen.rounds or (2 if small else 5)
    size, steps = (SMALL_SIZE, SMALL_STEPS) if small else (SIZE, STEPS)
    size = chosen.size or size

    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    print(f"{rounds} rounds; medians, and the distance of the quartiles as spread")
    label = f"{size}^3, 2 ranks"
    against = harness.compete(rivals(chosen.build, size, steps), rounds, label, verified)
    show(f"{label}, {DEPTH} steps at once", against, "mpi")
    deep = harness.compete(depths(chosen.build, size, steps), rounds, "depths", verified)
    show(f"{label}, steps at once", deep, "1")
    sizes = (SMALL_CACHED_STEPS, SMALL_TRIAD_MIB) if small else (CACHED_STEPS, TRIAD_MIB)
    core = harness.compete(one_core(chosen.build, size, steps, *sizes), rounds, "one core", verified)
    show_one_core(core)

    reached = [] if small else targets(against, deep, core)
    print("" if small else "\nTargets")
    for target in reached:
        print(target.line())
    name = "stencil27_small" if small else "stencil27"
    panels = {
        f"{label}: time / mpi": {name: against.ratios(name, "mpi") for name in against.runs},
        f"{label}: GLUP/s by steps at once": {name: deep.values(name, "glups") for name in deep.runs},
    }
    picture = harness.plot(chosen.out / f"{name}.png", "27-point stencil", panels, "", sharey=False)
    roofline = draw_roofline(chosen.out / f"{name}_roofline.png", core, deep)
    parts = {label: against, "depths": deep, "one core": core}
    print(f"\nkept in {harness.write(chosen.out, name, around, parts, reached)}, {picture} and {roofline}")
    return 0


if __name__ == "__main__":
    harness.main(run)
