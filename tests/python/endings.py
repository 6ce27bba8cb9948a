"""Programs that end in some way, for test_endings.py. Usage: endings.py CASE"""

from __future__ import annotations

import os
import pathlib
import signal
import socket
import sys
import threading
import time
from typing import Any

import hiroba
import numpy as np

A = hiroba.zeros(1 << 14, name="temperature")
me = hiroba.rank


def raises() -> None:
    if me == 1:
        A[123456]
    hiroba.barrier()


def raises_on_all() -> None:
    raise ValueError("on all")


def raises_in_a_thread() -> None:
    def fails() -> None:
        raise LookupError("in a thread")

    thread = threading.Thread(target=fails)
    thread.start()
    thread.join()
    hiroba.barrier()


def task_of_an_element() -> None:
    @hiroba.task(writes=[A[0]])
    def _() -> None:
        pass


def raises_groups() -> None:
    raise ExceptionGroup("many", [ValueError("one\nof two lines"), KeyError(2)])


def raises_lines() -> None:
    raise ValueError("first\nsecond line, with what is no text: \udcff")


def raises_in_a_module_of_python() -> None:
    if me == 1:
        threading.Thread().join()
    hiroba.barrier()


def raises_in_cython() -> None:
    np.random.default_rng(1).random(out=np.zeros(3, "i1"))


def raises_deep() -> None:
    def deep(n: int) -> int:
        return deep(n - 1) + 1 if n else 1 // 0

    deep(400)


def refused_here() -> None:
    hiroba.zeros(3, object)


def forgets_barrier() -> None:
    if me == 0:
        hiroba.barrier()


def other_shapes() -> None:
    hiroba.zeros(10 + me)


def plain_view_of_freed() -> None:
    view = np.asarray(A)
    A.free()
    print(view[7])


def past_the_end() -> None:
    print(np.lib.stride_tricks.as_strided(np.asarray(A), (1 << 28,), (8,))[1 << 27])


def faulthandler_later() -> None:
    import faulthandler

    faulthandler.enable()
    A.local[...] = 1
    hiroba.barrier()
    assert A.sum() == A.size
    print("well")


def crash_with_faulthandler() -> None:
    import ctypes
    import faulthandler

    faulthandler.enable()
    ctypes.string_at(16)


def goes_on_after_a_failed_test() -> None:
    """As pytest does."""
    sys.last_value = ValueError("of a test")
    print("well")


def exits() -> None:
    sys.exit(3)


def exits_alone() -> None:
    if me == 1:
        sys.exit(2)
    hiroba.barrier()


def exits_with_words() -> None:
    if me == 1:
        raise SystemExit("what is wrong")
    hiroba.barrier()


def exits_in_a_thread() -> None:
    """Which ends the thread, as in every program."""
    thread = threading.Thread(target=sys.exit, args=(4,))
    thread.start()
    thread.join()
    print("well")


def exits_at_once() -> None:
    if me == 1:
        os._exit(5)
    hiroba.barrier()


def writes_at_its_end() -> None:
    """When objects of the program are destroyed, the arrays are still there."""

    class Last:
        def __del__(self, array: hiroba.Array = A) -> None:
            assert array[0] + array[-1] == 2
            print("well", flush=True)

    A.local[...] = 1
    hiroba.barrier()
    globals()["last"] = Last()


def waits_for_a_sleeper() -> None:
    print("waiting", flush=True)
    if me == 0:
        time.sleep(30)
    hiroba.barrier()


def waits_for_each_other() -> None:
    with hiroba.lock(1):
        print("waiting", flush=True)
        if me == 0:
            hiroba.barrier()
        time.sleep(30)


def computes_long() -> None:
    """In one call of C."""
    print("waiting", flush=True)
    np.linalg.svd(np.ones((4000, 4000)))


def too_much() -> None:
    b = hiroba.zeros(1 << 20, name="the big one")
    hiroba.zeros(1 << 39)
    del b


def forks() -> None:
    child = os.fork()
    if child == 0:
        hiroba.barrier()
        os._exit(0)
    assert os.waitpid(child, 0)[1] != 0
    hiroba.barrier()


def files() -> None:
    """System calls on pages that are not here."""
    A.local[...] = np.arange(len(A))[A.box()]
    hiroba.barrier()
    name = f"{sys.argv[2]}/{me}"
    A.tofile(name)
    assert (np.fromfile(name) == np.arange(len(A))).all()
    np.save(name + ".npy", A)
    assert (np.load(name + ".npy") == np.arange(len(A))).all()
    one, other = socket.socketpair()
    b = hiroba.array(np.arange(20000))
    one.sendall(b[9990:10010])
    assert np.frombuffer(other.recv(160), int)[-1] == 10009
    hiroba.barrier()
    if me == 0:
        with pathlib.Path(name).open("rb") as file:
            assert file.readinto(b[12000:13000]) == 8000
    hiroba.barrier()
    assert b.view("f8")[12999] == 999
    print("well")


def spawns() -> None:
    """Its workers import this file, and so are jobs of one, each with an array of its own."""
    import multiprocessing

    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(len, [A[:10]]) == [10]
    hiroba.barrier()
    print("well")


def sum_of(part: slice) -> float:
    return float(plain_part[part].sum())


def pools_of_forks() -> None:
    """Children that fork() makes, as multiprocessing does by default on Linux, compute with what is on this node."""
    import multiprocessing

    A.local[...] = 1 + me
    with multiprocessing.get_context("fork").Pool(2) as pool:
        sums = pool.map(sum_of, [slice(0, 100), slice(100, len(plain_part))])
    assert sum(sums) == (1 + me) * len(plain_part), sums
    hiroba.barrier()
    assert A.sum() == A.size * (hiroba.size + 1) / 2
    print("well")


plain_part = np.asarray(A.local)


def adds_on_all_ranks() -> None:
    for array in (A,):
        array += 1
        hiroba.barrier()


def assigns_on_all_ranks() -> None:
    A[:] = A + 1
    hiroba.barrier()


def handlers_later() -> None:
    """Handlers of the signals by which absent pages are noticed, set by the program."""

    def handler(number: int, frame: object) -> None:
        raise AssertionError(f"signal {number}")

    for number in (signal.SIGSEGV, signal.SIGBUS):
        assert signal.signal(number, handler) == signal.SIG_DFL
    A.local[...] = 2
    hiroba.barrier()
    assert A.sum() == 2 * A.size and signal.getsignal(signal.SIGSEGV) is handler
    print("well")


def hdf5_of_absent_pages() -> None:
    """h5py gives our memory to system calls that it makes itself."""
    import h5py

    A.local[...] = np.arange(len(A))[A.box()]
    hiroba.barrier()
    with h5py.File(f"{sys.argv[2]}/{me}.h5", "w") as file:
        file["a"] = A
        file["b"] = A[::-3]
    hiroba.barrier()
    if me == 0:
        A[...] = 0
    hiroba.barrier()
    with h5py.File(f"{sys.argv[2]}/{me}.h5", "r") as file:
        assert (file["b"][:] == np.arange(len(A))[::-3]).all()
        if me == 1:
            file["a"].read_direct(A)
    hiroba.barrier()
    assert (A[:] == np.arange(len(A))).all()
    print("well")


def loaded_late() -> None:
    """The library by dlopen, as a process does that a rank has started, which has its variables in the room that
    GLIBC_TUNABLES leaves for them."""
    import subprocess

    code = "import hiroba; print('well' if hiroba.ones(1000).sum() == 1000 and hiroba.size == 1 else 'bad')"
    subprocess.run([sys.executable, "-c", code], check=True)
    hiroba.barrier()


def smooths_without_a_barrier() -> None:
    """All ranks assign, which hiroba looks at: that must not order what they read before."""
    table = hiroba.zeros((66, 64), name="table")
    part = table.halo()
    hiroba.barrier()
    new = part[:-2] + part[2:]
    part[1:-1] = new + 1
    hiroba.barrier()


def races() -> None:
    A[10] = me
    hiroba.barrier()
    np.add(A[me:600], 1, out=A[me:600])
    hiroba.barrier()


def uses_what_a_report_shows() -> None:
    A.local[...] = me
    hiroba.barrier()
    A.sum()
    with hiroba.lock(3):
        time.sleep(0.01)
    hiroba.allreduce(1)


def other_collectives() -> None:
    if me == 0:
        hiroba.allreduce(1)
    else:
        hiroba.bcast(2)


def raises_in_a_callback() -> None:
    matrix = hiroba.matrix(np.eye(4))
    hiroba.solve(matrix, np.ones(4), progress=lambda iteration, residual: 1 // 0)


def does_not_converge() -> None:
    matrix = hiroba.matrix(np.diag(np.arange(1.0, 40)))
    hiroba.solve(matrix, np.ones(39), most=2)


def sorts_on_all_ranks() -> None:
    A.sort()
    hiroba.barrier()


def barrier_in_a_lock() -> None:
    with hiroba.lock(3):
        hiroba.barrier()


def takes_a_lock_twice() -> None:
    with hiroba.lock(3), hiroba.lock(3):
        pass


def gives_a_lock_of_nobody() -> None:
    hiroba.lock(3).__exit__(None, None, None)


def barriers_in_two_threads() -> None:
    if me == 1:
        time.sleep(20)  # so that one thread is in its barrier when the other comes
    threads = [threading.Thread(target=lambda: hiroba.barrier()) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def rebinds() -> None:
    array: Any = hiroba.zeros(10)
    array = array + 1
    array.local[...] = 2


def rebinds_to_a_number() -> None:
    hiroba.zeros(10).sum().free()


def no_communicator() -> None:
    hiroba.mpi_comm()


def sums_other_arrays() -> None:
    hiroba.sum(A if me == 0 else A[1:])


def saves_other_arrays() -> None:
    hiroba.save("never.npy", A[me:])


def loads_other_files() -> None:
    hiroba.load(f"never{me}.npy")


def single_on_a_rank_that_is_not_there() -> None:
    for _ in hiroba.single(hiroba.size):
        pass


def more_than_64_axes() -> None:
    hiroba.zeros((1,) * 65)


def shape_that_is_a_text() -> None:
    hiroba.zeros("12")


def adds_what_does_not_fit() -> None:
    hiroba.fetch_add(hiroba.zeros(3, "i4"), 0, 1 << 32)


def no_eigenvalues() -> None:
    hiroba.eigenpairs(hiroba.matrix(np.eye(4)), 0)


def starts_programs() -> None:
    import subprocess

    print(subprocess.run(["env"], capture_output=True, text=True, check=True).stdout.count("LD_PRELOAD"))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
