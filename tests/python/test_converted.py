"""Programs for NumPy that have become programs of all ranks, converted/NAME_numpy.py and converted/NAME.py: few lines
differ, apart from indentation, and they print the same on 1 to 4 ranks."""

from __future__ import annotations

import argparse
import difflib
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).with_name("converted")
MOST_LINES = 8
RANKS_AND_NODES = ((1, 1), (2, 2), (3, 2), (4, 2))
WORDS = {"water": ("24", "30"), "kmeans": ("3000", "3", "6", "100"), "lattice": ("20", "36", "31")}


def lines(program: pathlib.Path) -> list[str]:
    """Those of code, without indentation."""
    code = program.read_text().split('"""', 2)[2]
    return [line.strip() for line in code.splitlines() if line.strip()]


def changed(before: pathlib.Path, after: pathlib.Path) -> list[str]:
    return [line for line in difflib.ndiff(lines(before), lines(after)) if line.startswith("+ ")]


def printed(*command: object) -> str:
    job = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False)
    if job.returncode != 0 or "Warning" in job.stderr:
        sys.exit(f"{command}: status {job.returncode}\n{job.stderr}")
    return job.stdout


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    launcher = parser.parse_args().bin / "hirobarun"
    for name, words in WORDS.items():
        before, after = FOLDER / f"{name}_numpy.py", FOLDER / f"{name}.py"
        differ = changed(before, after)
        if len(differ) > MOST_LINES:
            sys.exit(f"{after} has {len(differ)} lines that {before} has not:\n" + "\n".join(differ))
        expected = printed(sys.executable, before, *words)
        for ranks, nodes in RANKS_AND_NODES:
            got = printed(launcher, "-n", ranks, "--nodes", nodes, sys.executable, "-B", after, *words)
            if got != expected:
                sys.exit(f"{after} on {ranks} ranks printed {got!r}, and {before} {expected!r}")
        print(f"{name}: {len(differ)} lines")


main()
