"""Loops against tasks: the programs of the A64FX task paper, each with the tile that is best for it.

For laplace, nbody and cholesky, with 2 ranks of 1 thread and with 1 rank of 2 threads: every variant that is built
verifies its answer; then each tile is tried; then all meet, each with its best tile. The picture shows on what their
threads spend the time, as figures 9, 12 and 15 of the paper. Variants over Hiroba take part where they are built; it
says what they must reach.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import count
import harness
from harness import BenchmarkError, Checked, Contestant, Samples, Target


@dataclass(frozen=True)
class App:
    """A program of the paper: the problem to time, and tiles to try; smaller ones for --small and to verify."""

    name: str
    size: int
    steps: int
    tiles: Sequence[str]
    small_size: int
    small_steps: int
    small_tiles: Sequence[str]
    limit: float  # of the time of tasks of Hiroba / that of RIVAL, 2 ranks x 1 thread
    same_bits: bool = True  # all variants, whatever the tile


APPS = {
    app.name: app
    for app in (
        # 8192 and 128 to 8192 in the paper; tiles of whole rows are long runs of memory.
        App("laplace", 8192, 20, ("256", "512", "1024", "2048", "4096", "4,8192", "16,8192", "64,8192", "256,8192"),
            200, 20, ("50", "30,200"), 0.95),
        App("nbody", 16384, 5, ("128", "256", "512", "1024", "2048", "4096", "8192"), 500, 4, ("50", "128"), 0.95),
        App("cholesky", 8192, 1, ("128", "256", "384", "512", "1024"), 300, 1, ("40", "100"), 0.85, same_bits=False),
    )
}  # fmt: skip

SHAPES = {"2 ranks x 1 thread": (2, 1), "1 rank x 2 threads": (1, 2)}
RIVAL = "mpi_for"  # what ratios are taken against
HIROBA, AUTO = "hiroba", "auto"
PEERS = {"lapack": 0.95, "starpu": 1.05}  # what the speed of HIROBA must be of theirs, 1 rank x 2 threads


@dataclass(frozen=True)
class Entry:
    """A variant in a shape: how it starts, without the options of the problem."""

    name: str
    launch: Sequence[str | Path]
    environment: Mapping[str, str]

    def contestant(self, words: Iterable[str], name: str = "") -> Contestant:
        return Contestant(name or self.name, [*self.launch, *words, "--json", "-"], dict(self.environment))


def entries(programs: Path, app: App, ranks: int, threads: int) -> list[Entry]:
    """All variants that are built and fit the shape. Variants in one process take part with 1 rank."""
    found = []
    for path in sorted(programs.glob(f"{app.name}_*")):
        variant = path.name.removeprefix(f"{app.name}_")
        environment = harness.threads(threads)
        if variant.startswith("mpi"):
            found.append(Entry(variant, [*harness.mpirun(ranks), path], environment))
        elif variant in (HIROBA, AUTO):
            for nodes in range(1, ranks + 1):
                shape = ["-n", str(ranks), "--nodes", str(nodes), "--threads", str(threads)]
                name = variant if nodes == 1 else f"{variant}, {nodes} nodes"
                found.append(Entry(name, [programs / "hirobarun", *shape, path], environment))
        elif ranks == 1:
            found.append(Entry(variant, [path], environment))
    if RIVAL not in [entry.name for entry in found]:
        raise BenchmarkError(f"there is no {programs / app.name}_{RIVAL}, the rival; build it first: ./dev build")
    return sorted(found, key=lambda entry: entry.name != RIVAL)


def problem(size: int, steps: int, tile: str) -> list[str]:
    return ["--size", str(size), "--steps", str(steps), "--tile", tile]


def verify(found: Sequence[Entry], app: App) -> None:
    """Each variant, with each of the small tiles: none divides the size, so that the last one is smaller."""
    for entry in found:
        for tile in app.small_tiles:
            words = [*problem(app.small_size + 1, app.small_steps, tile), "--verify"]
            harness.run_once(entry.contestant(words))


@dataclass(frozen=True)
class Result:
    """Of one application in one shape."""

    sweep: dict[str, dict[str, float]]  # by variant and tile: the fewest seconds
    best: dict[str, str]
    samples: Samples


def measure(
    app: App,
    found: Sequence[Entry],
    checked: Checked,
    rounds: int,
    small: bool,
    tiles: Sequence[str],
    label: str,
) -> Result:
    size, steps = (app.small_size, app.small_steps) if small else (app.size, app.steps)
    sweep: dict[str, dict[str, float]] = {entry.name: {} for entry in found}
    for tile in tiles:
        contestants = [entry.contestant(problem(size, steps, tile)) for entry in found]
        tried = harness.compete(contestants, 1 if small else 2, f"{label}, tile {tile}", checked)
        for entry in found:
            sweep[entry.name][tile] = min(tried.values(entry.name))
    best = {name: min(times, key=lambda tile: times[tile]) for name, times in sweep.items()}
    # The best of a sweep is flattered by its own noise, so what is reported is measured anew.
    contestants = [entry.contestant(problem(size, steps, best[entry.name])) for entry in found]
    return Result(sweep, best, harness.compete(contestants, rounds, label, checked))


def middle_split(samples: Samples, name: str) -> dict[str, float]:
    """The seconds of each category, medians over the rounds."""
    runs = [run["split"] for run in samples.runs[name]]
    return {category: statistics.median(run[category] for run in runs) for category in runs[0]}


def show(label: str, result: Result) -> None:
    samples = result.samples
    categories = list(middle_split(samples, RIVAL))
    rivals = [RIVAL, *[name for name in (HIROBA,) if name in samples.runs]]
    ratios = [f"time / {rival}" for rival in rivals]
    rows = [["", "tile", "ms", "spread", *ratios, "rate", *(f"{category} %" for category in categories)]]
    for name, runs in samples.runs.items():
        seconds = samples.median(name)
        split = middle_split(samples, name)
        rows.append(
            [
                name,
                result.best[name],
                f"{1e3 * seconds:.1f}",
                f"{100 * samples.spread(name):.0f} %",
                *(f"{samples.ratio(name, rival):.3f}" for rival in rivals),
                f"{samples.median(name, 'rate'):.3f} {runs[0]['unit']}",
                *(f"{100 * split.get(category, 0) / seconds:.1f}" for category in categories),
            ]
        )
    tiles = next(iter(result.sweep.values()))
    sweep = [["ms by tile", *tiles]]
    for name, times in result.sweep.items():
        sweep.append([name, *(f"{1e3 * times[tile]:.1f}" for tile in tiles)])
    print(f"\n{label}\n{harness.table(rows)}\n{harness.table(sweep)}", flush=True)


def targets(app: App, ranks: int, label: str, samples: Samples) -> list[Target]:
    """Of the tasks of Hiroba on one node, with the variants that are there."""
    if HIROBA not in samples.runs:
        return []
    split = middle_split(samples, RIVAL)
    kernels = sum(seconds for category, seconds in split.items() if category not in ("comm", "others"))
    why = f"the kernels alone take {kernels / samples.median(RIVAL):.3f} of the time of {RIVAL}"
    limits = {RIVAL: app.limit, "mpi_tasks": 1.0} if ranks > 1 else {}
    found = [
        Target(f"{label}: {HIROBA} / {rival}", samples.ratio(HIROBA, rival), limit, why_not=why)
        for rival, limit in limits.items()
        if rival in samples.runs
    ]
    for rival, limit in PEERS.items():
        if ranks == 1 and rival in samples.runs:
            what = f"{label}: speed of {HIROBA} / of {rival}"
            found.append(Target(what, samples.ratio(rival, HIROBA), limit, at_most=False))
    return found


def lines(app: App) -> list[Target]:
    """How much there is to write, without what variants share."""
    folder = Path(__file__).resolve().parents[2] / "apps" / app.name
    ours, auto, theirs = (
        count.count_text((folder / f"{app.name}_{file}").read_text(), "").lines
        for file in (f"{HIROBA}.cpp", f"{AUTO}.c", "mpi_tasks.c")
    )
    what = f"{app.name}: lines of {HIROBA} / of mpi_tasks ({ours}, {theirs}; {AUTO}: {auto})"
    return [Target(what, ours / theirs, 0.5)]


def plot(path: Path, results: Mapping[str, Result]) -> Path:
    """A panel for each application and shape; a bar for each variant, of the seconds of each category."""
    try:
        from matplotlib.figure import Figure  # here, for it takes a second and not every caller draws
    except ModuleNotFoundError as error:
        raise BenchmarkError(
            f"{error} in {sys.executable}; run it with the Python of ./dev: .venv/bin/python"
        ) from error

    columns = min(len(SHAPES), len(results))
    rows = -(-len(results) // columns)
    figure = Figure(figsize=(1 + 4.6 * columns, 0.6 + 3.4 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(results) :]:
        axes.remove()
    for axes, (label, result) in zip(grid.flat, results.items(), strict=False):
        names = list(result.samples.runs)
        bottom = [0.0] * len(names)
        splits = [middle_split(result.samples, name) for name in names]
        for index, category in enumerate(splits[0]):
            heights = [1e3 * split.get(category, 0) for split in splits]
            colour = "#999999" if category == "others" else harness.COLOURS[index % 6]
            axes.bar(range(len(names)), heights, 0.7, bottom=bottom, color=colour, label=category)
            bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
        for place, name in enumerate(names):
            ratio = result.samples.ratio(name, RIVAL)
            axes.text(place, bottom[place], f"{ratio:.2f}", ha="center", va="bottom", fontsize=9)
        ticks = [f"{name}\n({result.best[name]})" for name in names]
        axes.set_xticks(range(len(names)), ticks, rotation=30, ha="right", rotation_mode="anchor", fontsize=8)
        axes.set_ylim(0, 1.15 * max(bottom))
        axes.set_title(label, fontsize=10)
        axes.set_ylabel("ms, average of the threads")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1), reverse=True)
    figure.suptitle(f"Best tile of each; above the bars: time / time of {RIVAL}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140)
    return path


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--app", action="append", choices=APPS, help="only these (default: all that are built)")
    parser.add_argument("--shape", action="append", choices=SHAPES, help="only these shapes")
    parser.add_argument("--tile", action="append", help="only these tiles, as the programs take them")
    options = parser.parse_args()
    programs = options.build / "bin"
    rounds = options.rounds or (1 if options.small else 7)
    names = options.app or [name for name in APPS if any(programs.glob(f"{name}_{RIVAL}"))]

    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    print(f"{rounds} rounds; medians, and the distance of the quartiles as spread; split: average of the threads")
    results: dict[str, Result] = {}
    reached: list[Target] = []
    for name in names:
        app = APPS[name]
        checked = Checked(app.same_bits)
        tiles = options.tile or (app.small_tiles[:1] if options.small else app.tiles)
        for shape in options.shape or SHAPES:
            label = f"{name} {app.small_size if options.small else app.size}, {shape}"
            found = entries(programs, app, *SHAPES[shape])
            verify(found, app)
            results[label] = measure(app, found, checked, rounds, options.small, tiles, label)
            show(label, results[label])
            reached += targets(app, SHAPES[shape][0], label, results[label].samples)
        reached += lines(app)
    if not results:
        raise BenchmarkError(f"none of {', '.join(APPS)} is built in {programs}; build them first: ./dev build")

    kept = [] if options.small else reached
    print("\nTargets" if kept else "")
    for target in kept:
        print(target.line())
    name = "_".join(["tasks", *(options.app or []), *(["small"] if options.small else [])])
    picture = plot(options.out / f"{name}.png", results)
    more = {
        label: {"sweep": result.sweep, "best": result.best, "ratios": ratios(result)}
        for label, result in results.items()
    }
    samples = {label: result.samples for label, result in results.items()}
    print(f"\nkept in {harness.write(options.out, name, around, samples, kept, {'tiles': more})} and {picture}")
    return 0


def ratios(result: Result) -> dict[str, float]:
    return {name: result.samples.ratio(name, RIVAL) for name in result.samples.runs}


if __name__ == "__main__":
    harness.main(run)
