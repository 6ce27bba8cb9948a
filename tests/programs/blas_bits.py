#!/usr/bin/env python3
"""Compares the bits of all results of a program, blas.cpp or one of sparse.h: equal for any number of threads and
nodes, and of blas.cpp with --reproducible for any number of ranks.

blas_bits.py HIROBARUN PROGRAM [COUNT]
"""

import os
import subprocess
import sys

COUNT = "150" if len(sys.argv) < 4 else sys.argv[3]
ONCE = "TESTS_ONCE" in os.environ  # set by tests/sets/run.py, unless all tests are wanted


def bits(ranks: int, nodes: int, threads: int, *options: str) -> str:
    command = [sys.argv[1], "-n", str(ranks), "--nodes", str(nodes), *options, sys.argv[2], "--count", COUNT]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0 or "done " not in done.stdout:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.rpartition("done ")[2].split()[0]


def require_equal(what: str, found: dict[str, str]) -> None:
    if len(set(found.values())) != 1:
        sys.exit(f"bits differ {what}: {found}")


def main() -> int:
    for ranks in (3,) if ONCE else (1, 2, 3):
        shapes = [(1, 1), (1, 1), (1, 3), (ranks, 2)]  # nodes, threads
        if ONCE:
            shapes = shapes[2:]
        require_equal(
            f"with {ranks} ranks",
            {
                f"{i}: {nodes} nodes, {threads} threads": bits(ranks, nodes, threads)
                for i, (nodes, threads) in enumerate(shapes)
            },
        )
    if len(sys.argv) > 3:
        return 0
    shapes = [(1, 1), (4, 2)] if ONCE else [(1, 1), (2, 1), (2, 2), (3, 1), (4, 2)]
    require_equal("with --reproducible", {f"{r} ranks, {n} nodes": bits(r, n, 2, "--reproducible") for r, n in shapes})
    print("equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
