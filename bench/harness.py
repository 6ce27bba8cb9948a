"""What every benchmark here does: pit contestants against each other in one run and report medians and ratios.

A contestant is a command that checks its own answer, exits with a non-zero status if it is wrong, and prints one line
of JSON with numbers last. Contestants take turns, in a new order in every round, so that what the machine does besides
falls on all of them alike; a ratio is the median over the rounds of (this one / that one in the same round).

Use: `samples = compete(contestants, rounds)`, `Target(...)` for what must be reached, `write(...)` for the JSON file,
`plot(...)` for the picture. Nothing here runs in parallel.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CONTESTANT_SECONDS = 300  # no single run of a contestant may take longer, also beside other work


class BenchmarkError(Exception):
    """A contestant failed, gave a wrong answer, or is not there; the text says which and what to do."""


@dataclass
class Contestant:
    name: str
    command: Sequence[str | Path]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Samples:
    """Per contestant, the JSON object it printed in each round."""

    runs: dict[str, list[dict[str, Any]]]

    def values(self, name: str, metric: str = "seconds") -> list[float]:
        return [run[metric] for run in self.runs[name]]

    def median(self, name: str, metric: str = "seconds") -> float:
        return statistics.median(self.values(name, metric))

    def spread(self, name: str, metric: str = "seconds") -> float:
        """Distance between the quartiles, as a fraction of the median."""
        low, high = quartiles(self.values(name, metric))
        return (high - low) / self.median(name, metric)

    def ratios(self, name: str, other: str, metric: str = "seconds") -> list[float]:
        """name / other, round by round."""
        return [a / b for a, b in zip(self.values(name, metric), self.values(other, metric), strict=True)]

    def ratio(self, name: str, other: str, metric: str = "seconds") -> float:
        return statistics.median(self.ratios(name, other, metric))


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


@dataclass
class Target:
    """A figure that must be reached; `why_not` says what stands in the way where it cannot."""

    what: str
    value: float
    limit: float
    at_most: bool = True
    unit: str = ""
    why_not: str = ""

    @property
    def reached(self) -> bool:
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    def line(self) -> str:
        verdict = "reached    " if self.reached else "NOT REACHED"
        bound = "at most" if self.at_most else "at least"
        text = f"{verdict}  {self.what}: {self.value:.3g}{self.unit} ({bound} {self.limit:g}{self.unit})"
        return text if self.reached or not self.why_not else f"{text}\n             {self.why_not}"


def run_to_end(contestant: Contestant, seconds: float, remedy: str = "") -> subprocess.CompletedProcess[str]:
    """Runs it, with what it printed. `remedy` is what to do if it is not finished after `seconds`."""
    command = [str(word) for word in contestant.command]
    try:
        return subprocess.run(
            command,
            env=os.environ | contestant.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError as error:
        raise BenchmarkError(
            f"{shown(contestant)}\n  there is no {error.filename}; build it first: ./dev build"
        ) from error
    except subprocess.TimeoutExpired as error:
        advice = f"; {remedy}" if remedy else ""
        raise BenchmarkError(f"{shown(contestant)}\n  not finished after {seconds:g} s{advice}") from error


def shown(contestant: Contestant) -> str:
    """It and its command, as the first line of an error."""
    return f"{contestant.name}: {' '.join(str(word) for word in contestant.command)}"


def run_once(contestant: Contestant, seconds: float = CONTESTANT_SECONDS) -> dict[str, Any]:
    """Runs it and returns the JSON object in the last line of its output."""
    done = run_to_end(contestant, seconds)
    if done.returncode != 0:
        raise BenchmarkError(f"{shown(contestant)}\n  exit status {done.returncode}\n{done.stdout}{done.stderr}")
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError) as error:
        raise BenchmarkError(
            f"{shown(contestant)}\n  the last line of its output is not JSON:\n{done.stdout}"
        ) from error


def show_progress(text: str) -> None:
    """On standard error, over the last such line, if that is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def compete(
    contestants: Sequence[Contestant],
    rounds: int,
    label: str = "",
    run: Callable[[Contestant], dict[str, Any]] = run_once,
    warm_up: bool = True,
) -> Samples:
    """One run of each to warm up (not counted), then `rounds` rounds, each beginning with another contestant. A single
    round, which is to show that all contestants work, needs no warming up."""
    runs: dict[str, list[dict[str, Any]]] = {contestant.name: [] for contestant in contestants}
    for turn in range(-1 if warm_up and rounds > 1 else 0, rounds):
        first = max(turn, 0) % len(contestants)
        for contestant in [*contestants[first:], *contestants[:first]]:
            show_progress(f"{label} round {turn + 1} of {rounds}: {contestant.name}")
            result = run(contestant)
            if turn >= 0:
                runs[contestant.name].append(result)
    show_progress("")
    return Samples(runs)


class Checked:
    """Runs contestants, and compares the bits of their answers with those of the first run."""

    def __init__(self, compare: bool) -> None:
        self.compare = compare
        self.bits = ""

    def __call__(self, contestant: Contestant) -> dict[str, Any]:
        report = run_once(contestant)
        self.bits = self.bits or report["bits"]
        if self.compare and report["bits"] != self.bits:
            raise BenchmarkError(f"{shown(contestant)}\n  other bits than the first: {report['bits']}")
        return report


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns wide enough for their words; the first is flush left, the others flush right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [word.rjust(width) for word, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def figures(samples: Samples) -> list[list[str]]:
    """Rows for table(): each figure of each contestant, its median and spread."""
    rows = [["", "figure", "median", "spread"]]
    for label, runs in samples.runs.items():
        for metric in runs[0]:
            spread = f"{100 * samples.spread(label, metric):.0f} %"
            rows.append([label, metric, f"{samples.median(label, metric):.4g}", spread])
    return rows


def first_line(*command: str | Path) -> str:
    """Of what a command prints, such as its version; "" if there is no such command."""
    try:
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=20, check=False, cwd=ROOT
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout.strip() or done.stderr.strip()).partition("\n")[0]


def content(path: Path) -> str:
    """Of a file that not every kernel has; "" if it is not there."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def circumstances() -> dict[str, Any]:
    """What a reader needs to judge the figures."""
    return {
        "when": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "commit": first_line("git", "describe", "--always", "--dirty"),
        "cpu": cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
        "kernel": platform.release(),
        "compiler": first_line("cc", "--version"),
        "mpi": first_line("mpirun", "--version"),
        "huge_pages": content(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
        "tcp": content(Path("/proc/sys/net/ipv4/tcp_congestion_control")),
    }


def threads(count: int) -> dict[str, str]:
    """The environment for OpenMP: a thread that waits spins for some microseconds and then sleeps. Sleeping at once
    costs 40 us per loop; spinning for ever on a core that another needs costs that other one milliseconds."""
    return {"OMP_NUM_THREADS": str(count), "GOMP_SPINCOUNT": "3000"}


def mpirun(ranks: int) -> list[str]:
    """How MPI contestants start: ranks side by side, none waiting on a core that another needs."""
    return [
        *("mpirun", "-n", str(ranks), "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"),
        *("--mca", "mpi_yield_when_idle", "1"),
    ]


def write(
    folder: Path,
    name: str,
    around: dict[str, Any],
    samples: Mapping[str, Samples],
    targets: Sequence[Target],
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Keeps every sample, so that a later reader can ask other questions, and what the benchmark has more."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    record = {
        "circumstances": around,
        "samples": {label: part.runs for label, part in samples.items()},
        "targets": [asdict(target) | {"reached": target.reached} for target in targets],
        **(more or {}),
    }
    path.write_text(json.dumps(record, indent=1) + "\n")
    return path


def empty_panels(count: int, columns: int, sharey: bool) -> tuple[Any, Any]:
    """A figure of matplotlib's, and its grid of panels, of which `count` are there."""
    try:
        from matplotlib.figure import Figure  # here, for it takes a second and not every caller draws
    except ModuleNotFoundError as error:
        raise BenchmarkError(
            f"{error} in {sys.executable}; run it with the Python of ./dev: .venv/bin/python"
        ) from error
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(1 + 3.6 * columns, 0.6 + 3.4 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, sharey=sharey, squeeze=False)
    for axes in grid.flat[count:]:
        axes.remove()
    return figure, grid


# Colours that stay apart for colour-blind readers too (Okabe and Ito).
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999"]


def plot(
    path: Path,
    title: str,
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    axis: str,
    line: float | None = None,
    columns: int = 3,
    sharey: bool = True,
    log: bool = False,
) -> Path:
    """One panel per key: a bar per contestant at the median of its values, with the quartiles, and a dashed line to
    compare with. A contestant has the same colour in all panels."""
    names = list(dict.fromkeys(name for bars in panels.values() for name in bars))
    figure, grid = empty_panels(len(panels), columns, sharey)
    for axes, (label, bars) in zip(grid.flat, panels.items(), strict=False):
        for place, (name, values) in enumerate(bars.items()):
            middle = statistics.median(values)
            low, high = quartiles(values)
            colour = COLOURS[names.index(name) % len(COLOURS)]
            axes.bar(place, middle, 0.7, color=colour, yerr=[[middle - low], [high - middle]], capsize=3)
            plate = {"facecolor": "white", "alpha": 0.7, "pad": 0.5, "linewidth": 0}
            axes.text(place, high, f"{middle:.3g}", ha="center", va="bottom", fontsize=9, bbox=plate)
        axes.set_xticks(range(len(bars)), list(bars), rotation=30, ha="right", rotation_mode="anchor")
        axes.set_title(label, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        if log:
            axes.set_yscale("log")
        if line is not None:
            axes.axhline(line, color="black", linewidth=0.8, linestyle="--")
    for row in grid:
        row[0].set_ylabel(axis)
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140)
    return path


@dataclass
class Curve:
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float]  # to both sides


def plot_curves(
    path: Path,
    title: str,
    panels: Mapping[str, Mapping[str, Curve]],
    axes_names: tuple[str, str],
    columns: int = 3,
    log_x: bool = False,
) -> Path:
    """One panel per key, with its own legend: a line per name, with bars of error."""
    figure, grid = empty_panels(len(panels), columns, sharey=False)
    for axes, (label, curves) in zip(grid.flat, panels.items(), strict=False):
        for place, (name, curve) in enumerate(curves.items()):
            colour, dash = COLOURS[place % len(COLOURS)], "-" if place < len(COLOURS) else "--"
            style = {"color": colour, "linestyle": dash, "marker": ".", "capsize": 2}
            axes.errorbar(curve.x, curve.y, curve.error, label=name, **style)
        axes.set_title(label, fontsize=10)
        axes.set_xlabel(axes_names[0])
        axes.spines[["top", "right"]].set_visible(False)
        if log_x:
            axes.set_xscale("log", base=2)
        ticks = sorted({x for curve in curves.values() for x in curve.x})
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        axes.legend(fontsize=7, frameon=False)
    for row in grid:
        row[0].set_ylabel(axes_names[1])
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140)
    return path


def arguments(description: str, folder: str = "bench") -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    preset = os.environ.get("DEV_PRESET", "dev")
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--small", action="store_true", help="a quick version: checks that everything works")
    parser.add_argument("--rounds", type=int, help="runs of each contestant")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / preset, help="folder with the built programs")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / folder, help="folder for results")
    return parser


def main(run: Callable[[], int]) -> None:
    """Runs a benchmark; a contestant's failure is a message, not a traceback."""
    try:
        sys.exit(run())
    except BenchmarkError as error:
        sys.exit(f"benchmark failed: {error}")
