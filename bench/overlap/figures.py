"""What the runs of all rounds say about one configuration, and the pictures: the paper's bars, and efficiency over the
size of messages."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from contestants import FULL, MODES, NORMAL, SPARE

SCHEDULES = ("static", "dynamic")
Line = dict[str, Any]  # of JSON, as the program prints it


@dataclass(frozen=True)
class Case:
    library: str
    mode: str
    placement: str
    schedule: str
    ranks: int
    collective: str
    bytes: int
    m: int
    n: int


@dataclass(frozen=True)
class Figures:
    """Seconds are medians over the rounds; ratios are medians of the ratios of one round each."""

    comm: float
    nbcomm: float
    comp: float
    block: float
    ovlp: float
    ratio: float  # ovlp / block
    hidden: float  # (block - ovlp) / min(comm, comp)
    slowdown: float  # of the computation, while the collective is under way
    spread: float  # of block or ovlp, the larger: of the rounds, or of the repetitions of one
    same_bits: bool

    @property
    def hidden_known(self) -> bool:
        """Whether what can be hidden is more than the scatter of the times."""
        return min(self.comm, self.comp) >= self.spread * max(self.block, self.ovlp)

    @staticmethod
    def of(lines: Sequence[Line], statistic: str) -> Figures:
        def value(line: Line, phase: str) -> float:
            return float(line[phase][statistic])

        def median(phase: str) -> float:
            return statistics.median(value(line, phase) for line in lines)

        def hidden(line: Line) -> float:
            gain = value(line, "block") - value(line, "ovlp")
            return gain / min(value(line, "comm"), value(line, "comp"))

        def spread(phase: str) -> float:
            if len(lines) == 1 and statistic == "mean":
                return float(lines[0][phase]["sd"] / lines[0][phase]["mean"])
            if len(lines) == 1:
                return float((lines[0][phase]["q3"] - lines[0][phase]["q1"]) / lines[0][phase]["median"])
            low, high = harness.quartiles([value(line, phase) for line in lines])
            return (high - low) / median(phase)

        return Figures(
            comm=median("comm"),
            nbcomm=median("nbcomm"),
            comp=median("comp"),
            block=median("block"),
            ovlp=median("ovlp"),
            ratio=statistics.median(value(line, "ovlp") / value(line, "block") for line in lines),
            hidden=statistics.median(hidden(line) for line in lines),
            slowdown=statistics.median(value(line, "ovlp_comp") / value(line, "comp") for line in lines),
            spread=max(spread("block"), spread("ovlp")),
            same_bits=all(line["same_bits"] for line in lines),
        )


Found = dict[Case, Figures]


def as_json(found: Found) -> list[dict[str, Any]]:
    return [asdict(case) | asdict(figures) for case, figures in found.items()]


def from_json(rows: Iterable[dict[str, Any]]) -> Found:
    names = Case.__dataclass_fields__
    return {
        Case(**{name: row[name] for name in names}): Figures(
            **{name: value for name, value in row.items() if name not in names}
        )
        for row in rows
    }


def size_text(size: float) -> str:
    for unit, scale in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} B"


def ranks_text(ranks: int) -> str:
    return f"{ranks} rank{'s' if ranks > 1 else ''}"


def seconds_text(seconds: float) -> str:
    unit, scale = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * scale:.3g} {unit}"


def table(found: Found) -> str:
    head = ["", "size", "N", "placement", "schedule", "comm", "nbcomm", "comp", "block", "ovlp"]
    rows = [[*head, "ovlp/block", "hidden", "comp slower", "spread"]]
    for case, figures in found.items():
        times = (figures.comm, figures.nbcomm, figures.comp, figures.block, figures.ovlp)
        rows.append([
            f"{case.collective}: {case.library}, {case.mode}",
            size_text(case.bytes),
            str(case.n),
            case.placement,
            case.schedule,
            *map(seconds_text, times),
            f"{figures.ratio:.3f}",
            f"{figures.hidden:.2f}" if figures.hidden_known else "-",
            f"{figures.slowdown:.2f}",
            f"{100 * figures.spread:.0f} %",
        ])  # fmt: skip
    return harness.table(rows)


# ---- pictures --------------------------------------------------------------------------------------------------------

# As in the paper's figures 5 to 19: (a) to (d).
PANELS = [(SPARE, "static"), (FULL, "static"), (SPARE, "dynamic"), (FULL, "dynamic")]
PANEL_NAMES = {SPARE: "Spare core", FULL: "Fully subscribed"}
ALONE = ["comp+comm", "comp", "comm", "nbcomm", "blocking"]  # measured without a progress thread
BARS = [*ALONE, *MODES]
MOST_HIGHER = 3


def bar(name: str, by_mode: dict[str, Figures]) -> tuple[float, ...] | None:
    """What is stacked, from the bottom; None if it was not measured."""
    figures = by_mode.get(name if name in MODES else NORMAL)
    if figures is None:
        return None
    parts = {
        "comp+comm": (figures.comp, figures.comm),
        "comp": (figures.comp,),
        "comm": (figures.comm,),
        "nbcomm": (figures.nbcomm,),
        "blocking": (figures.block,),
    }
    return parts.get(name, (figures.ovlp,))


def draw_panel(axes: Any, found: Found, libraries: Sequence[str], unit: float) -> None:
    """Bars far above those of the fastest library are cut off, with their value: they would hide all others."""
    width = 0.84 / len(libraries)
    drawn: list[tuple[float, float, str]] = []  # place, height, library
    for index, library in enumerate(libraries):
        by_mode = {case.mode: figures for case, figures in found.items() if case.library == library}
        colour = harness.COLOURS[index % len(harness.COLOURS)]
        for place, name in enumerate(BARS):
            at = place + (index - (len(libraries) - 1) / 2) * width
            parts = bar(name, by_mode)
            if parts is None:
                continue
            below, above = parts[0] * unit, sum(parts[1:]) * unit
            axes.bar(at, below, width * 0.92, color=colour, label=library if name == "comp+comm" else None)
            axes.bar(at, above, width * 0.92, bottom=below, color="white", ec=colour, hatch="////", linewidth=0)
            drawn.append((at, below + above, library))
    if drawn:
        limit = MOST_HIGHER * min(max(height for _, height, of in drawn if of == library) for *_, library in drawn)
        axes.set_ylim(0, min(limit, 1.12 * max(height for _, height, _ in drawn)))
        for at, height, _ in drawn:
            if height > limit:
                axes.text(
                    at,
                    limit,
                    f"{height:.0f}" if height >= 100 else f"{height:.3g}",
                    rotation=90,
                    ha="center",
                    va="top",
                    fontsize=8,
                )
    axes.set_xticks(range(len(BARS)), BARS, rotation=35, ha="right", rotation_mode="anchor")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)


def bars(path: Path, found: Found, notes: dict[str, str]) -> Path | None:
    """One collective, one size, one number of ranks."""
    from matplotlib.figure import Figure  # here, for it takes a second and not every caller draws

    if not found:
        return None
    case = next(iter(found))
    libraries = list(dict.fromkeys(case.library for case in found))
    fastest = min(f.block for f in found.values())
    unit, name = (1e3, "ms") if fastest >= 1e-3 else (1e6, "us")
    figure = Figure(figsize=(12, 8.8), layout="constrained")
    grid = figure.subplots(2, 2)
    for letter, axes, (placement, schedule) in zip("abcd", grid.flat, PANELS, strict=True):
        part = {c: f for c, f in found.items() if (c.placement, c.schedule) == (placement, schedule)}
        draw_panel(axes, part, libraries, unit)
        axes.set_title(f"({letter}) {PANEL_NAMES[placement]}, {schedule}\n{notes.get(placement, '')}", fontsize=9)
        axes.set_ylabel(name)
        if not part:
            axes.text(0.5, 0.5, "not measured", ha="center", transform=axes.transAxes)
    handles, labels = next(axes for axes in grid.flat if axes.containers).get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(libraries), fontsize=9)
    size = f"{size_text(case.bytes)} (M={case.m})"
    title = f"{case.collective}, {size}, N={case.n}, {ranks_text(case.ranks)}; lower is better, hatched is comm"
    figure.suptitle(f"{title}\nthe last {len(MODES)}: overlapped, without and with a progress thread", fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path


# What is outside, an interrupted run for most, would hide the rest.
AXES = {"hidden": (-1.5, 1.3), "ratio": (0.25, 4.0), "slowdown": (0.25, 4.0)}
EFFICIENCY = {
    "hidden": "hidden part of communication\n(block - ovlp) / min(comm, comp)",
    "ratio": "ovlp / block",
    "slowdown": "slowdown of computation\nduring the collective",
}


def curve(found: Found, metric: str) -> tuple[list[int], list[float]]:
    """Over the sizes; without those at which the hidden part is lost in the scatter of the times."""
    values: dict[int, list[float]] = {}
    for case, figures in found.items():
        if metric != "hidden" or figures.hidden_known:
            values.setdefault(case.bytes, []).append(getattr(figures, metric))
    return sorted(values), [statistics.median(values[size]) for size in sorted(values)]


def efficiency(path: Path, found: Found) -> Path | None:
    """One column per collective and placement, over the size of the messages; loops are static."""
    from matplotlib.figure import Figure

    shown = {case: f for case, f in found.items() if case.schedule == "static" and case.bytes > 0}
    columns = sorted({(case.collective, case.placement) for case in shown})
    teams = list(dict.fromkeys((case.library, case.mode) for case in shown))
    libraries = list(dict.fromkeys(library for library, _ in teams))
    if not columns:
        return None
    figure = Figure(figsize=(2 + 3.5 * len(columns), 9), layout="constrained")
    grid = figure.subplots(len(EFFICIENCY), len(columns), squeeze=False, sharex=True, sharey="row")
    styles = dict(zip(MODES, (("-", "o"), ("--", "s"), (":", "^"), ("-.", "v")), strict=True))
    for row, (metric, text) in zip(grid, EFFICIENCY.items(), strict=True):
        row[0].set_ylabel(text)
        for axes, (collective, placement) in zip(row, columns, strict=True):
            for library, mode in teams:
                here = {case: f for case, f in shown.items() if (case.library, case.mode) == (library, mode)}
                part = {
                    case: f for case, f in here.items() if (case.collective, case.placement) == (collective, placement)
                }
                sizes, middle = curve(part, metric)
                dash, marker = styles[mode]
                colour = harness.COLOURS[libraries.index(library) % len(harness.COLOURS)]
                axes.plot(sizes, middle, dash, marker=marker, ms=4, color=colour, label=f"{library}, {mode}")
            axes.axhline(0 if metric == "hidden" else 1, color="black", linewidth=0.8)
            axes.set_xscale("log", base=2)
            axes.spines[["top", "right"]].set_visible(False)
            if metric != "hidden":
                axes.set_yscale("log", base=2)
                axes.yaxis.set_major_formatter("{x:g}")
        row[0].set_ylim(*AXES[metric])
    for axes, (collective, placement) in zip(grid[0], columns, strict=True):
        axes.set_title(f"{collective}, {PANEL_NAMES[placement].lower()}", fontsize=10)
    sizes = sorted({case.bytes for case in shown})
    for axes in grid[-1]:
        axes.set_xlabel("bytes for each destination")
        axes.set_xticks(sizes, map(size_text, sizes), rotation=35, ha="right", rotation_mode="anchor")
        axes.minorticks_off()
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(teams), fontsize=9)
    ranks = next(iter(shown)).ranks
    unknown = sum(not figures.hidden_known for figures in shown.values())
    beyond = sum(
        not AXES[metric][0] <= getattr(figures, metric) <= AXES[metric][1]
        for figures in shown.values()
        for metric in EFFICIENCY
        if metric != "hidden" or figures.hidden_known
    )
    left_out = f"outside of the axes: {beyond} points; hidden below the scatter of times: {unknown}"
    figure.suptitle(f"Efficiency of overlap, {ranks_text(ranks)}, static loops\n{left_out}", fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path
