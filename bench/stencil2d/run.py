"""The 5-point stencil in every notation that is to be had: how long each program is, and how fast.

One grid, one checksum, one structure, one formatter; what all have alike is in common.h and not counted. Before any
time is taken, each program must print the checksum of Omni's laplace.c, and then, in every run, that of serial.c.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from contestants import FOLDER, PROGRAMS
from count import Count, count
from harness import BenchmarkError, Contestant, Samples, Target
from workshop import Workshop, name_of

OMNI_SIZE, OMNI_STEPS, OMNI_CHECKSUM = 64, 100, 5.5488557664881109
TOLERANCE = 1e-12  # relative: ranks and threads add in another order
SIZES = {1024: 2000, 4096: 60}  # steps, for some tenths of a second each
Shapes = list[tuple[int, tuple[int, ...]]]  # ranks, and over how many nodes
SHAPES: Shapes = [(1, (1,)), (2, (1, 2)), (4, (1, 2))]
SMALL_SHAPES: Shapes = [(2, (1, 2))]
OURS = ("sms", "mpc", "smint", "xmp")
RIVAL = "mpi"  # what times are divided by
# What lines are divided by: the paper's "Sequential (OpenMP)". Plain serial.c is in the table, too.
FEWEST_LINES = "omp"


def contestants(workshop: Workshop, size: int, steps: int, ranks: int, nodes: tuple[int, ...]) -> list[Contestant]:
    found = [workshop.start(program, size, steps, ranks, n) for n in nodes for program in workshop.programs]
    return [contestant for contestant in found if contestant is not None]


def alone(workshop: Workshop, size: int, steps: int) -> Contestant:
    """serial.c, which says what is right."""
    serial = next(program for program in workshop.programs if program.name == "serial")
    contestant = workshop.start(serial, size, steps, ranks=1)
    assert contestant is not None
    return contestant


def checked(contestant: Contestant, checksum: float) -> dict[str, Any]:
    """One run, of which the checksum is right."""
    result = harness.run_once(contestant)
    if not abs(result["checksum"] - checksum) <= TOLERANCE * abs(checksum):
        raise BenchmarkError(f"{contestant.name} computes {result['checksum']!r}, not {checksum!r}: {result}")
    return result


def check_all(workshop: Workshop, shapes: Shapes) -> None:
    """Omni's checksum, in every notation and shape."""
    checked(alone(workshop, OMNI_SIZE, OMNI_STEPS), OMNI_CHECKSUM)
    for ranks, nodes in shapes:
        for contestant in contestants(workshop, OMNI_SIZE, OMNI_STEPS, ranks, nodes):
            harness.show_progress(f"checking {contestant.name}, {ranks} ranks")
            checked(contestant, OMNI_CHECKSUM)
    harness.show_progress("")
    print(f"Verification = {OMNI_CHECKSUM:.16f} with {OMNI_SIZE}^2 points, {OMNI_STEPS} steps: printed by all programs")


def compete(workshop: Workshop, size: int, steps: int, ranks: int, nodes: tuple[int, ...], rounds: int) -> Samples:
    checksum = harness.run_once(alone(workshop, size, steps))["checksum"]
    teams = contestants(workshop, size, steps, ranks, nodes)
    return harness.compete(teams, rounds, label(size, ranks), lambda contestant: checked(contestant, checksum))


def label(size: int, ranks: int) -> str:
    return f"{size}^2, {ranks} rank{'s' if ranks > 1 else ''}"


def show(size: int, shapes: Shapes, texts: Mapping[str, Count], samples: Mapping[str, Samples]) -> None:
    """One line per notation: its text, and its time in every shape as a fraction of the rival's in that shape."""
    columns = [(ranks, n) for ranks, nodes in shapes for n in nodes]
    heads = [f"{ranks} rank{'s' if ranks > 1 else ''}" + (f", {n} nodes" if n > 1 else "") for ranks, n in columns]
    rows = [["", "lines", f"/ {FEWEST_LINES}", "tokens", "differ", *heads]]
    for name, text in texts.items():
        row = [
            name,
            str(text.lines),
            f"{text.lines / texts[FEWEST_LINES].lines:.2f}",
            str(text.tokens),
            str(text.differ),
        ]
        for ranks, nodes in columns:
            part, entry = samples[label(size, ranks)], name_of(name, nodes)
            row.append(f"{part.ratio(entry, RIVAL):.3f}" if entry in part.runs else "-")
        rows.append(row)
    times = [
        f"{1e6 * part.median(RIVAL) / part.runs[RIVAL][0]['steps']:.1f} us with {ranks}"
        for ranks, _ in shapes
        for part in [samples[label(size, ranks)]]
    ]
    print(f"\n{size} x {size} points: time / time of {RIVAL} with as many ranks")
    print(f"a step of {RIVAL} takes {', '.join(times)}")
    print(harness.table(rows), flush=True)


def targets(size: int, samples: Samples) -> list[Target]:
    """What must be reached: time of smint / time of MPI+OpenMP, with two ranks."""
    if "smint" not in samples.runs:
        return []
    over_nodes = name_of("smint", 2)
    steps = samples.runs["smint"][0]["steps"]
    more = 1e6 * (samples.median(over_nodes) - samples.median("smint")) / steps
    physical = f"omp, one process that copies nothing, takes {samples.ratio('omp', RIVAL):.3f} of {RIVAL}'s time"
    why_nodes = f"{more:.1f} us a step more than on one node; {physical}"
    what = f"{size}^2, 2 ranks: {{}} / {RIVAL}"
    return [
        Target(what.format("smint"), samples.ratio("smint", RIVAL), 0.97, why_not=physical),
        Target(what.format(over_nodes), samples.ratio(over_nodes, RIVAL), 0.95, why_not=why_nodes),
    ]


def scatter(path: Path, texts: Mapping[str, Count], panels: Mapping[str, Samples]) -> Path:
    """Lines against time. Full points are one node, hollow ones two; what stands on Hiroba has a colour of its own."""
    from matplotlib.figure import Figure  # here, for it takes a second and not every caller draws
    from matplotlib.ticker import LogLocator, NullFormatter

    figure = Figure(figsize=(1 + 5.2 * len(panels), 5.2), layout="constrained")
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
    seen = [ratio for samples in panels.values() for name in samples.runs for ratio in samples.ratios(name, RIVAL)]
    for axes, (title, samples) in zip(grid.flat, panels.items(), strict=True):
        axes.set_yscale("log")
        axes.set_ylim(0.8 * min(seen), 1.4 * max(seen))  # room for names
        for name, text in texts.items():
            colour = harness.COLOURS[0 if name in OURS else 1]
            top = 0.0
            for entry in (name, name_of(name, 2)):
                if entry not in samples.runs:
                    continue
                values = samples.ratios(entry, RIVAL)
                middle = statistics.median(values)
                low, high = harness.quartiles(values)
                face = colour if entry == name else "white"
                bar = [[middle - low], [high - middle]]
                axes.errorbar(text.lines, middle, bar, marker="o", ms=7, color=colour, mfc=face, capsize=3)
                top = max(top, high)
            if top > 0:
                axes.annotate(name, (text.lines, top), (0, 6), textcoords="offset points", rotation=50)
        axes.axhline(1, color="black", linewidth=0.8, linestyle="--")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.2, 1.5, 2, 3, 5, 7)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.margins(x=0.2)
        axes.set_xlabel("lines of code")
        axes.set_title(title, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    grid[0][0].set_ylabel(f"time / time of {RIVAL}")
    figure.suptitle("5-point stencil: short and fast is at the lower left\nfull: one node, hollow: 2 virtual nodes")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140)
    return path


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--size", type=int, action="append", help="only these sizes (1024, 4096)", choices=SIZES)
    options = parser.parse_args()
    sizes = {OMNI_SIZE: OMNI_STEPS} if options.small else {size: SIZES[size] for size in options.size or SIZES}
    shapes = SMALL_SHAPES if options.small else SHAPES
    rounds = options.rounds or (1 if options.small else 5)

    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    workshop = Workshop(options.build, "stencil2d", PROGRAMS)
    for size in {OMNI_SIZE, *sizes}:
        workshop.compile(size)
    for line in workshop.left_out:
        print(line)
    names = [program.name for program in workshop.programs]
    if RIVAL not in names:
        raise BenchmarkError(f"without {RIVAL} there is nothing to compare with")
    texts = {program.name: count(program.path, FOLDER / "serial.c") for program in workshop.programs}
    check_all(workshop, shapes)

    print(f"{rounds} rounds, one thread a rank (omp: as many threads as ranks); medians")
    samples: dict[str, Samples] = {}
    reached: list[Target] = []
    if "smint" in names:
        ratio = texts["smint"].lines / texts[FEWEST_LINES].lines
        reached.append(Target(f"lines: smint / {FEWEST_LINES}", ratio, 1.12))
        counts = {name: texts[name].lines for name in ("smint", FEWEST_LINES, "serial")}
        print(f"lines: {counts}; the paper's serial program, which the target is about, is {FEWEST_LINES}")
        print("  serial has no directive; its three loops and its arrays need one each, and the file an #include")
    for size, steps in sizes.items():
        for ranks, nodes in shapes:
            samples[label(size, ranks)] = compete(workshop, size, steps, ranks, nodes, rounds)
        show(size, shapes, texts, samples)
        reached += [] if options.small else targets(size, samples[label(size, 2)])

    print("" if options.small else "\nTargets")
    for target in reached:
        print(target.line())
    name = "stencil2d_small" if options.small else "stencil2d"
    panels = {label(size, 2): samples[label(size, 2)] for size in sizes}
    picture = scatter(options.out / f"{name}.png", texts, panels)
    around["programs"] = {program: asdict(text) for program, text in texts.items()}
    around["left_out"] = workshop.left_out
    print(f"\nkept in {harness.write(options.out, name, around, samples, reached)} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
