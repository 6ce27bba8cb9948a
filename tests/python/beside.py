"""Programs whose ranks have threads, or children made by fork(), beside them, for test_endings.py. Usage:
beside.py CASE"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

import hiroba
import numpy as np

A = hiroba.zeros(1 << 14, name="temperature")
me = hiroba.rank


def forks_and_uses(what: Callable[[], object]) -> int:
    """Returns the status of a child that does this."""
    child = os.fork()
    if child == 0:
        what()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def children_write() -> None:
    """On one node all ranks see it, by whatever statement it is written."""
    A.local[...] = 1
    b = hiroba.zeros((8, 6))
    hiroba.barrier()
    part, rows, wrote = A.local, b.local, [1, 2, 3]

    def assign() -> None:
        part[...] += 1
        part[:2] = 5
        rows[0] += 1
        np.add(rows, 1, out=rows)
        rows[wrote[0] :].fill(7)
        b[b.box()] += 1
        like = np.zeros_like(b)  # its own
        like[:1] = 3

    assert forks_and_uses(assign) == 0
    hiroba.barrier()
    assert A.sum() == 2 * A.size + 6 * hiroba.size, A.sum()
    assert b.sum() == hiroba.size * 6 * 3 + (8 - hiroba.size) * 6 * 8, b.sum()
    print("well")


def children_use_other_nodes() -> None:
    """What was fetched before they may read; the rest of other nodes' memory, which nobody would fetch for them, is
    refused instead of read as zero, and so are writes, which no other node would hear of."""
    A.local[...] = 1 + me
    hiroba.barrier()
    of_other = A[A.box(1 - me)]
    assert forks_and_uses(lambda: print(float(of_other.sum()))) != 0
    assert forks_and_uses(lambda: A.local.fill(0)) != 0
    assert of_other.sum() == (2 - me) * len(of_other)
    assert forks_and_uses(lambda: of_other.sum() == (2 - me) * len(of_other) or os._exit(3)) == 0
    assert forks_and_uses(lambda: of_other.fill(0)) != 0
    hiroba.barrier()
    assert A.sum() == 3 * len(of_other)
    print("well")


def sums_in_two_threads() -> None:
    """One after the other on each rank, in another order: which a look at whether they overlap would not find."""

    def call(v: int) -> None:
        time.sleep(0.2 * ((me + v) % 2))
        hiroba.allreduce(v)

    threads = [threading.Thread(target=call, args=(v,)) for v in (10, 101)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    print("not refused")


def sums_in_a_pool() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def call(v: int) -> int:
        time.sleep(0.2)  # else one thread may do all, in the order of the list, which is right
        got: int = hiroba.allreduce(v)
        return got

    with ThreadPoolExecutor(2) as pool:
        print(list(pool.map(call, [1, 100])))


def sums_in_turns_of_a_lock() -> None:
    turn = threading.Lock()

    def call() -> None:
        with turn:
            hiroba.ibarrier().wait()

    threads = [threading.Thread(target=call) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def sums_beside_a_thread() -> None:
    thread = threading.Thread(target=lambda: hiroba.zeros(5))
    thread.start()
    hiroba.allreduce(1)
    thread.join()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
