"""Collective operations on whole arrays, tasks and files: a program of all ranks, which prints `done` from rank 0.
Usage: hirobarun python3 whole.py"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import tempfile
import warnings
from typing import Any, cast

import hiroba
import numpy as np

me, n = hiroba.rank, hiroba.size


def reductions() -> None:
    whole = np.random.default_rng(3).normal(size=(13, 7))
    a, b = hiroba.array(whole), hiroba.array(whole[::-1], split=1)
    assert np.isclose(hiroba.sum(a), whole.sum()) and np.isclose(hiroba.mean(a), whole.mean())
    assert hiroba.min(a) == whole.min() and hiroba.max(a[::2, 1:]) == whole[::2, 1:].max()
    assert np.isclose(hiroba.dot(a, b), (whole * whole[::-1]).sum())
    assert np.isclose(hiroba.dot(a, whole.tolist()), (whole * whole).sum())
    assert np.isclose(hiroba.norm(a), np.linalg.norm(whole))
    hiroba.apply(a, lambda x: x * 2)
    assert (a == 2 * whole).all()
    whole_numbers = hiroba.array(np.arange(5, dtype="i4"))
    assert hiroba.sum(whole_numbers) == 10 and hiroba.mean(whole_numbers) == 2
    one = hiroba.full((), 3.5)
    assert hiroba.sum(one) == 3.5 and hiroba.max(one) == 3.5
    for each in (a, b, whole_numbers, one):
        each.free()


def types() -> None:
    """Results have the value and the type that NumPy gives them; what NumPy refuses is refused."""
    raw = np.random.default_rng(5).integers(0, 30, 37)
    others = ("f2", ">f8", ">i4", ">c16", ">f2", "M8[s]", "m8[ms]")
    for name in (*"?bBhHiIqQfdgFDG", *others):
        whole = (raw + 1j * raw[::-1] if np.dtype(name).kind == "c" else raw).astype(name)
        with hiroba.array(whole) as a:
            for ours, theirs in (
                *((getattr(hiroba, each), getattr(np, each)) for each in ("sum", "mean", "min", "max")),
                (lambda x: hiroba.dot(x, x), lambda x: np.dot(x, x)),
                (lambda x: hiroba.allreduce(x[3], "max"), lambda x: x[3]),
            ):
                try:
                    known = theirs(whole)
                except (TypeError, ValueError):
                    known = None
                try:
                    found = ours(a)
                except (TypeError, ValueError):
                    found = None
                assert type(found) is type(known), (name, ours, found, known)
                close = 2e-2 if whole.dtype.char == "e" else 1e-6
                assert known is None or found == known or abs(found - known) <= close * abs(known), (name, found, known)
            if whole.dtype.kind in "biufc":
                norm, known = hiroba.norm(a), np.linalg.norm(whole)
                assert norm.dtype == known.dtype and np.isclose(norm, known, rtol=1e-3), (name, norm, known)
                assert np.allclose(hiroba.fft(a), np.fft.fft(whole), atol=1e-2)
            hiroba.sort(a)
            assert (a == np.sort(whole)).all()
            hiroba.barrier()
    some = np.array([1, -3], "m8[s]") * (me + 1)
    assert (hiroba.scan(some) == some * (me + 2) // 2).all() and hiroba.exscan(some).dtype == some.dtype
    largest = hiroba.reduce(np.complex64(me + 1j), "max", n - 1)
    assert largest == n - 1 + 1j if me == n - 1 else largest is None
    assert hiroba.iallreduce(np.float16(0.5)).wait() == np.float16(0.5 * n)
    assert hiroba.allreduce(True) == n  # which is a number in Python
    for wrong in (np.array(["a"]), np.zeros(2, "i4,f8"), np.zeros(2, "M8[s]")):
        try:
            hiroba.allreduce(wrong)
        except TypeError as error:
            assert "op='sum'" in str(error)
            continue
        raise AssertionError(wrong)


def sorting() -> None:
    draw = np.random.default_rng(5)
    for values in (
        draw.normal(size=1000),
        draw.integers(0, 3, 500),
        np.zeros(40),
        np.arange(7)[::-1],
        np.array([2, 1]),
    ):
        a = hiroba.array(values)
        hiroba.sort(a)
        assert (a == np.sort(values)).all()
        hiroba.barrier()
        a.free()
    text = hiroba.array(np.array(["pear", "fig", "apple", "date"] * 5))
    hiroba.sort(text[3:])
    assert (text[3:] == np.sort((["pear", "fig", "apple", "date"] * 5)[3:])).all() and text[0] == "pear"
    text.free()


def transforms() -> None:
    draw = np.random.default_rng(7)
    for shape in ((12, 10), (3, 50), (8, 4, 6), (1, 5), (60,), (7,), (64,), (1,)):
        whole = draw.normal(size=shape) + 1j * draw.normal(size=shape)
        known = np.fft.fftn(whole)
        for split in range(len(shape)):
            a = hiroba.array(whole, split=split)
            b = hiroba.fft(a, split=-1)
            assert np.allclose(b, known) and b.dtype == complex
            back = hiroba.fft(b, inverse=True)
            assert np.allclose(back, whole) and back.box() == hiroba.zeros(shape).box()
            for each in (a, b, back):
                each.free()
    real = draw.normal(size=(6, 20)).astype("f4")
    a = hiroba.array(real)
    part, line = hiroba.fft(a[::2, 3:]), hiroba.fft(a[1, ::2])
    assert part.dtype == np.complex64 and np.allclose(part, np.fft.fftn(real[::2, 3:]), atol=1e-4)
    assert np.allclose(line, np.fft.fft(real[1, ::2]), atol=1e-4)
    for each in (a, part, line):
        each.free()


def tasks() -> None:
    a, b = hiroba.from_function(lambda i: i, 20), hiroba.zeros(20)
    for step in range(4):
        one, other = (a, b) if step % 2 == 0 else (b, a)
        for i in range(1, 19):

            @hiroba.task(reads=[one[i - 1 : i + 2]], writes=other[i : i + 1])
            def add_three(i: int = i, one: np.ndarray = one, other: np.ndarray = other) -> None:
                other[i] = one[i - 1 : i + 2].sum()

    total = hiroba.zeros(1)
    for i in range(20):

        @hiroba.task(reads=[a[i : i + 1]], commutes=[total])
        def add_to_total(i: int = i) -> None:
            total[0] += a[i]

    hiroba.taskwait()
    x, y = np.arange(20.0), np.zeros(20)
    for _step in range(4):
        y[1:-1] = x[:-2] + x[1:-1] + x[2:]
        x, y = y, x
    assert (a == x).all(), (a, x)
    assert total[0] == x.sum()
    for each in (a, b, total):
        each.free()


def files() -> None:
    folder = hiroba.bcast(tempfile.mkdtemp() if me == 0 else None)
    name = pathlib.Path(folder) / "a.npy"
    whole = np.arange(7 * 5 * 4.0).reshape(7, 5, 4)
    victim = pathlib.Path(folder) / "victim"
    for split in (0, 1, 2, None):
        a = hiroba.array(whole, split=split)
        if me == 0:
            victim.write_text("precious")
            name.with_name("a.npy.part").symlink_to(victim)
        hiroba.save(name, a)
        assert (np.load(name) == whole).all() and victim.read_text() == "precious"
        hiroba.save(name, a[1:, ::-2])
        assert (np.load(name) == whole[1:, ::-2]).all()
        hiroba.barrier()
        for order in "CF":
            if me == 0:
                np.save(name, whole.copy(order))  # type: ignore[arg-type]
            hiroba.barrier()
            b = hiroba.load(name, split=split)
            assert (b == whole).all() and b.box() == a.box()
            hiroba.barrier()
            b.free()
        a.free()
    one = hiroba.full((), 7, "i2")
    hiroba.save(name, one)
    assert np.load(name) == 7 and hiroba.load(name) == 7
    hiroba.barrier()
    assert {each.name for each in pathlib.Path(folder).iterdir()} == {"a.npy", "victim"}
    hiroba.barrier()
    all_ranks_raise_what_one_finds(pathlib.Path(folder), one)
    versions_of_npy(name)
    hdf5(pathlib.Path(folder) / "a.h5", whole)
    zarr(pathlib.Path(folder) / "a.zarr", whole)
    for _ in hiroba.single():
        shutil.rmtree(folder)


def versions_of_npy(name: pathlib.Path) -> None:
    """1.0, 2.0 of long headers, and 3.0 of names of fields outside Latin-1: types and values are NumPy's, both ways."""
    kinds = (
        [("id", "i4"), ("x", "f8", (2,))],
        [("é", "f4")],
        [("温度", "f8"), ("名", "U5"), ("内", [("圧力", "i2", (3,))])],
        [(f"{'場'}{i}", "i1") for i in range(9000)],
        [(f"field {i}", "i1") for i in range(9000)],
    )
    for kind in kinds:
        for shape in ((), (0, 3), (5, 4)):
            whole = np.frombuffer(bytes(range(64)) * 4000, np.dtype(kind), int(np.prod(shape))).reshape(shape).copy()
            for field in whole.dtype.names or ():
                if whole.dtype[field].kind == "U":
                    whole[field] = "ñ漢"
            with warnings.catch_warnings():  # of readers before NumPy 1.9, and 1.17
                warnings.simplefilter("ignore")
                for _ in hiroba.single():
                    np.save(name, whole)
            with hiroba.load(name) as a:
                assert (a.dtype, a.shape) == (whole.dtype, shape) and str(a.tolist()) == str(whole.tolist())
                hiroba.barrier()
                hiroba.save(name, a)
            again = np.load(name, max_header_size=1 << 20)
            assert again.dtype == whole.dtype and str(again.tolist()) == str(whole.tolist())
            hiroba.barrier()


def all_ranks_raise_what_one_finds(folder: pathlib.Path, array: Any) -> None:
    """Otherwise a program that catches it goes on where others wait."""
    if me == 0:
        (folder / "bad.npy").write_text("this is no array")
        np.save(folder / "cut.npy", np.zeros(1))
        os.truncate(folder / "cut.npy", (folder / "cut.npy").stat().st_size - 1)
        (folder / "new.npy").write_bytes(np.lib.format.magic(4, 0) + bytes(200))
        (folder / "newer.npy").write_bytes(np.lib.format.magic(9, 9) + bytes(200))
        for version in (1, 3):  # True is an int
            about = b"{'descr': '|u1', 'fortran_order': False, 'shape': (True,), }".ljust(117) + b"\n"
            length = len(about).to_bytes(2 if version == 1 else 4, "little")
            (folder / f"bool{version}.npy").write_bytes(np.lib.format.magic(version, 0) + length + about + bytes(9))
    hiroba.barrier()
    for kind, use in (
        (FileNotFoundError, lambda: hiroba.load(folder / "none.npy")),
        (ValueError, lambda: hiroba.load(folder / "bad.npy")),
        (ValueError, lambda: hiroba.load(folder / "cut.npy")),
        (ValueError, lambda: hiroba.load(folder / "new.npy")),
        (ValueError, lambda: hiroba.load(folder / "newer.npy")),
        (ValueError, lambda: hiroba.load(folder / "bool1.npy")),
        (ValueError, lambda: hiroba.load(folder / "bool3.npy")),
        (FileNotFoundError, lambda: hiroba.save(folder / "none" / "a.npy", array)),
        (ValueError, lambda: hiroba.scatter([1] * (hiroba.size + (me == 0)))),
        (ValueError if n > 1 else FileNotFoundError, lambda: hiroba.load(folder / f"none{me == n - 1}.npy")),
        (TypeError, lambda: hiroba.apply(hiroba.zeros(1), cast(Any, 3))),  # which one rank has
    ):
        try:
            use()
            raised = False
        except kind:
            raised = True
        assert hiroba.allreduce(raised, "land"), kind
    hiroba.barrier()


def hdf5(name: pathlib.Path, whole: np.ndarray) -> None:
    try:
        import h5py
    except ImportError:
        return
    a = hiroba.array(whole, split=1)
    hiroba.save(name, a, "of/a")
    hiroba.save(name, a[2], "b")
    with h5py.File(name, "r") as file:
        assert (file["of/a"][:] == whole).all() and (file["b"][:] == whole[2]).all()
    hiroba.barrier()
    b = hiroba.load(name, "of/a")
    assert (b == whole).all()
    hiroba.barrier()
    a.free()
    b.free()


def zarr(name: pathlib.Path, whole: np.ndarray) -> None:
    if importlib.util.find_spec("zarr") is None:
        return
    import zarr

    for split in (0, 1):
        a = hiroba.array(whole, split=split)
        for view in (a, a[1:, ::-2], a[2, 3, :1]):
            hiroba.save(name, view)
            assert np.array_equal(np.asarray(zarr.open_array(name, mode="r")[...]), view)
            b = hiroba.load(name)
            assert (b == view).all() and b.dtype == a.dtype
            hiroba.barrier()
            b.free()
        if hiroba.rank == 0:
            zarr.create_array(name, shape=whole.shape, chunks=(3, 2, 4), dtype="f8", overwrite=True)[...] = whole
        hiroba.barrier()
        c = hiroba.load(name, split=split)
        assert (c == whole).all()
        hiroba.barrier()
        a.free()
        c.free()


for test in (reductions, types, sorting, transforms, tasks, files):
    test()
if me == 0:
    print("done")
