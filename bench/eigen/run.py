"""The 4 smallest eigenvalues by hiroba-eigen against SLEPc's Jacobi-Davidson and PRIMME's GD+k: products of the matrix
and time until residuals are 1e-10; two virtual nodes against one.

Before a figure counts, the eigenvalues of each contestant are compared with the exact ones, double ones twice. A rival
that misses one is left out of that problem's targets, and the table says so. SLEPc is compiled if pkg-config finds it
(slepc, real numbers; --slepc-complex FOLDER:FOLDER: where the pkg-config files of one with complex numbers are).
PRIMME is used if --primme PYTHON names a Python that has it.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Samples, Target

FOLDER = Path(__file__).resolve().parent
TOLERANCE = 1e-10
COUNT = 4
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# kind, points, which rivals (products and time), options of ours
PROBLEMS = [("laplace2d", 100), ("ring", 1000), ("laplace3d", 100), ("laplace2d", 1000)]
SMALL = [("laplace2d", 20), ("ring", 60), ("laplace3d", 7)]
NONE, ILU, MILU = (["--precondition", how] for how in ("none", "ilu", "milu"))
WAYS = {
    "hiroba, GD+k": [*NONE, "--correction", "none"],
    "hiroba, GD+k, MILU": [*MILU, "--correction", "none"],
    "hiroba, JD, ILU": [*ILU, "--correction", "minres:100"],
    "hiroba, JD, MILU": [*MILU, "--correction", "minres:100"],
}
LARGE = 500_000  # rows, from which on only the last way is measured: the others pass through many vectors per step
SLEPC_WAYS = {"slepc": [], "slepc, GMRES": ["-st_ksp_type", "gmres"]}


def exact(kind: str, n: int) -> list[float]:
    if kind == "ring":
        return sorted(2 - 2 * math.cos((2 * math.pi * k + 1) / n) for k in range(n))[:COUNT]
    line = [4 * math.sin(math.pi * (k + 1) / (2 * (n + 1))) ** 2 for k in range(min(n, COUNT))]
    out = [0.0]
    for _ in range(3 if kind == "laplace3d" else 2):
        out = [a + b for a in out for b in line]
    return sorted(out)[:COUNT]


def slepc(build: Path, folders: str | None) -> Path | None:
    """SLEPc's program, compiled for real or, with folders, complex numbers; none without the library."""
    environment = dict(os.environ)
    if folders is not None:
        environment["PKG_CONFIG_PATH"] = f"{folders}:{environment.get('PKG_CONFIG_PATH', '')}"
    done = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "slepc", "petsc"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or shutil.which("mpicc") is None:
        return None
    program = build / "bench" / "eigen" / ("slepc" if folders is None else "slepc_complex")
    program.parent.mkdir(parents=True, exist_ok=True)
    command = [
        "mpicc",
        "-O3",
        "-march=native",
        *([] if folders is None else ["-DWANTS_COMPLEX"]),
        str(FOLDER / "slepc.c"),
        *done.stdout.split(),
        "-lm",
        "-o",
        str(program),
    ]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise BenchmarkError(f"cannot compile {program.name}:\n{made.stderr}")
    return program


def run_once(contestant: Contestant) -> dict[str, Any]:
    """The largest problem takes minutes, of rivals up to ten."""
    return harness.run_once(contestant, 900)


class Bench:
    def __init__(self, options: Any) -> None:
        self.build = options.build.resolve()
        self.small, self.rounds = options.small, options.rounds or (1 if options.small else 3)
        self.primme = options.primme
        self.slepc = {"real": slepc(self.build, None)}
        self.slepc["complex"] = slepc(self.build, options.slepc_complex) if options.slepc_complex else None
        for numbers, program in self.slepc.items():
            if program is None:
                print(f"left out: SLEPc with {numbers} numbers (Debian: slepc-dev)")
        if self.primme is None:
            print("left out: PRIMME (--primme PYTHON, where `pip install primme` has put it)")
        self.samples: dict[str, Samples] = {}
        self.targets: list[Target] = []

    def ours(self, name: str, kind: str, n: int, words: list[str], ranks: int = 1, nodes: int = 1) -> Contestant:
        tools = self.build / "bin"
        launcher = [tools / "hirobarun", "-n", str(ranks), "--nodes", str(nodes), tools / "hiroba-eigen"]
        problem = f"ring:{n}:1" if kind == "ring" else f"{kind}:{n}"
        command = [*launcher, "--generate", problem, "--smallest", str(COUNT), "--absolute", str(TOLERANCE), "--json",
                   "--tol", "0", "--quiet", *words]  # fmt: skip
        return Contestant(name, command, ALONE)

    def rivals(self, kind: str, n: int) -> list[Contestant]:
        words = [kind, str(n), str(COUNT), str(TOLERANCE)]
        out = []
        program = self.slepc["complex" if kind == "ring" else "real"]
        if program is not None:
            for name, more in SLEPC_WAYS.items():
                out.append(Contestant(name, [*harness.mpirun(1), str(program), *words, *more], ALONE))
        if self.primme is not None:
            out.append(Contestant("primme", [self.primme, FOLDER / "primme_run.py", *words], ALONE))
        return out

    def wrong(self, kind: str, n: int, result: dict[str, Any]) -> float:
        pairs = zip(sorted(result["eigenvalues"]), exact(kind, n), strict=True)
        return max(abs(got - known) for got, known in pairs)

    def problem(self, kind: str, n: int) -> None:
        title = f"{kind} {n}"
        large = n ** {"laplace2d": 2, "laplace3d": 3}.get(kind, 1) >= LARGE
        ways = list(WAYS.items())[-1:] if large else list(WAYS.items())
        teams = [self.ours(name, kind, n, words) for name, words in ways]
        right = []
        rows = [["", "products", "s", "largest error"]]
        for team in [*teams, *self.rivals(kind, n)]:
            try:
                error = self.wrong(kind, n, run_once(team))
            except BenchmarkError as failure:
                if team in teams:
                    raise
                rows.append([team.name, "-", "-", str(failure).partition("\n")[2].strip()[:60]])
                continue
            if error > 1e-9 and team in teams:
                raise BenchmarkError(f"{title}: {team.name} has an eigenvalue that is wrong by {error:.1e}")
            if error > 1e-9:
                rows.append([team.name, "-", "-", f"{error:.1e}: it has missed one"])
            else:
                right.append((team, error))
        samples = harness.compete([team for team, _ in right], self.rounds, title, run_once, warm_up=False)
        self.samples[title] = samples
        for team, error in right:
            rows.append([team.name, f"{samples.median(team.name, 'products'):.0f}", f"{samples.median(team.name):.3f}",
                         f"{error:.0e}"])  # fmt: skip
        print(f"\n{title}\n{harness.table(rows)}", flush=True)
        self.judge(title, samples)

    def judge(self, title: str, samples: Samples) -> None:
        if self.small:
            return
        ours = [name for name in samples.runs if name.startswith("hiroba")]
        others = [name for name in samples.runs if not name.startswith("hiroba")]
        if not others:
            return
        fewest = min(samples.median(name, "products") for name in ours)
        best = min(samples.median(name, "products") for name in others)
        self.targets.append(Target(f"{title}: products / the better rival", fewest / best, 1.1))
        slepcs = [name for name in others if name.startswith("slepc")]
        if slepcs:
            fastest = min(ours, key=samples.median)
            rival = min(slepcs, key=samples.median)
            self.targets.append(Target(f"{title}: time / SLEPc", samples.ratio(fastest, rival), 0.8))

    def nodes(self, n: int) -> None:
        words = WAYS["hiroba, JD, MILU"]
        teams = [self.ours(f"{nodes} nodes", "laplace2d", n, words, 2, nodes) for nodes in (1, 2)]
        samples = self.samples["over nodes"] = harness.compete(teams, 1 if n > 500 else self.rounds, "nodes", run_once,
                                                               warm_up=False)  # fmt: skip
        if not self.small:
            self.targets.append(
                Target(f"laplace2d {n}: time of 2 nodes / 1", samples.ratio("2 nodes", "1 nodes"), 1.15)
            )


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument(
        "--slepc-complex",
        metavar="FOLDER:FOLDER",
        help="folders of the pkg-config files slepc.pc and petsc.pc of complex numbers",
    )
    parser.add_argument("--primme", type=Path, help="a Python that has primme and scipy")
    parser.add_argument("--only", action="append", help="KIND:N of a problem; may be given again")
    options = parser.parse_args()
    around = harness.circumstances()
    bench = Bench(options)
    for kind, n in SMALL if options.small else PROBLEMS:
        if not options.only or f"{kind}:{n}" in options.only:
            bench.problem(kind, n)
    if not options.only or "nodes" in options.only:
        bench.nodes(20 if options.small else 1000)
    for target in bench.targets:
        print(target.line())
    name = "eigen_small" if options.small else "eigen"
    print(f"\nkept in {harness.write(options.out, name, around, bench.samples, bench.targets)}")
    return 0


if __name__ == "__main__":
    harness.main(run)
