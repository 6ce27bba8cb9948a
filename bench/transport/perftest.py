"""ucx_perftest as a contestant: its server on one host, its client on another, and the numbers that the client prints.

It checks nothing that it moves; it is a rival, and its figures are taken as they are. Blocks while it runs.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from typing import Any

import harness
from harness import BenchmarkError, Contestant
from hosts import Hosts

PROGRAM = "ucx_perftest"
SETTINGS = ["env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0"]


@dataclass
class Perftest(Contestant):
    """`command` is the client's; `server` runs beside it."""

    server: list[str] = field(default_factory=list)
    figure: str = ""
    # Of the client's numbers: percentile, average and overall latency in us; average and overall bandwidth in MB/s.
    column: int = 0
    scale: float = 1


def rivals(hosts: Hosts | None, small: bool) -> dict[str, Perftest]:
    """A ping-pong of tagged messages, of which ucx_perftest gives half, one of puts, and a stream of 4 MiB messages."""
    if shutil.which(PROGRAM) is None:
        raise BenchmarkError(f"there is no {PROGRAM}, the rival of transport ucx; Debian's package is ucx-utils")
    if hosts is None:
        raise BenchmarkError(f"{PROGRAM} needs two hosts")
    server, client = hosts.names[:2]

    def make(test: str, size: int, count: int, figure: str, column: int, scale: float) -> Perftest:
        options = ["-t", test, "-s", str(size), "-n", str(count), "-w", str(max(1, count // 10)), "-f"]
        words = [*SETTINGS, PROGRAM, hosts.addresses[server], *options]
        return Perftest(
            PROGRAM,
            hosts.command(client, words),
            {},
            hosts.command(server, [*SETTINGS, PROGRAM]),
            figure,
            column,
            scale,
        )

    return {
        "latency": make("tag_lat", 8, 100 if small else 50000, "round trip us", 1, 2),
        "put": make("ucp_put_lat", 8, 100 if small else 50000, "one way us", 1, 1),
        "bandwidth": make("tag_bw", 4 << 20, 4 if small else 100, "GB/s", 5, (1 << 20) / 1e9),
    }


def run(contestant: Contestant, seconds: float) -> dict[str, Any]:
    """Any contestant, once."""
    if not isinstance(contestant, Perftest):
        return harness.run_once(contestant, seconds)
    server = subprocess.Popen(
        contestant.server, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        return _client(contestant)
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(5)
        server.kill()


def _client(contestant: Perftest) -> dict[str, Any]:
    """Tries again while the server does not listen yet."""
    end = time.monotonic() + 10
    while True:
        time.sleep(0.3)
        done = subprocess.run(
            contestant.command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
        )
        numbers = done.stdout.split("\n")[-2].split() if done.stdout.count("\n") else []
        if done.returncode == 0 and len(numbers) > contestant.column:
            return {contestant.figure: contestant.scale * float(numbers[contestant.column])}
        if time.monotonic() > end:
            shown = " ".join(map(str, contestant.command))
            raise BenchmarkError(
                f"{contestant.name}: {shown}\n  exit status {done.returncode}\n{done.stdout}{done.stderr}"
            )
