"""The programs of this folder: how each is compiled and started, and which must be left out on this machine.

They are compiled anew for every benchmark: a few seconds, after which nobody need ask how old one is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
import layers
from harness import BenchmarkError, Contestant
from layers import Layer
from workshop import call_compiler

FOLDER = Path(__file__).resolve().parent
FLAGS = ("-O3", "-march=native", "-D_GNU_SOURCE")
OURS, ELEMENT = "coarrays", "element"

OPENMPI, MPICH, HIROBA = "openmpi", "mpich", "hiroba"  # ways to start


@dataclass(frozen=True)
class Program:
    name: str
    source: str
    compiler: str  # the command that must be there
    start: str
    package: str = ""  # Debian's, which brings the compiler
    libraries: tuple[str, ...] = ()
    optional: bool = False  # a rival that some systems have but cannot compile; it is then left out
    lacks: tuple[str, ...] = ()  # cases
    # Most bytes of a strided case: element by element, a MiB takes OpenCoarrays a quarter of a second.
    strided: int = 16 << 20
    pkg_config: str = ""  # of the package by which it is compiled; `compiler` is a variable of that then


PROGRAMS = [
    Program(OURS, "ours.c", "hirobacc", HIROBA),
    Program(ELEMENT, "element.c", "hirobacc", HIROBA),
    Program("mpi", "mpi.c", "mpicc", OPENMPI, "libopenmpi-dev"),
    Program("mpi, mpich", "mpi.c", "mpicc.mpich", MPICH, "libmpich-dev", optional=True),
    Program(
        *("armci", "armci.c", "mpicc.openmpi", OPENMPI, "libarmci-mpi-dev", ("-larmci-openmpi",)),
        optional=True,
        lacks=("pingpong", "word"),
        strided=1 << 20,
    ),
    Program(
        *("armci, mpich", "armci.c", "mpicc.mpich", MPICH, "libarmci-mpi-dev", ("-larmci-mpich",)),
        optional=True,
        lacks=("pingpong", "word"),
        strided=1 << 20,
    ),
    Program(
        *("gasnet", "gasnet.c", "GASNET_LD", OPENMPI, "none, see docs/dependencies.md"),
        optional=True,
        lacks=("accumulate", "pingpong", "word"),
        pkg_config="gasnet-mpi-parsync",
    ),
    Program(
        *("caf", "caf.f90", "caf", OPENMPI, "libcoarrays-openmpi-dev gfortran"),
        optional=True,
        lacks=("pingpong", "word"),
        strided=1 << 20,
    ),
]
Cases = Sequence[tuple[str, int, int]]  # name, bytes, rounds


class Workshop:
    """Compiles the programs into a folder of the build, and starts them."""

    def __init__(self, build: Path) -> None:
        self.build = build.resolve()
        self.folder = self.build / "bench" / "pingpong"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.programs: dict[str, Program] = {}
        self.left_out: list[str] = []
        self.gasnet = cached(self.build, "HIROBA_GASNET")
        for program in PROGRAMS:
            if (compiler := self.compiler(program)) is None:
                remedy = f"Debian: {program.package}" if program.package else "./dev build"
                self.left_out.append(f"left out: {program.name}, for there is no {program.compiler} ({remedy})")
            elif self.compile(program, compiler):
                self.programs[program.name] = program
        harness.show_progress("")
        for name in (OURS, ELEMENT):
            if name not in self.programs:
                raise BenchmarkError(f"without {name} there is nothing to compare: {'; '.join(self.left_out)}")

    def compiler(self, program: Program) -> str | None:
        if program.compiler == "hirobacc":  # of this build, not of one that is installed
            return shutil.which("hirobacc", path=str(self.build / "bin"))
        if program.pkg_config:
            return self.pkg_config(program, f"--variable={program.compiler}")
        return shutil.which(program.compiler)

    def pkg_config(self, program: Program, *question: str) -> str | None:
        """What the package says, where this build has found it or where pkg-config looks by itself."""
        path = [f"{self.gasnet}/lib/pkgconfig"] if self.gasnet else []
        settings = os.environ | {"PKG_CONFIG_PATH": ":".join([*path, os.environ.get("PKG_CONFIG_PATH", "")])}
        command = ["pkg-config", *question, program.pkg_config]
        if shutil.which(command[0]) is None:
            return None
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False, env=settings)
        return done.stdout.strip() if done.returncode == 0 else None

    def binary(self, program: Program) -> Path:
        return self.folder / program.name.replace(", ", "_")

    def compile(self, program: Program, compiler: str) -> bool:
        harness.show_progress(f"compiling {program.name}")
        flags = list(FLAGS)
        common = str(FOLDER / "pingpong.c")
        if program.compiler == "caf":
            common = str(self.folder / "pingpong.o")
            call_compiler(["cc", *flags, "-c", str(FOLDER / "pingpong.c"), "-o", common])
        command = [compiler, *flags, str(FOLDER / program.source), common, "-o", str(self.binary(program))]
        if program.pkg_config:
            command += (self.pkg_config(program, "--cflags", "--libs") or "").split()
        failed = call_compiler([*command, *program.libraries], program.optional)
        if failed:
            self.left_out.append(f"left out: {program.name}, which does not compile here: {failed}")
        return not failed

    def cases(self, program: Program, cases: Cases) -> list[str]:
        return [
            str(word)
            for name, size, rounds in cases
            if name not in program.lacks and (not name.endswith("2") or size <= program.strided)
            for word in (name, size, rounds)
        ]

    def rival(self, name: str, cases: Cases) -> Contestant:
        program = self.programs[name]
        launch: list[str | Path] = [*harness.mpirun(2)]
        if program.start == MPICH:
            launch = [shutil.which("mpirun.mpich") or "mpirun.mpich", "-n", "2"]
        return Contestant(name, [*launch, self.binary(program), *self.cases(program, cases)], harness.threads(1))

    def rivals(self, cases: Cases) -> list[Contestant]:
        return [self.rival(name, cases) for name in self.programs if name not in (OURS, ELEMENT)]

    def ours(self, cases: Cases, layer: Layer | None = None) -> Contestant:
        """On one node, or over two virtual nodes, between which the layer carries everything."""
        program = self.programs[OURS]
        launch = layers.hirobarun(self.build, 2, 1 if layer is None else 2, layer)
        name = OURS if layer is None else f"{layer.name}, 2 nodes"
        return Contestant(name, [*launch, self.binary(program), *self.cases(program, cases)], harness.threads(1))

    def element(self) -> Contestant:
        launch = layers.hirobarun(self.build, 2)
        return Contestant(ELEMENT, [*launch, self.binary(self.programs[ELEMENT])], harness.threads(1))


def cached(build: Path, name: str) -> str:
    """What CMake knows by that name in this build."""
    lines = (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    return next((line.partition("=")[2] for line in lines if line.startswith(f"{name}:")), "")


def by_case(run: Mapping[str, float]) -> dict[tuple[str, int], float]:
    """A contestant's line of JSON: seconds by case and bytes."""
    return {(name.partition(" ")[0], int(name.partition(" ")[2])): value for name, value in run.items()}
