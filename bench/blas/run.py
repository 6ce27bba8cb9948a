"""BLAS 1 and 2 on complex vectors, as in the paper on ccNUMA machines (tables and figures 9 to 11): MFLOPS and GB/s
against threads and ranks, not bound and bound to cores, beside OpenBLAS and BLIS with as many threads, PBLAS of
ScaLAPACK with as many processes, and the triad of STREAM.

Flops: zaxpy and zdotc 8 n, dznrm2 4 n, zgemv 8 m n. Vectors of 256^2 elements, which the caches hold, and of 2^24. Each
program checks its answer before it takes the time.
"""

from __future__ import annotations

import os
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Curve, Samples, Target
from workshop import library_flags

FOLDER = Path(__file__).resolve().parent
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
RIVALS = {"openblas": "openblas-pthread/libopenblas.so.0", "blis": "blis-pthread/libblas.so.3"}
IN_CACHE = ["zaxpy 65536", "zdotc 65536", "dznrm2 65536", "zgemvN 256 256", "zgemvT 256 256", "zgemvC 256 256"]
LARGE = ["zaxpy 16777216", "zdotc 16777216", "dznrm2 16777216", "zgemvN 65536 4096", "zgemvT 65536 4096"]
SMALL = ["zaxpy 5000", "zdotc 5000", "dznrm2 5000", "zgemvN 70 50", "zgemvT 70 50", "zgemvC 70 50"]


def compiled(folder: Path, name: str, sources: list[str], *flags: str, compiler: str = "gcc") -> Path:
    program = folder / name
    command = [compiler, "-O3", "-march=native", "-fopenmp", *(str(FOLDER / s) for s in sources), "-o", str(program)]
    done = subprocess.run([*command, *flags, "-lm"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"cannot compile {name}:\n{done.stderr}")
    return program


def programs(build: Path) -> dict[str, Path]:
    """The programs, by contestant; a rival whose library is not there is left out."""
    folder = build / "bench" / "blas"
    folder.mkdir(parents=True, exist_ok=True)
    flags = library_flags(build)
    private = ["main.c", "fortran.c"]
    found = {
        "hiroba": compiled(folder, "hiroba", ["main.c", "hiroba.c"], *flags),
        "libhiroba_blas": compiled(
            folder, "private", private, *[f.replace("-lhiroba", "-lhiroba_blas") for f in flags]
        ),
        "stream": compiled(folder, "stream", ["stream.c"]),
    }
    for name, library in RIVALS.items():
        path = Path(LIBRARIES) / library
        if path.exists():
            found[name] = compiled(folder, name, private, str(path), f"-Wl,-rpath,{path.parent}")
        else:
            print(f"left out: {name}, for there is no {path}")
    pblas = subprocess.run(["pkg-config", "--libs", "scalapack-openmpi"], capture_output=True, text=True, check=False)
    if pblas.returncode == 0:
        libraries = shlex.split(pblas.stdout)
        found["pblas"] = compiled(folder, "pblas", ["main.c", "pblas.c"], *libraries, compiler="mpicc.openmpi")
    else:
        print("left out: pblas, for there is no libscalapack-openmpi-dev")
    return found


def bound(count: int) -> list[str]:
    """Each rank or thread on a CPU of its own."""
    return ["--bind", ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:count])]


def contestants(build: Path, found: dict[str, Path], case: str) -> list[Contestant]:
    words = case.split()
    launcher = build / "bin" / "hirobarun"
    out = []
    for count in (1, 2):
        threads = {"OMP_NUM_THREADS": str(count), "BLIS_NUM_THREADS": str(count)}
        out.append(Contestant(f"hiroba, {count} ranks", [launcher, "-n", str(count), found["hiroba"], *words],
                              {"OMP_NUM_THREADS": "1"}))  # fmt: skip
        out.append(Contestant(f"hiroba bound, {count} ranks",
                              [launcher, "-n", str(count), *bound(count), found["hiroba"], *words],
                              {"OMP_NUM_THREADS": "1"}))  # fmt: skip
        if count > 1:
            out.append(Contestant(f"hiroba, {count} threads", [launcher, "-n", "1", found["hiroba"], *words], threads))
            out.append(Contestant(f"hiroba bound, {count} threads",
                                  [launcher, "-n", "1", *bound(count), found["hiroba"], *words], threads))  # fmt: skip
        for name in [name for name in found if name not in ("hiroba", "stream", "pblas")]:
            out.append(Contestant(f"{name}, {count} threads", [found[name], *words], threads))
        if "pblas" in found:
            out.append(Contestant(f"pblas, {count} ranks", [*harness.mpirun(count), found["pblas"], *words],
                                  {"OMP_NUM_THREADS": "1"}))  # fmt: skip
    return out


def show(case: str, samples: Samples, triad: dict[str, float]) -> None:
    rows = [["", "us", "MFLOPS", "GB/s", "GB/s / triad"]]
    for name in samples.runs:
        speed = samples.median(name, "gbytes")
        rows.append([name, f"{1e6 * samples.median(name):.1f}", f"{samples.median(name, 'mflops'):.0f}", f"{speed:.1f}",
                     f"{speed / triad[name.split()[-2]]:.2f}"])  # fmt: skip
    print(f"\n{case}\n{harness.table(rows)}", flush=True)


def targets(case: str, samples: Samples, triad: dict[str, float], large: bool) -> list[Target]:
    one, two = "hiroba, 1 ranks", "hiroba, 2 ranks"
    if large:
        return [
            Target(
                f"{case}: {name}, GB/s / STREAM", samples.median(name, "gbytes") / triad[name.split()[-2]], 0.9, False
            )
            for name in (one, two)
        ]
    out = [Target(f"{case}: 2 ranks / 1", samples.ratio(one, two), 1.6, False)]
    if "openblas, 1 threads" in samples.runs:
        out.append(
            Target(f"{case}: speed / OpenBLAS, 1 thread", samples.ratio("openblas, 1 threads", one), 0.95, False)
        )
    return out


def curves(samples: Samples) -> dict[str, Curve]:
    """As figures 9 to 11 of the paper: MFLOPS against the number of threads, or of ranks with one thread each."""
    points: dict[str, dict[int, list[float]]] = {}
    for name in samples.runs:
        contestant, number, kind = name.replace(",", "").rsplit(" ", 2)
        families = ["ranks", "threads"] if int(number) == 1 else [kind]
        for family in families if contestant.startswith("hiroba") else [kind]:
            points.setdefault(f"{contestant}, {family}", {})[int(number)] = samples.values(name, "mflops")
    out = {}
    for line, by_number in points.items():
        middle = [statistics.median(values) for values in by_number.values()]
        out[line] = Curve(list(by_number), middle, [(max(v) - min(v)) / 2 for v in by_number.values()])
    return out


def run() -> int:
    parser = harness.arguments(__doc__)
    parser.add_argument("--only", default="", help="only cases that begin with this, such as zgemv")
    options = parser.parse_args()
    build = options.build.resolve()
    rounds = options.rounds or (1 if options.small else 5)
    around = harness.circumstances()
    found = programs(build)
    elements = ["100000"] if options.small else []
    alone = [
        Contestant(f"triad, {n} threads", [found["stream"], *elements], {"OMP_NUM_THREADS": str(n)}) for n in (1, 2)
    ]
    stream = harness.compete(alone, rounds, "STREAM")
    triad = {name.split()[-2]: stream.median(name, "gbytes") for name in stream.runs}
    samples: dict[str, Samples] = {"STREAM": stream}
    reached: list[Target] = []
    for case in SMALL if options.small else [*IN_CACHE, *LARGE]:
        if not case.startswith(options.only):
            continue
        teams = contestants(build, found, case)
        large = case in LARGE
        if case.startswith("zgemv") and large:  # 4 GiB: of ours only
            teams = [team for team in teams if team.name.startswith("hiroba")]
        samples[case] = harness.compete(teams, rounds, case)
        show(case, samples[case], triad)
        reached += [] if options.small else targets(case, samples[case], triad, large)
    for target in reached:
        print(target.line())
    panels = {
        case: {name: part.values(name, "mflops") for name in part.runs}
        for case, part in samples.items()
        if case != "STREAM"
    }
    name = "blas_small" if options.small else "blas"
    picture = harness.plot(options.out / f"{name}.png", "BLAS (higher is better)", panels, "MFLOPS", None, columns=3)
    lines = {case: curves(part) for case, part in samples.items() if case != "STREAM"}
    plotted = harness.plot_curves(options.out / f"{name}_curves.png", "BLAS against threads", lines,
                                  ("threads or ranks", "MFLOPS"))  # fmt: skip
    print(f"\nkept in {harness.write(options.out, name, around, samples, reached)}, {picture} and {plotted}")
    return 0


if __name__ == "__main__":
    harness.main(run)
