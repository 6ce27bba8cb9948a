"""For option report: report_cases.py CASE [remedied] has one problem, or is the same program without it."""

import sys

import hiroba
import numpy as np

ROUNDS = 50
MANY = 1 << 20
remedied = len(sys.argv) > 2
mine = np.zeros(4096)


def compute(units: int) -> None:
    for _ in range(units):
        np.sin(mine, out=mine)


def missing_preload() -> None:
    a = hiroba.zeros(MANY, name="a")
    many = MANY // hiroba.size
    low = many * ((hiroba.rank + 1) % hiroba.size)
    for step in range(ROUNDS):
        a.local[::512] = step  # a number of each page
        hiroba.barrier()
        other = slice(low + 512 * (step % 8), low + many, 4096)  # every eighth page, and others each time
        if remedied:
            a.preload(other)
        a[other].max()  # reads what another rank has written
        hiroba.barrier()


def two_lines() -> None:
    a = hiroba.zeros(MANY, name="a")
    many = MANY // hiroba.size
    low = many * ((hiroba.rank + 1) % hiroba.size)
    first, second = np.asarray(a)[low : low + many // 2 : 512], np.asarray(a)[low + many // 2 : low + many : 512]
    for step in range(4):
        a.local[::512] = step
        hiroba.barrier()
        first.max()  # the first half
        second.max()  # the second half
        hiroba.barrier()


def lock_contention() -> None:
    total = hiroba.zeros(1, name="total")
    for _ in range(1000):
        compute(1)  # meanwhile another rank takes the lock
        if remedied:
            compute(10)
            continue
        with hiroba.lock(3):
            compute(10)
            total[0] += 1
    hiroba.barrier()


def load_imbalance() -> None:
    for _ in range(ROUNDS):
        compute(200 if remedied or hiroba.rank > 0 else 800)
        hiroba.barrier()  # the end of uneven work


def collective() -> None:
    for i in range(20000):
        mine[i % 4096] += 1
        if not remedied:
            mine[0] = hiroba.allreduce(mine[0])
    if remedied:
        compute(5000)
        hiroba.allreduce(mine)


def small_tasks() -> None:
    a = hiroba.zeros(MANY, name="a")
    block = MANY // (16 if remedied else 8192)
    for first in range(0, MANY, block):

        @hiroba.task(writes=[a[first : first + block]])
        def fill(first: int = first) -> None:
            a[first : first + block] = first

    hiroba.taskwait()
    compute(2000)


globals()[sys.argv[1]]()
