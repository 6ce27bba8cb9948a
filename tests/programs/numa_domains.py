#!/usr/bin/env python3
"""Runs numa.c where the machine is said to have two NUMA domains: the kernel's folder about them is covered by another
one, in a mount namespace, and numa_standin.c answers mbind and move_pages. Needs root and two CPUs; else it exits with
77.

numa_domains.py HIROBARUN HIROBA PROGRAM MISUSE STANDIN
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

COVER = 'mount --bind "$0" /sys/devices/system/node && exec "$@"'
TABLE_BYTES = 64 << 20


def describe_machine(folder: pathlib.Path, cpus: list[int]) -> None:
    """A domain per CPU."""
    (folder / "online").write_text("0-1\n")
    (folder / "possible").write_text("0-1\n")
    for domain, cpu in enumerate(cpus):
        own = folder / f"node{domain}"
        own.mkdir()
        (own / "cpulist").write_text(f"{cpu}\n")
        (own / "cpumap").write_text(f"{1 << cpu:x}\n")
        (own / "distance").write_text("10 20\n" if domain == 0 else "20 10\n")
        (own / "meminfo").write_text(f"Node {domain} MemTotal: 4194304 kB\nNode {domain} MemFree: 2097152 kB\n")


class Machine:
    def __init__(self, folder: pathlib.Path, standin: str, cpus: list[int]) -> None:
        self.sys = folder / "node"
        self.sys.mkdir()
        self.table = folder / "table"
        self.settings = {"LD_PRELOAD": standin, "NUMA_STANDIN": str(self.table), "NUMA_SECOND": str(cpus[1])}
        self.settings["HWLOC_ALLOW"] = "all"  # the kernel allows this process its one domain
        describe_machine(self.sys, cpus)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        with self.table.open("wb") as table:
            table.truncate(TABLE_BYTES)
        return subprocess.run(
            ["unshare", "-m", "sh", "-c", COVER, str(self.sys), *words],
            capture_output=True, text=True, timeout=300, env={**os.environ, **self.settings}, check=False,
        )  # fmt: skip


def expect(result: subprocess.CompletedProcess[str], status: int, *patterns: str) -> None:
    text = result.stdout + result.stderr
    for pattern in patterns:
        if re.search(pattern, text) is None:
            sys.exit(f"{result.args}: no '{pattern}' in:\n{text}")
    if result.returncode != status:
        sys.exit(f"{result.args}: status {result.returncode}, not {status}:\n{text}")


def main() -> int:
    hirobarun, hiroba, program, misuse, standin = sys.argv[1:]
    cpus = sorted(os.sched_getaffinity(0))[:2]
    allowed = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    if len(cpus) < 2 or not allowed:
        print("needs two CPUs, and the right to make a mount namespace")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(pathlib.Path(folder), standin, cpus)
        for seed in range(1, 2 if "TESTS_ONCE" in os.environ else 5):
            for bind in ("numa", "core", f"{cpus[1]},{cpus[0]}"):
                result = machine.run(hirobarun, "-n", "2", "--bind", bind, program, "--seed", str(seed))
                expect(result, 0, f"done: 2 domains, seed {seed}")
        for ranks in ("3", "4"):
            expect(machine.run(hirobarun, "-n", ranks, "--bind", "numa", program), 0, "done: 2 domains")
        both = ("--bind", "numa", "--report-bindings")
        expect(
            machine.run(hirobarun, "-n", "2", *both, "true"), 0, "rank 0 bound .* NUMA domain 0:", "rank 1 .* domain 1:"
        )
        expect(
            machine.run(hirobarun, "-n", "1", "--memory", "domain:2", program), 1,
            "option memory: there is no NUMA domain 2; this machine has 0-1",
        )  # fmt: skip
        expect(
            machine.run(hirobarun, "-n", "1", misuse, "no_rank"), 1, "rank 1 does not exist"
        )  # fmt: skip
        expect(
            machine.run(hirobarun, "-n", "1", misuse, "other_node"), 1,
            "the CPUs of rank 0 are on several NUMA domains.*start the program with --bind numa",
        )  # fmt: skip
        expect(machine.run(hiroba, "info", "--memory"), 0, r"\n +1 +1 ", "2 NUMA domains")
    print("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
