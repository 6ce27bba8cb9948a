"""The programs of this folder: how each is compiled and started, and which must be left out on this machine.

They are compiled anew for every benchmark, for each size: a few seconds, after which nobody need ask how old one is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import ROOT, BenchmarkError, Contestant

FOLDER = Path(__file__).resolve().parent
# As for apps/stencil3d: nothing is fused, so all compute the same bits.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fopenmp")
COMPILE_SECONDS = 60

SEQUENTIAL, THREADS, MPI, HIROBA = "sequential", "threads", "mpi", "hiroba"  # ways to start


@dataclass(frozen=True)
class Program:
    name: str
    source: str
    compiler: str  # the command that must be there
    start: str
    package: str = ""  # Debian's, which brings the compiler
    optional: bool = False  # a rival that some systems have but cannot compile; it is then left out
    mpirun: tuple[str, ...] = ()  # options that it needs

    @property
    def path(self) -> Path:
        return FOLDER / self.source


PROGRAMS = [
    Program("serial", "serial.c", "cc", SEQUENTIAL),
    Program("omp", "omp.c", "cc", THREADS),
    Program("mpi", "mpi.c", "mpicc", MPI, "libopenmpi-dev"),
    Program("mpishm", "mpishm.c", "mpicc", MPI, "libopenmpi-dev"),
    # Open MPI 4.1.4 and 4.1.5 die in shmem_finalize, in a hook of a plug-in that is gone (ompi issue 11604).
    Program(
        *("shmem", "shmem.c", "oshcc", MPI, "libopenmpi-dev"),
        optional=True,
        mpirun=("--mca", "opal_common_ucx_opal_mem_hooks", "0"),
    ),
    Program("ga", "ga.c", "ga-config", MPI, "libglobalarrays-dev libarmci-mpi-dev libscalapack-openmpi-dev", True),
    # One image alone finds no window in Open MPI's default; with more there is no difference.
    Program(
        *("caf", "caf.f90", "caf", MPI, "libcoarrays-openmpi-dev gfortran"),
        optional=True,
        mpirun=("--mca", "osc", "^ucx"),
    ),
    Program("sms", "sms.c", "cc", HIROBA),
    Program("mpc", "mpc.c", "hirobacc", HIROBA),
    Program("smint", "smint.c", "hirobacc", HIROBA),
]


class Workshop:
    """Compiles the programs for a size into a folder of the build, and starts them."""

    def __init__(self, build: Path) -> None:
        self.build = build.resolve()
        self.folder = self.build / "bench" / "stencil2d"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.programs: list[Program] = []
        self.left_out: list[str] = []
        for program in PROGRAMS:
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
            return [compiler, *flags, *modules, str(FOLDER / "common.f90"), str(program.path), *output]
        libraries = ["-lm"]
        if program.name == "ga":
            libraries = [*words(compiler, "--ldflags", "--libs"), "-lgfortran", "-lm"]
            compiler = "mpicc"
        if program.name == "sms":
            library = self.build / "lib"
            flags += ["-I", str(ROOT / "include" / "hiroba"), "-Wall", "-Wextra"]
            libraries = ["-L", str(library), f"-Wl,-rpath,{library}", "-lhiroba", "-lm"]
        return [compiler, *flags, str(program.path), *output, *libraries]

    def compile(self, size: int) -> None:
        """All of them; those that are optional and do not compile are left out from then on."""
        for program in list(self.programs):
            harness.show_progress(f"compiling {program.name}, {size}^2")
            command = self.command(program, size)
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False
            )
            if done.returncode == 0:
                continue
            if not program.optional:
                raise BenchmarkError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
            why = next((line for line in done.stderr.splitlines() if "error" in line or "cannot" in line), "no message")
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


def words(*command: str) -> list[str]:
    """What a command prints."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"{' '.join(command)} ended with status {done.returncode}\n{done.stderr}")
    return done.stdout.split()
