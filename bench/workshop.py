"""Programs that a benchmark compiles itself: how each is compiled and started, and which must be left out on this
machine.

They are compiled anew for every benchmark, for each size: a few seconds, after which nobody need ask how old one is.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import harness
from harness import ROOT, BenchmarkError, Contestant

# As for apps/stencil3d: nothing is fused, so all compute the same bits.
# Loops begin at multiples of 32 bytes in all: the same instructions take a fifth longer on some processors if a jump of
# theirs happens to cross such a border.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-falign-loops=32")
COMPILE_SECONDS = 60

SEQUENTIAL, THREADS, MPI, HIROBA = "sequential", "threads", "mpi", "hiroba"  # ways to start


@dataclass(frozen=True)
class Program:
    name: str
    path: Path
    compiler: str  # the command that must be there
    start: str
    package: str = ""  # Debian's, which brings the compiler
    optional: bool = False  # a rival that some systems have but cannot compile; it is then left out
    mpirun: tuple[str, ...] = ()  # options that it needs


class Workshop:
    """Compiles the programs of a benchmark for a size (-DN=size) into a folder of the build, and starts them."""

    def __init__(self, build: Path, benchmark: str, programs: Sequence[Program]) -> None:
        self.build = build.resolve()
        self.folder = self.build / "bench" / benchmark
        self.folder.mkdir(parents=True, exist_ok=True)
        self.programs: list[Program] = []
        self.left_out: list[str] = []
        for program in programs:
            if self.compiler(program) is None:
                remedy = f"Debian: {program.package}" if program.package else "./dev build"
                self.left_out.append(f"left out: {program.name}, for there is no {program.compiler} ({remedy})")
            else:
                self.programs.append(program)

    def compiler(self, program: Program) -> str | None:
        if program.compiler == "hirobacc":  # of this build, not of one that is installed
            return shutil.which("hirobacc", path=str(self.build / "bin"))
        return shutil.which(program.compiler)

    def binary(self, program: Program, size: int) -> Path:
        return self.folder / f"{program.name}_{size}"

    def command(self, program: Program, size: int) -> list[str]:
        compiler = self.compiler(program)
        assert compiler is not None
        output = ["-o", str(self.binary(program, size))]
        flags = [*FLAGS, f"-DN={size}"]
        if program.name == "caf":
            modules = ["-cpp", "-J", str(self.folder)]
            return [compiler, *flags, *modules, str(program.path.with_name("common.f90")), str(program.path), *output]
        libraries = ["-lm"]
        if program.name == "ga":
            libraries = [*words(compiler, "--ldflags", "--libs"), "-lgfortran", "-lm"]
            compiler = "mpicc"
        if program.name == "sms":
            flags += ["-Wall", "-Wextra"]
            libraries = [*library_flags(self.build), "-lm"]
        return [compiler, *flags, str(program.path), *output, *libraries]

    def compile(self, size: int) -> None:
        """All of them; those that are optional and do not compile are left out from then on."""
        for program in list(self.programs):
            harness.show_progress(f"compiling {program.name}, {size}")
            if why := call_compiler(self.command(program, size), program.optional):
                self.programs.remove(program)
                self.left_out.append(f"left out: {program.name}, which does not compile here: {why}")
        harness.show_progress("")

    def start(self, program: Program, size: int, steps: int, ranks: int, nodes: int = 1) -> Contestant | None:
        """None if the program cannot be had in this shape."""
        binary: list[str | Path] = [self.binary(program, size), "--size", str(size), "--steps", str(steps)]
        if nodes > 1 and program.start != HIROBA or ranks > 1 and program.start == SEQUENTIAL:
            return None
        launch: Sequence[str | Path] = []
        if program.start == MPI:
            launch = [*harness.mpirun(ranks), *program.mpirun]
        if program.start == HIROBA:
            shape = ["-n", str(ranks), "--nodes", str(nodes), "--threads", "1"]
            launch = [self.build / "bin" / "hirobarun", *shape]
        threads = harness.threads(ranks if program.start == THREADS else 1)
        return Contestant(name_of(program.name, nodes), [*launch, *binary], threads)


def name_of(program: str, nodes: int) -> str:
    return program if nodes == 1 else f"{program}, {nodes} nodes"


def library_flags(build: Path, *others: str) -> list[str]:
    """For a program over the library of this build, and over others that stand on it."""
    library = build.resolve() / "lib"
    names = [f"-l{name}" for name in (*others, "hiroba")]
    return ["-I", str(ROOT / "include" / "hiroba"), "-L", str(library), f"-Wl,-rpath,{library}", *names]


def call_compiler(command: Sequence[str | Path], may_fail: bool = False) -> str:
    """Why it failed, if it may; else ""."""
    text = [str(word) for word in command]
    done = subprocess.run(
        text, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False
    )
    if done.returncode == 0:
        return ""
    if not may_fail:
        raise BenchmarkError(f"{' '.join(text)}\n{done.stdout}{done.stderr}")
    lines = done.stderr.splitlines()
    return next((line for line in lines if "error" in line or "cannot" in line), "no message")


# OpenMP's run-time libraries, the compilers that come with them, and Debian's packages.
OPENMP = {"libgomp": (("gcc",), "gcc"), "libomp": (("clang-19", "clang"), "clang-19 libomp-19-dev")}


def openmp_compilers(folder: Path) -> tuple[dict[str, str], list[str]]:
    """The compiler for each library that is here, and what is left out. That a compiler is here does not say that its
    library is, so a program in `folder` is compiled."""
    source = folder / "openmp_is_here.c"
    source.write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
    found, left_out = {}, []
    for library, (compilers, package) in OPENMP.items():
        for name in compilers:
            test = [name, "-fopenmp", str(source), "-o", str(source.with_suffix(""))]
            if shutil.which(name) is not None and not call_compiler(test, may_fail=True):
                found[library] = name
                break
        else:
            left_out.append(f"left out: {library}, for no {' or '.join(compilers)} has it here (Debian: {package})")
    return found, left_out


def words(*command: str) -> list[str]:
    """What a command prints."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(command)} ended with status {done.returncode}\n{done.stderr}")
    return done.stdout.split()
