"""XcalableMP's global view: loops over aligned arrays beside loops over private ones, gmove beside a put into a coarray
and beside MPI_Alltoallw, reflect of a 3-D array beside a halo exchange with MPI, the Himeno benchmark beside MPI, and
how long hirobacc takes for many directives. bench/stencil2d and bench/npb have the stencil and CG in the global view.

Every program checks what it has computed or moved; a wrong answer ends the benchmark.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
import layers
from harness import BenchmarkError, Contestant, Samples, Target
from workshop import FLAGS, call_compiler

FOLDER = Path(__file__).resolve().parent
RIVAL = "mpi"
DIRECTIVES, LINES = 50, 1000


def compiled(build: Path, name: str, size: int, compiler: str) -> Path:
    folder = build / "bench" / "xmp"
    folder.mkdir(parents=True, exist_ok=True)
    command = build / "bin" / compiler if compiler == "hirobacc" else compiler
    program = folder / f"{name}_{size}"
    call_compiler([command, *FLAGS, f"-DN={size}", FOLDER / f"{name}.c", "-o", program, "-lm"])
    return program


def started(build: Path, name: str, program: list[str | Path], nodes: int = 1, ranks: int = 2) -> Contestant:
    shape = ["-n", str(ranks), "--nodes", str(nodes), "--threads", "1"]
    return Contestant(name, [build / "bin" / "hirobarun", *shape, *program], harness.threads(1))


def checked(contestant: Contestant) -> dict[str, Any]:
    """Returns what a run has printed, which must be right."""
    result = harness.run_once(contestant)
    if result.get("wrong") or len(set(result.get("sums", []))) > 1:
        raise BenchmarkError(f"{harness.shown(contestant)}\n  a wrong answer: {result}")
    return result


def himeno(build: Path, options: list[str], rounds: int) -> Samples:
    words: list[str | Path] = [build / "bin" / "himeno_global", *options]
    teams = [started(build, f"global view, {n} nodes", words, n) for n in (1, 2)]
    teams.append(Contestant(RIVAL, [*harness.mpirun(2), build / "bin" / "himeno_mpi", *options], harness.threads(1)))
    return harness.compete(teams, rounds, "himeno", harness.Checked(True))


def moves(build: Path, size: int, rounds: int) -> Samples:
    gmove = [compiled(build, "gmove", size, "hirobacc")]
    mpi: list[str | Path] = [*harness.mpirun(2), compiled(build, "alltoallw", size, "mpicc")]
    teams = [started(build, f"gmove, {n} nodes", [*gmove], n) for n in (1, 2)]
    return harness.compete([*teams, Contestant(RIVAL, mpi)], rounds, "gmove", checked)


def halos(build: Path, size: int, rounds: int) -> Samples:
    program = compiled(build, "reflect", size, "hirobacc")
    mpi: list[str | Path] = [*harness.mpirun(4), compiled(build, "halo", size, "mpicc")]
    teams = [started(build, f"reflect, {n} nodes", [program], n, 4) for n in (1, 2)]
    return harness.compete([*teams, Contestant(RIVAL, mpi, harness.threads(1))], rounds, "reflect", checked)


def many_lines() -> str:
    """Returns a program of LINES lines with DIRECTIVES directives, half of whose lines are in shared loops."""
    head = (
        "#include <stdio.h>\n#include <math.h>\n#include <xmp.h>\n#pragma xmp nodes p[*]\n#pragma xmp template t[100]\n"
    )
    head += "#pragma xmp distribute t[block] onto p\ndouble a[100][40], b[100][40];\n"
    head += "#pragma xmp align [i][*] with t[i] :: a, b\n#pragma xmp shadow a[1][0]\n#pragma xmp shadow b[1][0]\n"
    functions = (DIRECTIVES - 6) // 2
    calls = "".join(f"  step{i}({i});\n" for i in range(functions))
    end = f"int main(void) {{\n{calls}  return 0;\n}}\n"
    each, rest = divmod(LINES - head.count("\n") - end.count("\n"), functions)
    text = head
    for i in range(functions):
        text += f"static void step{i}(double c) {{\n  double kept[4] = {{c, {i}, 1, 2}};\n"
        ends = '    }\n  printf("%g\\n", kept[0]);\n}\n'
        loop = "#pragma xmp reflect(a)\n#pragma xmp loop on t[i]\n  for (int i = 1; i < 99; i++)\n"
        loop += "    for (int j = 1; j < 39; j++) {\n"
        left = each + (i < rest) - (2 + ends.count("\n") + loop.count("\n"))
        text += "".join(f"  kept[{k % 4}] += sqrt(kept[{(k + 1) % 4}] * {k}) - c;\n" for k in range(left // 2))
        text += loop
        text += "".join(
            f"      b[i][j] += {k} * (a[i - 1][j] + a[i + 1][j - 1]) * kept[{k % 4}];\n"
            for k in range(left - left // 2)
        )
        text += ends
    return text + end


def compile_seconds(build: Path) -> float:
    """The time for a file of many lines and directives, that of the C compiler included."""
    source = build / "bench" / "xmp" / "directives.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(many_lines())
    start = time.monotonic()
    call_compiler([build / "bin" / "hirobacc", "-O1", "-c", source, "-o", source.with_suffix(".o")])
    return time.monotonic() - start


def run() -> int:
    options = harness.arguments(__doc__ or "").parse_args()
    build, rounds = options.build.resolve(), options.rounds or (1 if options.small else 5)
    layers.allow_root()
    around = harness.circumstances()
    print(f"{around['cores']} cores, {around['cpu']}, {around['mpi']}, load {around['load_before']:.2f}")
    size = 512 if options.small else 8192
    samples = {
        "himeno": himeno(build, ["--size", "XS" if options.small else "M", "--steps", "10", "--json"], rounds),
        "gmove": moves(build, size, rounds),
        "reflect": halos(build, 32 if options.small else 256, rounds),
    }
    program = compiled(build, "loop", 32768, "hirobacc")
    loop = Contestant("loop", [build / "bin" / "hirobarun", "-n", "1", program, "50"])
    samples["loop"] = harness.compete([loop], rounds, "loop", checked)
    seconds = min(compile_seconds(build) for _ in range(rounds))
    for label, part in samples.items():
        rows = [["", "figure", "median"]]
        for name, runs in part.runs.items():
            metrics = [metric for metric, value in runs[0].items() if isinstance(value, float)]
            rows += [[name, metric, f"{part.median(name, metric):.4g}"] for metric in metrics]
        print(f"\n{label}\n{harness.table(rows)}")

    part, moved, loops = samples["himeno"], samples["gmove"], samples["loop"].runs["loop"]
    targets = [Target(f"a file of {LINES} lines with {DIRECTIVES} directives", seconds, 1.5, unit=" s")]
    for kind, limit in (("block", 1.02), ("cyclic", 1.5)):
        ratio = min(each[kind] / each["private"] for each in loops)
        targets.append(Target(f"loop over an aligned array, {kind} / private", ratio, limit))
    for n in (1, 2):
        name = f"gmove, {n} nodes"
        targets.append(Target(f"Himeno, {n} nodes / {RIVAL}", part.ratio(f"global view, {n} nodes", RIVAL), 1.05))
        targets.append(Target(f"{name}: block to cyclic / MPI_Alltoallw", moved.ratio(name, RIVAL, "cyclic"), 1.0))
        put = moved.median(name, "gmove") / moved.median(name, "put")
        targets.append(Target(f"{name}: consecutive section / put", put, 1.1))
        name = f"reflect, {n} nodes"
        ratio = samples["reflect"].ratio(name, RIVAL, "reflect")
        targets.append(Target(f"{name}, 4 ranks / halo exchange of {RIVAL}", ratio, 1.1))
    print("" if options.small else "\nTargets")
    for target in targets if not options.small else []:
        print(target.line())
    name = "xmp_small" if options.small else "xmp"
    print(f"\nkept in {harness.write(options.out, name, around, samples, targets)}")
    return 0


if __name__ == "__main__":
    harness.main(run)
