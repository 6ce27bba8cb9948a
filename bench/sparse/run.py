"""Sparse products and CG by sparse.h: products of 27 points on a grid and of a graph with a power law, as CSR and as
SELL, against the speed of memory (STREAM's triad with as many threads), a plain loop, what the columns allow (plain.c),
and PETSc; CG with Jacobi per iteration against PETSc; CG over two nodes against one.

Before any time is taken, and in every run, each program must have the same checksum and as many entries as the others.
What is counted as GB/s is what a product cannot do without: entries, columns, where rows begin, x and y, each once.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Samples, Target
from workshop import library_flags

FOLDER = Path(__file__).resolve().parent
INSTALL = (
    "To have it on Debian: apt-get install libpetsc-real-dev, then update-alternatives --set hdf5.pc "
    "/usr/lib/x86_64-linux-gnu/pkgconfig/hdf5-serial.pc, since it makes pkg-config find the HDF5 of MPI."
)
TOLERANCE = 1e-9  # relative: sums in another order, over many iterations
ALONE = {"OMP_NUM_THREADS": "1"}
FORMATS = ["csr", "sell"]
PARTS = ["points27", "power", "near", "solvers", "nodes"]
# matrix, size, times
PRODUCTS = [("points27", 100, 25), ("power", 250000, 50), ("power", 1000000, 25), ("near", 1000000, 25)]
SMALL_PRODUCTS = [("points27", 12, 3), ("power", 3000, 3), ("near", 3000, 3)]


def compiled(program: Path, *command: str | Path) -> Path:
    done = subprocess.run([*map(str, command), "-o", str(program), "-lm"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"cannot compile {program.name}:\n{done.stderr}")
    return program


def petsc_flags() -> list[str] | None:
    """How a program of PETSc is compiled; none without the library."""
    for name in ("PETSc", "petsc"):
        done = subprocess.run(
            ["pkg-config", "--cflags", "--libs", name], capture_output=True, text=True, check=False
        )  # fmt: skip
        if done.returncode == 0:
            return done.stdout.split()
    return None


def programs(build: Path) -> dict[str, Path]:
    folder = build / "bench" / "sparse"
    folder.mkdir(parents=True, exist_ok=True)
    flags = ["-O3", "-march=native", "-Wall"]
    ours = library_flags(build, "hiroba_sparse")
    found = {
        "hiroba": compiled(folder / "hiroba", "gcc", *flags, FOLDER / "hiroba.c", *ours),
        "plain": compiled(folder / "plain", "gcc", *flags, "-ffast-math", "-fopenmp", FOLDER / "plain.c"),
        "stream": compiled(folder / "stream", "gcc", *flags, "-fopenmp", FOLDER.parent / "blas" / "stream.c"),
    }
    petsc = petsc_flags()
    if petsc is None or shutil.which("mpicc") is None:
        print(f"left out: petsc, for there is no PETSc. {INSTALL}")
    else:
        found["petsc"] = compiled(folder / "petsc", "mpicc", *flags, FOLDER / "petsc.c", *petsc)
    return found


class Bench:
    def __init__(self, build: Path, rounds: int, small: bool) -> None:
        self.found, self.rounds, self.small = programs(build), rounds, small
        self.launcher = build / "bin" / "hirobarun"
        self.samples: dict[str, Samples] = {}
        self.targets: list[Target] = []

    def ours(self, name: str, ranks: int, nodes: int, *words: object) -> Contestant:
        command: list[str | Path] = [
            self.launcher,
            "-n",
            str(ranks),
            "--nodes",
            str(nodes),
            self.found["hiroba"],
            *map(str, words),
        ]
        return Contestant(name, command, ALONE)

    def threads(self, name: str, program: str, *words: object) -> list[Contestant]:
        command = [str(self.found[program]), *map(str, words)]
        return [Contestant(f"{name}, {n}", command, {"OMP_NUM_THREADS": str(n)}) for n in (1, 2)]

    def petsc(self, name: str, ranks: int, *words: object) -> list[Contestant]:
        if "petsc" not in self.found:
            return []
        command = [*harness.mpirun(ranks), str(self.found["petsc"]), *map(str, words)]
        return [Contestant(name, command, ALONE)]

    def compete(self, title: str, teams: list[Contestant]) -> Samples:
        first = harness.run_once(teams[0])

        def checked(contestant: Contestant) -> dict[str, Any]:
            result = harness.run_once(contestant)
            if contestant.name.startswith("triad"):
                return result
            near = abs(result["checksum"] - first["checksum"]) <= TOLERANCE * abs(first["checksum"])
            if not near or result["entries"] != first["entries"] or result["iterations"] != first["iterations"]:
                raise BenchmarkError(f"{contestant.name} computes {result}, not {first}")
            return result

        self.samples[title] = harness.compete(teams, self.rounds, title, checked)
        return self.samples[title]

    def target(self, name: str, value: float, limit: float, at_most: bool) -> None:
        if not self.small:
            self.targets.append(Target(name, value, limit, at_most))

    def products(self, matrix: str, size: int, times: int) -> None:
        words = ("spmv", matrix, size, times)
        title = f"{matrix} {size}, product"
        teams = [self.ours(f"{f}, {n}", n, 1, *words, f) for f in FORMATS for n in (1, 2)]
        for kind in ("plain", "gather"):
            teams += self.threads(kind, "plain", *words, kind)
        teams += self.threads("triad", "stream", *(["100000"] if self.small else []))
        teams += [team for n in (1, 2) for team in self.petsc(f"petsc, {n}", n, *words)]
        samples = self.compete(title, teams)
        rows = [["", "ms", "GB/s", "/ triad"]]
        for name in samples.runs:
            speed = samples.median(name, "gbytes")
            of_triad = samples.ratio(name, f"triad, {name[-1]}", "gbytes")
            rows.append([name, f"{1e3 * samples.median(name):.2f}", f"{speed:.1f}", f"{of_triad:.2f}"])
            if name.startswith("sell") and matrix != "near":
                self.target(f"{title}, {name}: GB/s / triad", of_triad, 0.85, False)
                self.target(f"{title}, {name}: speed / csr", samples.ratio(f"csr, {name[-1]}", name), 1, False)
        print(f"\n{title}\n{harness.table(rows)}", flush=True)

    def solver(self, method: str, matrix: str, size: int, times: int) -> None:
        words = (method, matrix, size, times)
        title = f"{matrix} {size}, {method}"
        samples = self.compete(title, [self.ours("hiroba, 2", 2, 1, *words), *self.petsc("petsc, 2", 2, *words)])
        rows = [["", "ms an iteration"]] + [[name, f"{1e3 * samples.median(name):.3f}"] for name in samples.runs]
        print(f"\n{title}\n{harness.table(rows)}", flush=True)
        if "petsc, 2" in samples.runs and method == "cg":
            self.target(f"{title}: time / PETSc, 2 ranks", samples.ratio("hiroba, 2", "petsc, 2"), 0.9, True)

    def nodes(self, size: int, times: int) -> None:
        words = ("cg", "laplace2d", size, times)
        title = f"laplace2d {size}, cg over nodes"
        samples = self.compete(title, [self.ours(f"{n} nodes", 2, n, *words) for n in (1, 2)])
        rows = [["", "ms an iteration"]] + [[name, f"{1e3 * samples.median(name):.3f}"] for name in samples.runs]
        print(f"\n{title}\n{harness.table(rows)}", flush=True)
        self.target(f"{title}: 2 / 1", samples.ratio("2 nodes", "1 nodes"), 1.15, True)


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--part", action="append", default=[], choices=PARTS, help="only these parts")
    options = parser.parse_args()
    rounds = options.rounds or (1 if options.small else 5)
    around = harness.circumstances()
    bench = Bench(options.build.resolve(), rounds, options.small)
    parts = options.part or PARTS
    for matrix, size, times in SMALL_PRODUCTS if options.small else PRODUCTS:
        if matrix in parts:
            bench.products(matrix, size, times)
    for method in ("cg", "pipelined"):
        if "solvers" in parts:
            bench.solver(method, "points27", 12 if options.small else 100, 10 if options.small else 50)
    if "nodes" in parts:
        bench.nodes(30 if options.small else 1000, 10 if options.small else 100)
    for target in bench.targets:
        print(target.line())
    name = "sparse_small" if options.small else "sparse"
    print(f"\nkept in {harness.write(options.out, name, around, bench.samples, bench.targets)}")
    return 0


if __name__ == "__main__":
    harness.main(run)
