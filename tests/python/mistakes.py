"""What every rank does although one should: each way to write it is found, once for all ranks, with its line; what is
right is not. A program of all ranks, which prints `done` from rank 0. Usage: hirobarun python3 mistakes.py"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import hiroba
import numpy as np

N = 48  # elements along an axis
CHECK = os.environ.get("HIROBA_CHECK") == "yes"
me, n = hiroba.rank, hiroba.size


def adds(a: Any) -> None:
    a += 1


def assigns_sum(a: Any) -> None:
    a[:] = a + 1


def assigns_all(a: Any) -> None:
    a[...] = np.sin(a)


def smooths(a: Any) -> None:
    a[1:-1] = (a[:-2] + a[2:]) / 2


def adds_into(a: Any) -> None:
    np.add(a, 1, out=a)


def reduces_into(a: Any) -> None:
    np.cumsum(np.ones((N, N)), axis=0, out=a)


def sums_into(a: Any) -> None:
    a.sum(axis=0, out=a[0])


def accumulates(a: Any) -> None:
    a.cumsum(axis=1, out=a)


def puts_along(a: Any) -> None:
    np.put_along_axis(a, np.zeros((N, 1), int), 9, axis=1)


def copies_by_name(a: Any) -> None:
    np.copyto(dst=a, src=0)


def clips(a: Any) -> None:
    a.clip(0, 1, out=a)


def fills(a: Any) -> None:
    a.fill(7)


def sorts(a: Any) -> None:
    a.sort()


def copies(a: Any) -> None:
    np.copyto(a, np.ones((N, N)))


def puts(a: Any) -> None:
    np.put(a, [3, 5], [1, 2])


def sets_diagonal(a: Any) -> None:
    np.fill_diagonal(a, 1)


def flat(a: Any) -> None:
    a.flat = 3


def adds_to_elements(a: Any) -> None:
    line = a[3]
    for i in range(len(line)):
        line[i] += 1


def assigns_elements(a: Any) -> None:
    for i in range(N):
        for j in range(N):
            a[i, j] = i * j


def adds_to_one(a: Any) -> None:
    a[2, 3] += 5


def adds_to_rows(a: Any) -> None:
    for row in a:
        row += 1


def assigns_rows(a: Any) -> None:
    for i in range(1, N):
        a[i] = a[i - 1]


def chooses(a: Any) -> None:
    a[a < 5] = 1


def adds_to_list(a: Any) -> None:
    a[[1, 4, 2]] += 1


def assigns_edge(a: Any) -> None:
    a[:, 0] = 100


def transposed(a: Any) -> None:
    a.T[2:5] = 3


def subtracts_mean(a: Any) -> None:
    a -= a.mean()


def double(x: Any) -> None:
    x *= 2


def calls(a: Any) -> None:
    for _ in range(20):
        double(a.local)
    hiroba.barrier()
    double(a)


WRONG: list[Callable[[Any], None]] = [
    *(adds, assigns_sum, assigns_all, smooths, adds_into, reduces_into, clips, fills, sorts, copies, puts),
    *(sums_into, accumulates, puts_along, copies_by_name),
    *(sets_diagonal, flat, adds_to_elements, assigns_elements, adds_to_one, adds_to_rows, assigns_rows, chooses),
    *(adds_to_list, assigns_edge, transposed, subtracts_mean),
]


def like_assigns(a: Any) -> None:
    b = np.zeros_like(a)
    b[a.box()] = 2 * a[a.box()]
    hiroba.barrier()
    b.sum()


def like_adds(a: Any) -> None:
    b = np.full_like(a, 3)
    part = b[a.box()]
    part += 1
    hiroba.barrier()
    part.sum()


def like_copies(a: Any) -> None:
    b = np.empty_like(a, dtype=int)
    np.copyto(b[a.box()], 3)
    hiroba.barrier()
    b.sum()


def like_fills(a: Any) -> None:
    b = np.ones_like(a)
    b[a.box()].fill(4)
    hiroba.barrier()
    b.sum()


PRIVATE: list[Callable[[Any], None]] = [like_assigns, like_adds, like_copies, like_fills]


def own_parts(a: Any) -> None:
    part = a.local
    part += 1
    part[...] = part + 1
    part[1:-1] = (part[:-2] + part[2:]) / 2
    part[part > 1] = 0
    np.add(part, 1, out=part)
    part.sort()
    part.fill(3)
    for i in hiroba.prange(N):
        a[i] += 1
        a[i, 3] = 5
        for j in range(N):
            a[i, j] = j
    a[a.box()] = 4
    a[list(hiroba.prange(N))] = 2
    hiroba.barrier()
    a[np.arange(me, N, n)] = 3
    rows = np.zeros((N, N), bool)
    rows[me::n] = True
    a[rows] = 7


def halo(a: Any) -> None:
    b = a + 1
    hiroba.barrier()
    here = a.halo()
    here[1:-1] = b[a.box()][: len(here[1:-1])]


def single(a: Any) -> None:
    for _ in hiroba.single():
        a += 1
        a[:] = 5
    for _ in hiroba.single(n - 1):
        a[...] = 7
    if me == 0:
        a.fill(1)


def one_after_another(a: Any) -> None:
    for r in range(n):
        if r == me:
            a += 1
            a[:] = a + 1
        hiroba.barrier()
    for r in range(n):
        if r == me:
            a[1:] += 1
        hiroba.ones(3).free()  # which is a barrier, too
    with hiroba.lock(5):
        a += 1
        a[3, 4] += 1


def tasks(a: Any) -> None:
    hiroba.barrier()
    for i in range(20):

        @hiroba.task(commutes=[a[0]])
        def add(i: int = i) -> None:
            a[0] += i
            a[0, 1] += i

    hiroba.taskwait()


def flags(a: Any) -> None:
    if not CHECK:
        for _ in range(30):
            a[0, 0] = 1  # all ranks say the same


def other_elements(a: Any) -> None:
    a[me::n] = 1
    hiroba.barrier()
    a.T[me::n][:, ::2] += 1
    hiroba.barrier()
    a[:, me % N] = 3


def private(a: Any) -> None:
    b = a + 1
    b += 1
    b[:] = 3
    c = a[[1, 2]]
    c += 1
    c[:] = a[1:3]
    d = a.copy()
    d[d > 0] = 3
    d.sort()


def private_as_a_whole(a: Any) -> None:
    for make in (np.zeros_like, np.empty_like):
        b = make(a)
        b[...] = 2
        b[3] = 7
        hiroba.barrier()
        part = make(a.local)
        part[...] = 3
        part[1:] += 1
        hiroba.barrier()
        given = make(a)
        given[...] = 0
        given[a.box()] = 1
        assert hiroba.allreduce(given).all()
        plain = np.zeros(a.shape)
        plain[a.box()] = a.local
        hiroba.barrier()


def read_only(a: Any) -> None:
    a.sum()
    np.sum(a[3:])
    np.concatenate([a, a])
    np.add(a, 1, out=np.zeros((N, N)))
    assert a.flat[3] == a.real[0, 3]


def refused_by_numpy(a: Any) -> None:
    a.setflags(write=False)
    for write in (lambda: a.fill(3), lambda: a.__setitem__(slice(None), 2), lambda: np.add(a, 1, out=a)):
        try:
            write()
        except ValueError:
            continue
        raise AssertionError("not read-only")
    a.setflags(write=True)


RIGHT: list[Callable[[Any], None]] = [
    own_parts,
    halo,
    single,
    one_after_another,
    tasks,
    flags,
    other_elements,
    private,
    private_as_a_whole,
    read_only,
    refused_by_numpy,
]


def warnings_of(program: Callable[[Any], None]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found, hiroba.zeros((N, N), name="field") as a:
        warnings.simplefilter("always")
        program(a)
        hiroba.barrier()
    return found


def main() -> None:
    for program in RIGHT:
        found = warnings_of(program)
        assert not found, (program, [f"{each.lineno}: {each.message}" for each in found])
    if not CHECK:  # with which they end the job: test_endings.py
        for program in (*WRONG, *PRIVATE):
            found = warnings_of(program)
            first = program.__code__.co_firstlineno
            assert hiroba.allreduce(len(found)) == min(1, n - 1), (program, found)
            for each in found:
                about = "as array field is divided" if program in PRIVATE else "of array field"
                assert about in str(each.message) and each.category is RuntimeWarning
                assert each.filename == __file__ and first < each.lineno <= first + 5, (program, each.lineno)
        found = warnings_of(calls)
        assert hiroba.allreduce(len(found)) == min(1, n - 1), found
    if me == 0:
        print("done")


main()
