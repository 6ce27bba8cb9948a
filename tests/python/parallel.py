"""Synchronisation, division of work, atomics and collective operations of hiroba: a program of all ranks, which prints
`done` from rank 0. Usage: hirobarun python3 parallel.py"""

from __future__ import annotations

import pickle
import threading
import time

import hiroba
import numpy as np

me, n = hiroba.rank, hiroba.size


def loops() -> None:
    a = hiroba.zeros(37, int)
    for i in hiroba.prange(37):
        a[i] += i + 1
    hiroba.barrier()
    assert (a == np.arange(1, 38)).all()
    hiroba.barrier()
    assert a.local.tolist() == [i + 1 for i in hiroba.prange(len(a))]
    hiroba.barrier()
    every = hiroba.allgather(list(hiroba.prange(5, 50, 7)))
    assert sum(every, []) == list(range(5, 50, 7))
    for _ in hiroba.single():
        assert (a == np.arange(1, 38)).all()  # which is why it waits for all before
        a[:] = 5
    assert a.sum() == 37 * 5
    for r in hiroba.single(n - 1):
        a[0] = r
    assert a[0] == n - 1
    try:
        with hiroba.single():
            raise AssertionError("the body runs")
    except TypeError as error:
        assert "for _ in" in str(error)
    a.free()


def locks_and_atomics() -> None:
    a = hiroba.zeros(8, "i8")
    b = hiroba.zeros((2, 2), "u4")
    for _ in range(10):
        with hiroba.lock(3):
            a[0] += 1
        hiroba.fetch_add(a, 1, 2)
        hiroba.fetch_add(b, (1, -1), 3)
    hiroba.barrier()
    with hiroba.shared_lock(3):
        assert a[0] == 10 * n
    assert hiroba.atomic_load(a, 1) == 20 * n and b[1, 1] == 30 * n
    hiroba.barrier()
    winner = hiroba.compare_swap(a, 2, 0, me + 1) == 0
    assert hiroba.allreduce(int(winner)) == 1
    if me == 0:
        hiroba.atomic_store(b, (0, 0), 2**32 - 1)
    hiroba.barrier()
    assert hiroba.atomic_load(b, (0, 0)) == 2**32 - 1
    for wrong in (
        lambda: hiroba.fetch_add(a.view("f8"), 0, 1),
        lambda: hiroba.fetch_add([0], 0, 1),  # type: ignore[arg-type]
        lambda: hiroba.lock(65536),
        lambda: hiroba.lock("a"),  # type: ignore[arg-type]
        lambda: hiroba.single(0.5),  # type: ignore[arg-type]
        lambda: b.box("1"),  # type: ignore[arg-type]
        lambda: hiroba.bcast(1, n - 0.5),  # type: ignore[arg-type]
        lambda: hiroba.fetch_add(b, 0, 1),  # a row
        lambda: hiroba.fetch_add(b, (0, slice(1)), 1),  # type: ignore[arg-type]
        lambda: hiroba.atomic_load(b, (0, 2)),
        lambda: hiroba.compare_swap(a, [[1]], 0, 1),  # type: ignore[list-item]
    ):
        try:
            wrong()
        except (IndexError, TypeError, ValueError, hiroba.Error):
            continue
        raise AssertionError("not refused")
    assert hiroba.atomic_load(a[::-1], np.array([6])) == 20 * n
    a.free()
    b.free()


def operations() -> None:
    total = n * (n + 1) // 2
    assert hiroba.allreduce(me + 1) == total and type(hiroba.allreduce(1)) is int
    assert hiroba.allreduce(0.5 + me, "max") == n - 0.5
    assert hiroba.reduce(np.full((2, 3), me), root=n - 1) is None or me == n - 1
    got = hiroba.reduce(np.arange(3) * (me + 1), "sum", 0)
    assert got is None if me else got.tolist() == [0, total, 2 * total]
    assert hiroba.scan(me + 1) == (me + 1) * (me + 2) // 2
    assert hiroba.exscan(me + 1) == me * (me + 1) // 2
    assert hiroba.bcast({"of": me}, n - 1) == {"of": n - 1}
    values = hiroba.bcast(np.arange(6.0).reshape(2, 3) if me == 0 else None)
    assert values.shape == (2, 3) and values[1, 2] == 5
    assert hiroba.bcast(7 if me == 0 else None) == 7
    assert hiroba.allgather(1.5 * me).tolist() == [1.5 * r for r in range(n)]
    assert hiroba.allgather(f"rank {me}") == [f"rank {r}" for r in range(n)]
    at_root = hiroba.gather(np.array([me, me]), 0)
    assert at_root is None if me else at_root.shape == (n, 2)
    assert hiroba.scatter(10 * np.arange(n) if me == 0 else None) == 10 * me
    assert hiroba.alltoall(100 * me + np.arange(n)).tolist() == [100 * r + me for r in range(n)]
    a = hiroba.full(n + 3, 2.0)
    assert (hiroba.allreduce(a) == 2 * n).all()
    a.free()
    for wrong in (lambda: hiroba.allreduce("x"), lambda: hiroba.allreduce(1, "mean"), lambda: hiroba.bcast(1, n)):
        try:
            wrong()
        except (TypeError, ValueError):
            continue
        raise AssertionError("not refused")


def truth_is_0_or_1() -> None:
    """On any number of ranks, also where a rank combines its value with none."""
    for kind in ("?", "i1", "u8", "f2", "f4", "longdouble", "c8", "c16", ">i4"):
        for given in (6, 0):
            have = np.full(3, given).astype(kind)
            for op in ("land", "lor"):
                for got in (
                    hiroba.allreduce(have, op),
                    hiroba.scan(have, op),
                    hiroba.exscan(have, op) if me > 0 else hiroba.exscan(have, op) + (given > 0),
                    hiroba.iallreduce(have, op).wait(),
                    hiroba.reduce(have, op, n - 1) if me == n - 1 else hiroba.reduce(have, op, n - 1) or have != 0,
                ):
                    assert (got == (given > 0)).all(), (kind, op, given, got)
            for op in ("max", "min", *(("band", "bor") if have.dtype.kind in "?iu" else ())):
                assert (hiroba.allreduce(have, op) == have).all(), (kind, op, given)
    assert hiroba.allreduce(6, "land") == hiroba.allreduce(6 * (me == 0), "lor") == 1
    assert hiroba.allreduce(True, "max") is True and hiroba.allreduce(me > 0, "min") is False


def arrays_in_objects() -> None:
    """Ranks of a job get views of the same memory; other processes get the elements."""
    a = hiroba.from_function(lambda i, j: 10 * i + j, (6, 4), "i4", name="sent")
    for view in (a, a[1:, ::-2], a.T, a[3], a[2:3, 1:2], a[0, :0]):
        got = hiroba.bcast(("view", view) if me == n - 1 else None, n - 1)[1]
        assert got.__array_interface__ == view.__array_interface__ and isinstance(got, hiroba.Array)
    views = hiroba.allgather({me: a[me % 6]})
    views[n - 1][n - 1][me % 4] = -1
    hiroba.barrier()
    assert (a[(n - 1) % 6, : min(n, 4)] == -1).all()
    text = pickle.dumps({"elements": a[1:3]})
    assert type(pickle.loads(text)["elements"]) is np.ndarray
    kept = {"of": a[2]}
    a.free()
    for use in (lambda: kept["of"][0], lambda: pickle.dumps(kept)):
        try:
            use()
        except hiroba.Error as error:
            assert "freed" in str(error)
        else:
            raise AssertionError("not refused")


def started() -> None:
    requests = [hiroba.iallreduce(np.full(10, me + i)) for i in range(4)]
    buffer = np.full(5, me)
    requests.append(hiroba.ibcast(buffer, n - 1))
    hiroba.ibarrier().wait()
    results = [each.wait() for each in requests]
    assert all((results[i] == n * (n - 1) // 2 + n * i).all() for i in range(4))
    assert (buffer == n - 1).all()

    async def awaits() -> int:
        return await hiroba.iallreduce(1)

    import asyncio

    assert asyncio.run(awaits()) == n


def threads_in_order() -> None:
    """Any thread may make collective calls that the program orders after those of others."""
    import asyncio
    import queue
    from concurrent.futures import ThreadPoolExecutor

    def total() -> int:
        got: int = hiroba.allreduce(me + 1)
        return got

    def started() -> int:
        out: list[int] = []
        thread = threading.Thread(target=lambda: out.append(total()))
        thread.start()
        thread.join()
        return out[0]

    async def awaited() -> int:
        return await asyncio.to_thread(total) + await asyncio.to_thread(total) + total()

    asked: queue.Queue[bool] = queue.Queue()
    answers: queue.Queue[int] = queue.Queue()

    def answer() -> None:
        while asked.get():
            hiroba.take_turn()
            answers.put(total())

    with ThreadPoolExecutor(3) as pool:
        sums = [started(), total(), *(pool.submit(each).result() for each in (total, started, total)), total()]
    sums += [asyncio.run(awaited()) // 3, total()]
    thread = threading.Thread(target=answer)
    thread.start()
    for _ in range(3):
        asked.put(True)
        sums.append(answers.get())
        hiroba.take_turn()
        sums.append(total())
    asked.put(False)
    thread.join()
    assert sums == [n * (n + 1) // 2] * len(sums), sums


def other_threads_run_while_one_waits() -> None:
    hiroba.barrier()
    if me > 0:
        time.sleep(0.3)
        hiroba.barrier()
        return
    counted = [0]
    stop = threading.Event()

    def count() -> None:
        while not stop.wait(0.01):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    hiroba.barrier()
    stop.set()
    thread.join()
    assert n == 1 or counted[0] > 3, counted


for test in (
    loops,
    locks_and_atomics,
    operations,
    truth_is_0_or_1,
    arrays_in_objects,
    started,
    threads_in_order,
    other_threads_run_while_one_waits,
):
    test()
if me == 0:
    print("done")
