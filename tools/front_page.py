"""The costs on the front page: docs/results/front-page.json is their source, the plot and the table in
docs/measurements.md are made of it. `update()` takes new figures from the files that bench/harness.py writes: "from" of
each figure says of which file, which samples, and which contestants. Python standard library only."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

from drawing import FAINT, GREEN, GREY, INK, ORANGE, WIDTH, Drawing

HEAD = "| what | time / rival's | repeat it |\n|---|---|---|\n"
LEFT, RIGHT, VALUE = 400, 724, 786  # of the plot's axis, and where the figures end


def path_of(root: Path) -> Path:
    return root / "docs" / "results" / "front-page.json"


def read(root: Path) -> dict[str, Any]:
    return json.loads(path_of(root).read_text())


# ---- new figures -----------------------------------------------------------------------------------------------------


def measured(samples: dict[str, Any], source: dict[str, Any]) -> float:
    """The median over the rounds; of one contestant's own ratio, or of the ratio of two contestants."""
    runs = samples[source["samples"]]
    values = [run[source["metric"]] for run in runs[source["name"]]]
    if "other" in source:
        metric = source.get("other metric", source["metric"])
        others = [run[metric] for run in runs[source["other"]]]
        values = [source.get("scale", 1) * mine / other for mine, other in zip(values, others, strict=True)]
    middle = statistics.median(values)
    return round(1 / middle if source.get("inverse") else middle, 2)


def update(root: Path, folder: Path) -> None:
    """Figures of benchmarks that have no file in the folder stay, unless the processor is another one."""
    results = read(root)
    figures = [figure for row in results["rows"] for figure in row["figures"]]
    kept = {name: folder / f"{name}.json" for name in {figure["from"]["result"] for figure in figures}}
    records = {name: json.loads(path.read_text()) for name, path in kept.items() if path.exists()}
    if not records:
        sys.exit(f"there is none of {', '.join(sorted(map(str, kept.values())))}; run ./dev bench first")
    processors = {record["circumstances"]["cpu"] for record in records.values()}
    if len(records) < len(kept) and processors != {results["circumstances"]["cpu"]}:
        missing = ", ".join(sorted(set(kept) - set(records)))
        sys.exit(f"these figures are of another processor than the others; run ./dev bench {missing}, too")
    for figure in figures:
        record = records.get(figure["from"]["result"])
        if record:
            figure["ratio"] = measured(record["samples"], figure["from"])
            figure["when"] = record["circumstances"]["when"][:10]
    latest = max((record["circumstances"] for record in records.values()), key=lambda around: around["when"])
    results["circumstances"] = {key: latest[key] for key in results["circumstances"]}
    path_of(root).write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


# ---- the table and the plot ------------------------------------------------------------------------------------------


def with_table(page: str, results: dict[str, Any]) -> str:
    """The page, its table made anew."""
    before, head, after = page.partition(HEAD)
    if not head:
        sys.exit(f"docs/measurements.md has no table that begins with {HEAD!r}")
    rows = ""
    for row in results["rows"]:
        ratios = ", ".join(f"{figure['ratio']:.2f}" for figure in row["figures"])
        rows += f"| {row['what']} | {ratios} | `{row['command']}` |\n"
    return before + head + rows + after[after.index("\n\n") + 1 :]


def described(results: dict[str, Any]) -> str:
    around = results["circumstances"]
    days = sorted(figure["when"] for row in results["rows"] for figure in row["figures"])
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return f"{around['cpu']}, {around['cores']} cores, Linux {around['kernel']}, {around['mpi']}; {when}"


def plot(results: dict[str, Any]) -> Drawing:
    bars = [(row, figure) for row in results["rows"] for figure in row["figures"]]
    highest = max(abs(figure["ratio"] - 1) for _, figure in bars)
    reach = 0.2 if highest < 0.2 else highest * 1.1
    bottom = 66 + 22 * len(bars)
    d = Drawing(bottom + 52, "Time of Hiroba / time of the rival")

    def place(ratio: float) -> float:
        return LEFT + (ratio - 1 + reach) / (2 * reach) * (RIGHT - LEFT)

    d.text(20, 26, "Time of Hiroba / time of the rival", 15, bold=True)
    d.text(place(1) - 12, 50, "← faster", 12, "end", GREEN)
    d.text(place(1) + 12, 50, "slower →", 12, "start", ORANGE)
    for tenth in range(-int(10 * reach), int(10 * reach) + 1):
        x = place(1 + tenth / 10)
        d.line([(x, 58), (x, bottom)], INK if tenth == 0 else GREY)
        d.text(x, bottom + 16, f"{1 + tenth / 10:.1f}", 12, "middle", FAINT)
    for number, (row, figure) in enumerate(bars):
        y = 74 + 22 * number
        if figure is row["figures"][0]:
            d.text(20, y + 4, row["plot"], 12)
        d.text(LEFT - 8, y + 4, figure["label"], 12, "end", FAINT)
        colour = GREEN if figure["ratio"] <= 1 else ORANGE
        left, right = sorted((place(1), place(figure["ratio"])))
        d.box(left, y - 6, max(right - left, 2), 12, colour, colour, round_=0)
        d.text(VALUE, y + 4, f"{figure['ratio']:.2f}", 12, "end", bold=True)
    d.text(20, bottom + 40, f"Medians of paired runs. {described(results)}", 11, "start", FAINT)
    assert VALUE < WIDTH
    return d
