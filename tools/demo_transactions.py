"""`./dev demo transactions`: a red-black tree and bank accounts that all ranks change.

How many operations a second transactions do, beside locks, on one node and on two; how often they are aborted when
accounts are few; and how often one transaction has to run again. Pictures are in out/demo/transactions. Takes about 20
seconds on two cores.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import harness
from demo import command_line, from_here
from harness import BenchmarkError, Contestant
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WAYS = ("transactions", "locks", "one-lock")
SHAPES = ((1, 1), (2, 1), (4, 1), (2, 2))  # ranks, nodes
ACCOUNTS = (2, 8, 32, 128, 1024)
HOT_ACCOUNTS, HOT_RANKS = 2, 4
OPERATIONS = 40000  # of each rank in a step

Report = dict[str, Any]


def run(programs: Path, shape: tuple[int, int], program: str, *options: object) -> Report:
    ranks, nodes = shape
    job: list[str | Path] = [programs / "hirobarun", "-n", str(ranks), "--nodes", str(nodes), "--threads", "1"]
    contestant = Contestant(program, [*job, programs / program, *map(str, options), "--verify", "--json", "-"])
    print(f"  $ {' '.join(map(str, contestant.command)).replace(f'{programs}/', '')}", flush=True)
    return harness.run_once(contestant)


def rate(report: Report) -> float:
    """Millions of operations a second."""
    return float(report["rate"]) * 1e3


def trees(programs: Path, operations: int) -> dict[str, list[float]]:
    print("A red-black tree of 256 keys, of which a fifth of the operations inserts or removes one:")
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    for shape in SHAPES:
        for way in WAYS:
            few = operations // (200 if shape[0] > 1 and way != "transactions" else 1)  # each waits for the last one
            report = run(programs, shape, "rbtree_hiroba", "--with", way, "--operations", few, "--steps", 5)
            rates[way].append(rate(report))
        print("    " + ", ".join(f"{way} {rates[way][-1]:.2f}" for way in WAYS) + " million operations/s")
    return rates


def banks(programs: Path, operations: int) -> list[tuple[float, float]]:
    print("\nTransfers between accounts, on 2 ranks of a node; the fewer accounts, the more conflicts:")
    found = []
    for accounts in ACCOUNTS:
        options = ["--size", accounts, "--read-all", 5, "--operations", operations, "--steps", 20]
        report = run(programs, (2, 1), "bank_hiroba", *options)
        found.append((rate(report), report["aborts"] / report["commits"]))
        print(f"    {found[-1][0]:.2f} million transfers/s, {found[-1][1]:.4f} aborts of each")
    return found


def retries(programs: Path, operations: int) -> dict[int, float]:
    """The number of transactions by how often they were aborted."""
    print(f"\n{HOT_ACCOUNTS} accounts, {HOT_RANKS} ranks on two nodes:")
    options = ["--size", HOT_ACCOUNTS, "--read-all", 0, "--operations", operations, "--steps", 20]
    report = run(programs, (HOT_RANKS, 2), "bank_hiroba", *options)
    counts = {int(name.removeprefix("after_")): n for name, n in report.items() if name.startswith("after_") and n > 0}
    if sum(counts.values()) != report["commits"]:
        raise BenchmarkError("the histogram of aborts does not have all transactions")
    print(f"    the worst transaction was aborted {report['most_aborts']} times; {report['irrevocable']} ran alone")
    return counts


def draw_trees(axes: Axes, rates: dict[str, list[float]]) -> None:
    width = 0.8 / len(WAYS)
    for number, way in enumerate(WAYS):
        places = [place + (number - 1) * width for place in range(len(SHAPES))]
        axes.bar(places, rates[way], width, label=way, color=harness.COLOURS[number])
    axes.set_xticks(
        range(len(SHAPES)),
        [f"{ranks} rank{'s' * (ranks > 1)},\n{nodes} node{'s' * (nodes > 1)}" for ranks, nodes in SHAPES],
    )
    axes.set_yscale("log")
    axes.set_ylabel("million operations/s")
    axes.set_title("red-black tree, 20 % updates", fontsize=10)
    axes.margins(y=0.25)
    axes.legend(frameon=False, fontsize=8, ncols=len(WAYS), loc="upper center")


def draw(path: Path, rates: dict[str, list[float]], found: list[tuple[float, float]], counts: dict[int, float]) -> Path:
    figure = Figure(figsize=(15, 4), layout="constrained")
    tree, bank, again = figure.subplots(1, 3)
    draw_trees(tree, rates)
    bank.plot(ACCOUNTS, [one for one, _ in found], "o-", color=harness.COLOURS[0])
    bank.set_xscale("log", base=2)
    bank.set_ylim(bottom=0)
    bank.set_xlabel("accounts, 2 ranks")
    bank.set_ylabel("million transfers/s", color=harness.COLOURS[0])
    aborts = bank.twinx()
    aborts.plot(ACCOUNTS, [100 * part for _, part in found], "s--", color=harness.COLOURS[1])
    aborts.set_ylim(bottom=0)
    aborts.set_ylabel("aborts of 100 commits", color=harness.COLOURS[1])
    bank.set_title("conflicts", fontsize=10)
    names = [str(least) if least < 2 else f"{least}-{2 * least - 1}" for least in counts]
    again.bar(names, list(counts.values()), color=harness.COLOURS[0])
    again.set_yscale("log")
    again.set_xlabel("times that it was aborted")
    again.set_ylabel("transactions")
    again.set_title(f"{HOT_ACCOUNTS} accounts, {HOT_RANKS} ranks on 2 nodes", fontsize=10)
    for axes in (tree, bank, again):
        axes.spines["top"].set_visible(False)
    figure.savefig(path, dpi=140)
    return path


def main() -> int:
    programs, folder, small = command_line(__doc__, "transactions")
    operations = OPERATIONS // 100 if small else OPERATIONS
    rates, found = trees(programs, operations), banks(programs, operations)
    picture = draw(folder / "transactions.png", rates, found, retries(programs, operations))
    print(f"\npicture: {from_here(picture)}\nTry next: docs/transactions.md, ./dev bench transaction")
    return 0


if __name__ == "__main__":
    harness.main(main)
