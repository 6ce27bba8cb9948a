"""The runtimes of this folder: how each is compiled and started, and which must be left out on this machine.

A contestant is a file that includes taskgraph.h, and an entry in PROGRAMS. They are compiled anew for every benchmark:
a few seconds, after which nobody need ask how old one is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
import workshop
from harness import ROOT, BenchmarkError, Contestant
from workshop import HIROBA, MPI, SEQUENTIAL, THREADS, call_compiler

FOLDER = Path(__file__).resolve().parent
COMMON = ROOT / "apps" / "common"
FLAGS = ("-O3", "-march=native", "-falign-loops=32", "-Wall", "-Wextra", f"-I{FOLDER}")
REPLAYED = ", replayed"


@dataclass(frozen=True)
class Program(workshop.Program):
    flags: tuple[str, ...] = ()
    pkg_config: str = ""  # of the package that it is compiled with
    lacks: tuple[str, ...] = ()  # graphs that its runtime has no way to run
    replays: bool = False  # it can run a graph again


def program(name: str, source: str, compiler: str, start: str = THREADS, package: str = "", **more: object) -> Program:
    return Program(name, FOLDER / source, compiler, start, package, **more)  # type: ignore[arg-type]


CXX = ("-std=c++20", "-pthread")
TASKFLOW = "none in Debian; --taskflow FOLDER says where its header-only library is"
NO_PATTERN = ("independent", "independent_inout", "cholesky")
# Where two ranks exchange their edges.
TWO_NODES = ("--nodes", "2", "--transport")
PLACES = {
    "one node": (),
    "2 nodes, shared memory": (*TWO_NODES, "shm"),
    "2 nodes, ucx": (*TWO_NODES, "ucx"),
    "2 nodes, mpi": (*TWO_NODES, "mpi"),
}
NO_MESSAGES = ("one node", "2 nodes, shared memory")
# libgomp and libomp stand for the compilers that have them.
PROGRAMS = [
    program("serial", "serial.c", "cc", SEQUENTIAL),
    program("hiroba", "hiroba.c", "cc", HIROBA, replays=True),
    program("libgomp", "openmp.c", "libgomp", flags=("-fopenmp",)),
    program("libomp", "openmp.c", "libomp", flags=("-fopenmp",)),
    program(
        *("tbb", "tbb.cpp", "c++", THREADS, "libtbb-dev"),
        flags=CXX,
        pkg_config="tbb",
        replays=True,
        lacks=("independent_inout",),
    ),
    program("taskflow", "taskflow.cpp", "c++", THREADS, TASKFLOW, flags=CXX),
    program("taskflow graph", "taskflow.cpp", "c++", THREADS, TASKFLOW, flags=(*CXX, "-DBUILD"), replays=True),
    program("starpu", "starpu.c", "cc", THREADS, "libstarpu-dev", pkg_config="starpu-1.3"),
    program("mpi", "mpi.c", "mpicc", MPI, "libopenmpi-dev", lacks=NO_PATTERN),
]


class Workshop:
    """Compiles the programs into a folder of the build, and starts them."""

    def __init__(self, build: Path, chosen: Sequence[str], taskflow: Path | None) -> None:
        if unknown := set(chosen) - {one.name for one in PROGRAMS}:
            raise BenchmarkError(
                f"there is no contestant {unknown.pop()}; there are: {', '.join(p.name for p in PROGRAMS)}"
            )
        self.build = build.resolve()
        self.folder = self.build / "bench" / "taskgraph"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.taskflow = taskflow
        self.openmp, self.left_out = workshop.openmp_compilers(self.folder)
        self.programs: list[Program] = []
        self.objects = [self.object(source) for source in self.common()]
        for one in PROGRAMS:
            if (not chosen or one.name in chosen) and self.made(one):
                self.programs.append(one)
        harness.show_progress("")

    def common(self) -> list[Path]:
        return [FOLDER / "main.c", FOLDER / "graph.c", COMMON / "options.c", COMMON / "team.c"]

    def object(self, source: Path) -> Path:
        harness.show_progress(f"compiling {source.name}")
        target = self.folder / f"{source.stem}.o"
        call_compiler(["cc", *FLAGS, "-c", source, "-o", target])
        return target

    def binary(self, one: Program) -> Path:
        return self.folder / f"taskgraph_{one.name.replace(' ', '_')}"

    def compiler(self, one: Program) -> str | None:
        return self.openmp.get(one.compiler) if one.compiler in workshop.OPENMP else shutil.which(one.compiler)

    def made(self, one: Program) -> bool:
        """Whether it could be compiled; if not, the reason is kept."""
        if (compiler := self.compiler(one)) is None:
            if one.compiler not in workshop.OPENMP:  # those have been named
                self.left_out.append(f"left out: {one.name}, for there is no {one.compiler} (Debian: {one.package})")
            return False
        package = flags_of(one.pkg_config) if one.pkg_config else []
        if package is None:
            self.left_out.append(f"left out: {one.name}, for pkg-config knows no {one.pkg_config} ({one.package})")
            return False
        if one.package == TASKFLOW:
            package = ["-isystem", str(self.taskflow)] if self.taskflow is not None else []
            if not self.has_header(compiler, [*one.flags, *package], "taskflow/taskflow.hpp"):
                self.left_out.append(f"left out: {one.name}, for there is no taskflow/taskflow.hpp ({one.package})")
                return False
        if one.start == HIROBA:
            package = workshop.library_flags(self.build)
        harness.show_progress(f"compiling {one.name}")
        call_compiler(
            [compiler, *FLAGS, *one.flags, one.path, *self.objects, *package, "-lm", "-o", self.binary(one)],
        )
        return True

    def has_header(self, compiler: str, flags: Sequence[str], header: str) -> bool:
        source = self.folder / "header_is_here.cpp"
        source.write_text(f'#if !__has_include("{header}")\n#error it is not\n#endif\n')
        return not call_compiler([compiler, *flags, "-fsyntax-only", source], may_fail=True)

    def start(
        self, one: Program, words: Sequence[str], threads: int, ranks: int = 1, place: Sequence[str] = ()
    ) -> Contestant:
        """With as many threads in a process; those that have one only ignore that. Several ranks have one each.
        `place`: further words for hirobarun."""
        if one.start in (SEQUENTIAL, MPI) or ranks > 1:
            threads = 1
        launch: list[str | Path] = []
        if one.start == MPI:
            launch = [*harness.mpirun(ranks)]
        if one.start == HIROBA:
            launch = [self.build / "bin" / "hirobarun", "-n", str(ranks), "--threads", str(threads), *place]
        settings = harness.threads(threads) | {"STARPU_SILENT": "1", "STARPU_HOME": str(self.folder)}
        sizes = ["--threads", str(threads), "--cores", str(len(os.sched_getaffinity(0)))]
        command: list[str | Path] = [*launch, self.binary(one), *words, *sizes]
        tells_ranks = one.start == MPI or ranks > 1
        name = one.name + (f", {ranks} rank{'s' if ranks > 1 else ''}" if tells_ranks else "")
        return Contestant(name, command, settings)

    def all(self, graph: str, words: Sequence[str], threads: int, ranks: Sequence[int]) -> list[Contestant]:
        """All that can run a graph, and once more each that can run it again."""
        found = []
        for one in self.programs:
            if graph in one.lacks:
                continue
            counts = {MPI: ranks, HIROBA: [1, *(count for count in ranks if count > 1)]}.get(one.start, [1])
            for count in counts:
                words_of = ["--graph", graph, *words]
                found.append(self.start(one, words_of, threads, count))
                if one.replays:
                    again = self.start(one, [*words_of, "--replay"], threads, count)
                    again.name += REPLAYED
                    found.append(again)
        return found

    def halo(self, words: Sequence[str]) -> list[Contestant]:
        """The sequential program; on two ranks MPI, and Hiroba in each of PLACES, and before it is recorded."""
        found = []
        for one in self.programs:
            if one.start in (SEQUENTIAL, MPI):
                found.append(self.start(one, words, 1, 2 if one.start == MPI else 1))
            if one.start == HIROBA:
                for place, more in PLACES.items():
                    if "ucx" not in more or (self.build / "lib" / "hiroba" / "wire-ucx.so").exists():
                        found.append(self.start(one, [*words, "--replay"], 1, 2, more))
                        found[-1].name = f"{one.name}, {place}"
                found.append(self.start(one, words, 1, 2))
                found[-1].name = f"{one.name}, one node, not recorded"
        return found


def flags_of(package: str) -> list[str] | None:
    command = ["pkg-config", "--cflags", "--libs", package]
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return done.stdout.split() if done.returncode == 0 else None
