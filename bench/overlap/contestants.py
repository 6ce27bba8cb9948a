"""The libraries that are compared: how the program of this folder is compiled for each, and how it is started with and
without progress threads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness
from harness import ROOT, BenchmarkError, Contestant

FOLDER = Path(__file__).resolve().parent
# Loops begin at multiples of 32 bytes: else the same instructions may take a fifth longer in one of the programs.
FLAGS = ("-O3", "-march=native", "-fopenmp", "-falign-loops=32")
COMPILE_SECONDS = 60
HIROBA = "hiroba"
# The paper's names: no progress thread; one; one on a fixed CPU; one that works only while the rank computes (mode 2).
NORMAL, THREAD, PIN, REGION = "normal", "thread", "threadpin", "region"
MODES = (NORMAL, THREAD, PIN, REGION)
FULL, SPARE = "full", "spare"
PLACEMENTS = (SPARE, FULL)


@dataclass(frozen=True)
class Mode:
    """What it adds: words of the launcher, variables, words of the program."""

    option: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Library:
    """How to start it: `launch`, in which Team.fill fills in what stands in braces; and the modes that it has."""

    name: str
    compiler: str
    launch: str
    modes: dict[str, Mode] = field(default_factory=lambda: {NORMAL: Mode()})


@dataclass(frozen=True)
class Team:
    """Ranks on nodes. Without hosts, one node: this one."""

    per_node: int
    hosts: tuple[str, ...] = ()

    @property
    def ranks(self) -> int:
        return self.per_node * max(1, len(self.hosts))

    def fill(self, words: str, cpu: int) -> list[str]:
        counts = ",".join(f"{host}:{self.per_node}" for host in self.hosts)
        names = {"ranks": self.ranks, "per_node": self.per_node, "cpu": cpu, "hosts": counts}
        names["names"] = ",".join(self.hosts)
        return [word.format(**names) for word in words.split()]


def known(hosts: Sequence[str], build: Path) -> list[Library]:
    """Those that the benchmark starts by itself; `--mpi` adds others."""
    consent = "--allow-run-as-root " if os.geteuid() == 0 else ""
    unbound = "--oversubscribe --bind-to none --mca mpi_yield_when_idle 1"
    asynchronous = {"MPICH_ASYNC_PROGRESS": "1"}
    pinned = asynchronous | {"MPICH_PROGRESS_THREAD_AFFINITY": "{cpus}"}
    run = build / "bin" / "hirobarun"
    progress = {mode: Mode(f"--progress {option}") for mode, option in ((NORMAL, "none"), (THREAD, "thread"))}
    progress |= {PIN: Mode("--progress pin:{cpu}"), REGION: Mode("--progress thread", words=("--region",))}
    return [
        Library(
            "openmpi",
            "mpicc.openmpi",
            f"mpirun.openmpi {consent}{unbound} -n {{ranks}}" + (" --host {hosts}" if hosts else ""),
        ),
        Library(
            "mpich",
            "mpicc.mpich",
            "mpirun.mpich -n {ranks}" + (" -hosts {names} -ppn {per_node}" if hosts else ""),
            {NORMAL: Mode(), THREAD: Mode(variables=asynchronous), PIN: Mode(variables=pinned)},
        ),
        Library(
            HIROBA,
            "cc",
            f"{run} " + ("--hosts {hosts}" if hosts else "-n {ranks}"),
            progress,
        ),
    ]


def described(text: str) -> Library:
    """`--mpi NAME:MPICC:MPIRUN WORDS[:VARIABLE=VALUE,..[:VARIABLE=VALUE,..]]`: the variables switch on the progress
    thread, and then that on CPU {cpu}."""
    parts = text.split(":")
    if not 3 <= len(parts) <= 5:
        raise BenchmarkError(f"--mpi {text}: it has {len(parts)} parts; see --help")
    modes = {NORMAL: Mode()}
    for mode, part in zip((THREAD, PIN), parts[3:], strict=False):
        if bad := [word for word in part.split(",") if "=" not in word]:
            raise BenchmarkError(f"--mpi {text}: {bad[0]} is not VARIABLE=VALUE")
        modes[mode] = Mode(variables=dict(word.split("=", 1) for word in part.split(",")))
    launch = parts[2] if "{ranks}" in parts[2] else f"{parts[2]} -n {{ranks}}"
    return Library(parts[0], parts[1], launch, modes)


class Programs:
    """The program, compiled for each library that is here; the others are left out, with the reason."""

    def __init__(self, libraries: Sequence[Library], build: Path, folder: Path) -> None:
        self.build = build.resolve()
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.libraries: list[Library] = []
        self.left_out: list[str] = []
        for library in libraries:
            launcher = library.launch.split()[0]
            missing = [word for word in (library.compiler, launcher) if shutil.which(word) is None]
            if library.name == HIROBA and not self.headers():
                self.left_out.append(f"left out: {HIROBA}, for it has no <hiroba/collective.h>")
            elif missing:
                self.left_out.append(f"left out: {library.name}, for there is no {missing[0]}")
            else:
                self.compile(library)
                self.libraries.append(library)
        if not self.libraries:
            raise BenchmarkError(f"there is no library to measure: {'; '.join(self.left_out)}")

    def headers(self) -> Path | None:
        """In an installation beside bin, in a build folder in the source."""
        folders = (self.build / "include", ROOT / "include")
        return next((folder for folder in folders if (folder / "hiroba" / "collective.h").exists()), None)

    def binary(self, library: Library) -> Path:
        return self.folder / f"overlap_{library.name}"

    def compile(self, library: Library) -> None:
        harness.show_progress(f"compiling for {library.name}")
        source = "hiroba.c" if library.name == HIROBA else "mpi.c"
        sources = [str(FOLDER / name) for name in (source, "common.c", "options.c")]
        command = [library.compiler, *FLAGS, *sources, "-o", str(self.binary(library))]
        if library.name == HIROBA:
            patterns = ("lib*/libhiroba.so", "lib/*/libhiroba.so")
            found = next((path.parent for pattern in patterns for path in self.build.glob(pattern)), self.build / "lib")
            headers = self.headers()
            command += [f"-I{headers}", f"-I{headers}/hiroba", f"-L{found}", f"-Wl,-rpath,{found}", "-lhiroba"]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False
        )
        if done.returncode != 0:
            raise BenchmarkError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        harness.show_progress("")

    def start(self, library: Library, mode: str, team: Team, placement: str, words: Sequence[str]) -> Contestant:
        """Its progress thread, where its place is chosen, is on the last CPU: in placement spare no rank computes there
        if they compute on all but one."""
        cpu = max(os.sched_getaffinity(0))
        threads = max(1, len(os.sched_getaffinity(0)) // team.per_node - (placement == SPARE))  # as the program has it
        added = library.modes[mode]
        option = added.option
        if library.name == HIROBA and placement == SPARE:
            option = option.replace("thread", "spare")
        cpus = ",".join([str(cpu)] * team.per_node)
        settings = {name: value.format(cpu=cpu, cpus=cpus) for name, value in added.variables.items()}
        launch = [*team.fill(library.launch, cpu), *team.fill(option, cpu)]
        command: list[str | Path] = [*launch, self.binary(library), "--placement", placement, *added.words, *words]
        return Contestant(f"{library.name}, {mode}", command, harness.threads(threads) | settings)

    def all_modes(self, team: Team, placement: str, words: Sequence[str], modes: Sequence[str]) -> list[Contestant]:
        return [
            self.start(library, mode, team, placement, words)
            for library in self.libraries
            for mode in library.modes
            if mode in modes
        ]
