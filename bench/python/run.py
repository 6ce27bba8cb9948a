"""What `import hiroba` costs beside NumPy alone, C, and reading ahead by hand: cases.py says of each what it does.

numba's programs are measured where it is installed (tools/requirements-test.txt)."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import ROOT, BenchmarkError, Contestant, Samples, Target

CASES = Path(__file__).with_name("cases.py")
START = "import hiroba, numpy; hiroba.rank"  # in the order of a sorted list of imports


def launched(build: Path, ranks: int, nodes: int = 1) -> list[str | Path]:
    return [build / "bin" / "hirobarun", "-n", str(ranks), "--nodes", str(nodes)]


def python(build: Path, label: str, case: str, *words: str, ranks: int = 0, nodes: int = 1) -> Contestant:
    return interpreter(build, label, [CASES, case, *words], ranks, nodes)


def interpreter(build: Path, label: str, words: list[str | Path], ranks: int = 0, nodes: int = 1) -> Contestant:
    """Under hirobarun if there are ranks."""
    launcher = launched(build, ranks, nodes) if ranks else []
    paths = {"PYTHONPATH": str(ROOT / "python"), "LD_LIBRARY_PATH": str(build / "lib")}
    return Contestant(label, [*launcher, sys.executable, *words], paths)


def matches(build: Path, small: bool) -> dict[str, list[Contestant]]:
    elements = str(1 << 16 if small else 1 << 27)
    times = "1000" if small else "100000"
    found = {
        "stencil": [
            python(build, "NumPy", "numpy-stencil", elements),
            python(build, "2 ranks", "stencil", elements, ranks=2),
            python(build, "2 nodes", "stencil", elements, ranks=2, nodes=2),
        ],
        "read": [
            python(build, "preload and sum", "preload-sum", elements, ranks=2, nodes=2),
            python(build, "sum", "sum", elements, ranks=2, nodes=2),
        ],
        "elements": [
            python(build, "NumPy", "numpy-elements", times),
            python(build, "2 ranks", "elements", times, ranks=2),
        ],
        "slices": [
            python(build, "NumPy", "numpy-slices", times),
            python(build, "2 ranks", "slices", times, ranks=2),
        ],
        "start": [
            interpreter(build, "import numpy", ["-c", "import numpy"]),
            interpreter(build, "import hiroba", ["-c", START]),
            interpreter(build, "import hiroba, 1 rank", ["-c", START], ranks=1),
            interpreter(build, "import hiroba, 4 ranks", ["-c", START], ranks=4),
        ],
    }
    if importlib.util.find_spec("numba") is not None:
        words = ["128", "4"] if small else ["2048", "100"]
        found["jacobi"] = [
            Contestant("C", [*launched(build, 2), build / "bench" / "python" / "bench_python_jacobi", *words]),
            python(build, "numba", "jacobi", *words, ranks=2),
        ]
    return found


def timed(contestant: Contestant) -> dict[str, Any]:
    """The whole process, from outside."""
    begin = time.perf_counter()
    done = harness.run_to_end(contestant, harness.CONTESTANT_SECONDS)
    if done.returncode != 0:
        raise BenchmarkError(f"{harness.shown(contestant)}\n  exit status {done.returncode}\n{done.stderr}")
    return {"seconds": time.perf_counter() - begin}


def check(samples: Samples) -> None:
    """All contestants of a match have one answer."""
    answers = {name: runs[0]["answer"] for name, runs in samples.runs.items()}
    if any(not math.isclose(each, next(iter(answers.values())), rel_tol=1e-9) for each in answers.values()):
        raise BenchmarkError(f"the answers differ: {answers}")


def targets(samples: dict[str, Samples]) -> list[Target]:
    stencil, read, start = samples["stencil"], samples["read"], samples["start"]
    plain = start.median("import numpy")
    found = [
        Target("stencil, 2 nodes / NumPy", stencil.ratio("2 nodes", "NumPy"), 0.7),
        Target("stencil, 2 ranks of one node / NumPy", stencil.ratio("2 ranks", "NumPy"), 0.6),
        Target("first A.sum() / preload and sum", read.ratio("sum", "preload and sum"), 1.3),
        Target("A[i] = x / NumPy", samples["elements"].ratio("2 ranks", "NumPy"), 2),
        Target("A[i : i + 8] = row / NumPy", samples["slices"].ratio("2 ranks", "NumPy"), 2),
        Target("import hiroba - import numpy", start.median("import hiroba") - plain, 0.15, unit=" s"),
        Target("import hiroba, 1 rank - import numpy", start.median("import hiroba, 1 rank") - plain, 0.15, unit=" s"),
        Target("start of 4 ranks - import numpy", start.median("import hiroba, 4 ranks") - plain, 0.5, unit=" s"),
    ]
    if "jacobi" in samples:
        found.append(Target("Jacobi with numba / C", samples["jacobi"].ratio("numba", "C"), 1.05))
    return found


def run() -> int:
    options = harness.arguments(__doc__ or "").parse_args()
    rounds = options.rounds or (1 if options.small else 5)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # which would compile the package at each start
    around: dict[str, Any] = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, Linux {around['kernel']}, load {around['load_before']:.2f}\n")
    samples = {}
    for name, contestants in matches(options.build, options.small).items():
        by = timed if name == "start" else harness.run_once
        samples[name] = harness.compete(contestants, rounds, name, by)
        if name != "start":
            check(samples[name])
    rows = [["", "seconds", "spread"]]
    for name, found in samples.items():
        for label in found.runs:
            rows.append([f"{name}: {label}", f"{found.median(label):.4g}", f"{100 * found.spread(label):.0f} %"])
    print(harness.table(rows))
    met = [] if options.small else targets(samples)
    for target in met:
        print(target.line())
    name = "python_small" if options.small else "python"
    panels = {
        f"{match}: seconds (lower is better)": {label: found.values(label) for label in found.runs}
        for match, found in samples.items()
    }
    picture = harness.plot(options.out / f"{name}.png", "import hiroba", panels, "", sharey=False)
    kept = harness.write(options.out, name, around, samples, met)
    print(f"\nkept in {kept} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
