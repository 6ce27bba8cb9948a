"""Figures that the Barnes-Hut programs must reach: gates.py BIN GATE, for ctest.

forces    BH1: the rms error of the forces for three opening angles; BH2: with theta 0 the direct sum
energy    BH3: 80 steps; with theta 0 the error of the energy falls with the square of the step
pages     BH4: page requests for each body, with BodySort against without, on 2 and 4 nodes
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(command: list[str | Path]) -> dict[str, Any]:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode} of {command}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def need(what: str, value: float, limit: float) -> None:
    print(f"{what}: {value:.3g}, at most {limit:g}")
    if not value <= limit:
        sys.exit("the gate is not reached")


def forces(bin_folder: Path) -> None:
    errors = []
    for theta, limit in ((0.3, 1.5e-3), (0.5, 5e-3), (1.0, 3e-2)):
        options = ["--size", "4096", "--softening", "0.05", "--steps", "1", "--theta", str(theta), "--verify", "--json"]
        errors.append(run([bin_folder / "barnes_hut_seq", *options])["error"])
        need(f"rms error of the forces, theta {theta}", errors[-1], limit)
    assert errors == sorted(errors), "a larger theta must have a larger error"
    shared: list[str | Path] = [bin_folder / "hirobarun", "-n", "3", "--nodes", "2", bin_folder / "barnes_hut_sms"]
    for start in ([bin_folder / "barnes_hut_seq"], shared):
        options = ["--size", "4096", "--steps", "1", "--theta", "0", "--verify", "--json"]
        need("largest error of the forces, theta 0", run([*start, *options])["error"], 1e-12)


def energy(bin_folder: Path) -> None:
    program = bin_folder / "barnes_hut_seq"
    options = ["--softening", "0.05", "--verify", "--json"]
    found = run([program, "--size", "4096", "--steps", "80", *options])
    need("change of the energy in 80 steps", found["drift"], 1e-3)
    need("momentum after 80 steps", found["momentum"], 5e-4)
    exact = [
        run([program, "--size", "512", "--theta", "0", "--steps", str(steps), "--dt", str(2 / steps), *options])[
            "drift"
        ]
        for steps in (80, 160)
    ]
    print(f"theta 0, half the step: {exact[0]:.3g} becomes {exact[1]:.3g}")
    assert 3 < exact[0] / exact[1] < 5, "the order of the steps is not 2"


def pages(bin_folder: Path) -> None:
    # One page for each request, as the paper counts.
    for nodes, limit in ((2, 0.2), (4, 0.2)):
        found = []
        for sort in (1, 0):
            job: list[str | Path] = [
                bin_folder / "hirobarun",
                "-n",
                str(nodes),
                "--nodes",
                str(nodes),
                "--readahead",
                "4K",
            ]
            options = ["--size", "65536", "--steps", "3", "--bodysort", str(sort), "--json"]
            found.append(run([*job, bin_folder / "barnes_hut_sms", *options])["pages_per_body"])
        print(f"{nodes} nodes: {found[0]:.5f} page requests for each body with BodySort, {found[1]:.5f} without")
        need(f"{nodes} nodes: with BodySort / without", found[0] / found[1], limit)


if __name__ == "__main__":
    {"forces": forces, "energy": energy, "pages": pages}[sys.argv[2]](Path(sys.argv[1]))
