"""The layers on which coarrays can run here, and how a program starts on one: asked by bench/pingpong and bench/npb.

A layer is a transport that `hiroba info` shows as usable; that of MPI is one for each MPI.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import BenchmarkError


@dataclass(frozen=True)
class Layer:
    name: str
    options: tuple[str, ...]  # of hirobarun


def known(build: Path) -> list[Layer]:
    """Those that `hiroba info` names: a transport stands two blanks from the edge, what it needs below it."""
    try:
        told = subprocess.run(
            [build / "bin" / "hiroba", "info"], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise BenchmarkError(f"hiroba info does not run: {error}; build it first: ./dev build") from error
    part = told.stdout.partition("\nTransports\n")[2].partition("\n\n")[0]
    found: list[Layer] = []
    name, missing = "", False
    for line in [*part.splitlines(), "  end  "]:
        if start := re.match(r"  (\w+)\s", line):
            if name and not missing and not any(layer.name.startswith(f"{name}-") for layer in found):
                found.append(Layer(name, ("--transport", name)))
            name, missing = start[1], False
        elif kind := re.match(r"    (\w+): (yes|no)", line):
            missing = True  # the transport's own name stands for no MPI in particular
            if kind[2] == "yes":
                found.append(Layer(f"{name}-{kind[1]}", ("--transport", name, "--mpi", kind[1])))
        elif re.match(r"    plug-in: no", line):
            missing = True
    return found


def allow_root() -> None:
    """Open MPI wants to be told that this is meant, where hirobarun becomes its mpirun."""
    if os.geteuid() == 0:
        for consent in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
            os.environ.setdefault(consent, "1")


def hirobarun(build: Path, ranks: int, nodes: int = 1, layer: Layer | None = None) -> list[str | Path]:
    """On this machine; several nodes are virtual ones, between which the layer carries everything."""
    options = layer.options if layer is not None else ()
    return [build / "bin" / "hirobarun", "-n", str(ranks), "--nodes", str(nodes), "--threads", "1", *options]
