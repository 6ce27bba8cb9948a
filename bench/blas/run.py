"""BLAS 1 and 2 on complex vectors, as in the paper on ccNUMA machines (tables and figures 9 to 11): MFLOPS and GB/s
against threads and ranks, beside OpenBLAS and BLIS with as many threads, and the triad of STREAM.

Flops: zaxpy and zdotc 8 n, dznrm2 4 n, zgemv 8 m n. Vectors of 256^2 elements, which the caches hold, and of 2^24. Each
program checks its answer before it takes the time.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import BenchmarkError, Contestant, Samples, Target
from workshop import library_flags

FOLDER = Path(__file__).resolve().parent
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
RIVALS = {"openblas": "openblas-pthread/libopenblas.so.0", "blis": "blis-pthread/libblas.so.3"}
IN_CACHE = ["zaxpy 65536", "zdotc 65536", "dznrm2 65536", "zgemvN 256 256", "zgemvT 256 256", "zgemvC 256 256"]
LARGE = ["zaxpy 16777216", "zdotc 16777216", "dznrm2 16777216", "zgemvN 65536 4096", "zgemvT 65536 4096"]
SMALL = ["zaxpy 5000", "zdotc 5000", "dznrm2 5000", "zgemvN 70 50", "zgemvT 70 50", "zgemvC 70 50"]


def compiled(folder: Path, name: str, sources: list[str], *flags: str) -> Path:
    program = folder / name
    command = ["gcc", "-O3", "-march=native", "-fopenmp", *(str(FOLDER / s) for s in sources), "-o", str(program)]
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
    return found


def contestants(build: Path, found: dict[str, Path], case: str) -> list[Contestant]:
    words = case.split()
    launcher = build / "bin" / "hirobarun"
    out = []
    for count in (1, 2):
        threads = {"OMP_NUM_THREADS": str(count), "BLIS_NUM_THREADS": str(count)}
        out.append(Contestant(f"hiroba, {count} ranks", [launcher, "-n", str(count), found["hiroba"], *words],
                              {"OMP_NUM_THREADS": "1"}))  # fmt: skip
        if count > 1:
            out.append(Contestant(f"hiroba, {count} threads", [launcher, "-n", "1", found["hiroba"], *words], threads))
        for name in [name for name in found if name not in ("hiroba", "stream")]:
            out.append(Contestant(f"{name}, {count} threads", [found[name], *words], threads))
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


def run() -> int:
    options = harness.arguments(__doc__).parse_args()
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
        teams = contestants(build, found, case)
        large = case in LARGE
        if case.startswith("zgemv") and large:  # 4 GiB: of ours only
            teams = [team for team in teams if team.name.startswith("hiroba, ")]
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
    print(f"\nkept in {harness.write(options.out, name, around, samples, reached)} and {picture}")
    return 0


if __name__ == "__main__":
    harness.main(run)
