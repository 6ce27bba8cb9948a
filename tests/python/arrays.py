"""Arrays of hiroba: a program of all ranks, which prints `done` from rank 0. Usage: hirobarun python3 arrays.py"""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import hiroba
import numpy as np


def raises(kind: type[Exception], words: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind.__name__} with {words!r}")


def parts() -> None:
    """Each element is of one rank, however the array is divided."""
    for shape, split in (((10, 6), 0), ((7, 5), 1), ((3, 4), None), ((2,), 0), ((), 0), ((0, 3), 0), ((2,) * 10, 1)):
        a = hiroba.zeros(shape, int, split=split)
        assert a.shape == shape and not a.any()
        hiroba.barrier()
        part = a.local
        part += hiroba.rank + 1
        hiroba.barrier()
        if a.ndim > 0:
            for r in range(hiroba.size):
                assert (a[a.box(r)] == r + 1).all(), (shape, r)
            assert sum(a[a.box(r)].size for r in range(hiroba.size)) == a.size
        elif hiroba.rank == 0:
            assert a == 1
        if a.ndim == 2 and a.size:
            for index in ((0, 0), (-1, -1), (1, 2)):
                assert a[index] == a.home(index) + 1
        a.free()


def shapes_of_nothing() -> None:
    """What a rank without elements has is empty along the divided axes only, so programs need no special case."""
    n = hiroba.size
    a = hiroba.ones((1, 5, 3))
    assert a.local.shape == a.halo().shape == ((1, 5, 3) if hiroba.rank == 0 else (0, 5, 3))
    assert hiroba.allreduce((a.local @ np.ones(3)).sum(axis=0)).tolist() == [3] * 5
    assert a[0].local.shape == ((5, 3) if hiroba.rank == 0 else (0, 3))
    a.free()
    for split, empty in ((1, (4, 0)), (None, (0, n)), ((1, n), (4, 0))):
        b = hiroba.ones((4, n), split=split)
        assert hiroba.allgather(b.local.size).sum() == 4 * n
        assert b.local.size > 0 or b.local.shape == empty
        b.free()
    c = hiroba.zeros((0, 4))
    assert c.local.shape == (0, 4) and hiroba.sum(c) == 0


def values_that_broadcast() -> None:
    """To the shape of the array, not to that of a part."""
    pair = np.dtype([("x", "f8"), ("n", "i4")])
    cases: list[tuple[Any, Any, Any]] = [
        (7, 3, "f4"),
        ((4, 6), np.arange(6), None),
        ((4, 6), np.arange(4)[:, None], None),
    ]
    for shape, value, dtype in (
        *cases,
        (5, np.arange(5), float),
        ((3, 5), "abc", None),
        (4, (2.5, 3), pair),
        ((), 2, None),
    ):
        splits: list[Any] = [None, *range(np.ndim(np.zeros(shape)))]
        for split in splits:
            with hiroba.full(shape, value, dtype, split=split) as a:
                known = np.full(shape, np.asarray(value, dtype))
                assert (a == known).all() and a.dtype == known.dtype, (shape, value, split)
                hiroba.barrier()
    raises(ValueError, "broadcast", lambda: hiroba.full(3, [1, 2]))  # also on a rank that has two elements


def halos() -> None:
    for shape, split in (((7, 5), 0), ((7, 5), 1), ((6, 4), None), ((2, 3), 0)):
        a = hiroba.from_function(lambda i, j: 100 * i + j, shape, int, split=split)
        box, halo = a.box(), a.halo(2)
        if any(each.start == each.stop for each in box):
            assert halo.size == 0
            continue
        first = [max(each.start - 2, 0) for each in box]
        end = [min(each.stop + 2, n) for each, n in zip(box, shape, strict=True)]
        assert (halo == a[first[0] : end[0], first[1] : end[1]]).all()
        assert hiroba.is_shared(halo) and (a.halo(0) == a.local).all()
    if hiroba.size > 1:
        a = hiroba.zeros((9, 9))
        b = hiroba.zeros((9, 9))
        b.halo()[1:-1] = a.halo()[:-2] + 1  # the inner rows of all ranks
        hiroba.barrier()
        assert (b[1:-1] == 1).all() and not b[0].any() and not b[-1].any()
    raises(ValueError, "halo(-1)", lambda: a.halo(-1))
    raises(ValueError, "halo(1.5)", lambda: a.halo(1.5))  # type: ignore[arg-type]


def parts_of_views() -> None:
    a = hiroba.from_function(lambda i, j: 100 * i + j, (12, 9), int)
    assert (a == np.fromfunction(lambda i, j: 100 * i + j, (12, 9))).all()
    for view in (a[1:-1], a[::-2, 3], a.T, a[4], a[:, np.newaxis, ::3]):
        together = np.concatenate([view[view.box(r)].ravel() for r in range(hiroba.size)])
        assert sorted(together) == sorted(np.asarray(view).ravel())
        assert view.local.tolist() == view[view.box()].tolist()
        view.preload()
    rows: list[Any] = [a.reshape(108), a.ravel()[3::5], a.reshape(4, 27), a.reshape(12, 3, 3)[::-1], a.view("i4")]
    for view in (*rows, a.view("u1")):
        pieces = [view[view.box(r)] for r in range(hiroba.size)]
        assert (np.concatenate(pieces if view.strides[0] > 0 else pieces[::-1]) == view).all()
        assert all(each.size == 0 or each.home((0,) * each.ndim) == r for r, each in enumerate(pieces))
        assert hiroba.sum(view) == view.sum()
    if hiroba.size > 1:
        with hiroba.zeros((4, 6), split=1) as columns:
            views: list[Any] = [columns.reshape(24), columns.view("f4")]
            raises(hiroba.Error, "A.local.reshape", lambda: views[0].local)
            raises(hiroba.Error, "A.local.view", lambda: views[1].box())
    overlapping: Any = np.broadcast_to(a[0], (3, 9), subok=True)
    raises(hiroba.Error, "share memory", lambda: overlapping.local)
    raises(hiroba.Error, "private memory", lambda: a[[1, 2]].local)
    request = a.preload(np.s_[::2, 1:4], wait=False)
    assert request.wait() is None
    assert a.T[3:5].preload().done()
    a.free()


def numpy_functions() -> None:
    """Views stay shared; what NumPy makes is a plain array."""
    a = hiroba.array(np.arange(24.0).reshape(4, 6))
    b = np.arange(24.0).reshape(4, 6)
    for of in (lambda x: x + 1, np.sin, lambda x: x @ x.T, lambda x: x.sum(axis=0), np.cumsum, np.copy):
        assert type(of(a)) is np.ndarray and (of(a) == of(b)).all()
    for of in (lambda x: x.copy(), lambda x: x.astype(int), copy.deepcopy, lambda x: x.flatten(), np.sort):
        assert not hiroba.is_shared(of(a)) and (of(a) == of(b)).all()
    assert type(a.sum()) is np.float64 and type(a[1, 2]) is np.float64
    for view in (a[1:], a.T, a.reshape(-1), a[..., np.newaxis], a.real, a.ravel()):
        assert hiroba.is_shared(view) and isinstance(view, hiroba.Array)
    hiroba.barrier()
    out = a.local
    assert np.add(out, 1, out=out) is out
    hiroba.barrier()
    assert (a == b + 1).all()
    again = pickle.loads(pickle.dumps(a))
    assert type(again) is np.ndarray and (again == a).all()
    a.free()


def slices_stay_shared() -> None:
    """Also along the axis that is divided, and slices of slices: what one rank writes there all read."""
    a = hiroba.zeros((30, 4), int)
    assert "__getitem__" not in vars(hiroba.Array) and "__setitem__" not in vars(hiroba.Array)  # which would be slow
    if hiroba.rank == hiroba.size - 1:
        a[2:-2][::3][1:4, 1] = [7, 8, 9]
        a.T[3][::-1][5:7] += 1
        np.moveaxis(a.reshape(3, 10, 4), 1, 0)[0, :, 0] = 5
    hiroba.barrier()
    assert a[[5, 8, 11], 1].tolist() == [7, 8, 9] and a[23:25, 3].tolist() == [1, 1] and (a[::10, 0] == 5).all()
    assert a.sum() == 24 + 2 + 15
    hiroba.barrier()
    a.free()


def types() -> None:
    pair = np.dtype([("x", "f8"), ("n", "i4"), ("m", "i4")])
    for dtype in ("c16", "c8", "f4", "u1", "?", "U7", "M8[s]", pair, "longdouble", ">f8"):
        a = hiroba.zeros(40, dtype)
        a[hiroba.rank :: hiroba.size] = np.ones((), dtype)
        hiroba.barrier()
        assert (a == np.ones(40, dtype)).all(), dtype
        a.free()
    a = hiroba.zeros(5, pair)
    if hiroba.rank == 0:
        a["x"] = 2.5
    if hiroba.rank == hiroba.size - 1:
        a["n"] = 7
    hiroba.barrier()
    assert (a["x"] == 2.5).all() and (a["n"] == 7).all() and hiroba.is_shared(a["n"])
    assert a["n"].local.shape == a.local.shape
    a.free()


def fields_of_several_numbers() -> None:
    a = hiroba.zeros(14, [("id", "i4"), ("x", "f8", (3,))], name="particles")
    hiroba.barrier()
    a["x"].local[...] = hiroba.rank
    a["x"][::-1, 1].local[...] += 10
    hiroba.barrier()
    for r in range(hiroba.size):
        there = a["x"][a["x"].box(r)]
        assert there.shape[1] == 3 and (there == [r, r + 10, r]).all()
    assert hiroba.sum(a["x"]) == np.asarray(a["x"]).sum() and a["x"].T.preload().wait() is None
    a.free()


def refused() -> None:
    assert not hiroba.is_shared([1])  # type: ignore[arg-type]
    raises(hiroba.Error, "this list is in the private memory", lambda: hiroba.sum([1, 2]))  # type: ignore[arg-type]
    raises(TypeError, "pointers", lambda: hiroba.zeros(3, object))
    raises(ValueError, "2^63", lambda: hiroba.zeros((2, 10**30)))
    raises(TypeError, "zeros()", lambda: hiroba.zeros(3, splt=1))  # type: ignore[call-arg]
    raises(TypeError, "no bytes", lambda: hiroba.zeros(3, "U"))
    raises(ValueError, "no axis", lambda: hiroba.zeros((3, 3), split=2))
    raises(ValueError, "parts for", lambda: hiroba.zeros((99, 99), split=(hiroba.size, 2)))
    raises(ValueError, "1 to the length", lambda: hiroba.zeros((1, 3), split=(2, 1)))
    raises(ValueError, "negative", lambda: hiroba.zeros(-1))
    raises(ValueError, "first-touch", lambda: hiroba.zeros(3, homes="here"))
    raises(ValueError, "ranks 0..", lambda: hiroba.zeros(3, on=hiroba.size))


def freeing() -> None:
    a = hiroba.ones((20, 3), name="short-lived")
    view, rest = a[2:], a.T
    raises(hiroba.Error, "whole array", view.free)
    a.free()
    for use in (
        lambda: a[0],
        lambda: view + 1,
        lambda: np.sum(rest),
        lambda: rest.sum(),
        lambda: len(a),
        lambda: a.free(),
        lambda: 1 + view,
        lambda: [*a],
    ):
        raises(hiroba.Error, "freed", use)
    assert repr(a) == "<shared array, freed>"
    with hiroba.full(4, 2) as b:
        assert b.sum() == 8
    raises(hiroba.Error, "freed", lambda: b[0])
    c = hiroba.ones(10)
    view = c[1:3]
    if hiroba.rank == 0:
        del c  # collected on one rank only: it frees nothing
        gc.collect()
    hiroba.barrier()
    assert view.sum() == 2


def moving() -> None:
    a = hiroba.from_function(lambda i, j: i - j, (600, 40), homes="migrating")
    a.redistribute(split=1)
    assert a.box()[0] == slice(0, 600)
    assert (a == np.fromfunction(lambda i, j: i - j, (600, 40))).all()
    a.redistribute(split=None, on=hiroba.size - 1)
    assert a.home((0, 0)) == a.home((599, 39)) == hiroba.size - 1
    a.redistribute(split=(1, hiroba.size))
    assert a[:, -1].sum() == sum(range(600)) - 39 * 600
    assert a.stats()["pages_fetched"] >= 0
    a.free()


ABOUT_PARTS = (
    parts,
    shapes_of_nothing,
    values_that_broadcast,
    halos,
    parts_of_views,
    numpy_functions,
    slices_stay_shared,
    types,
    fields_of_several_numbers,
)
for test in (*ABOUT_PARTS, refused, freeing, moving):
    test()
if hiroba.rank == 0:
    print("done")
