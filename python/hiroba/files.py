"""Files that all ranks read and write at once: .npy, HDF5 by h5py, and Zarr. All ranks see the same file system. What
rank 0 finds wrong with a file all ranks raise."""

from __future__ import annotations

import ast
import functools
import itertools
import math
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hiroba import boxes, own_files
from hiroba.arrays import Array, zeros
from hiroba.collectives import allreduce, on_rank, same_on_all
from hiroba.job import rank, size
from hiroba.parallel import barrier
from hiroba.whole import fetched

if TYPE_CHECKING:
    import pathlib

__all__ = ["load", "save"]

MOST_HEADER = 1 << 20  # bytes: names of thousands of fields
HDF5, ZARR = (".h5", ".hdf5"), ".zarr"


def load(path: str | os.PathLike[str], dataset: str = "data", **how: Any) -> Array:
    """Makes an array of a file; each rank reads its part. The rest is as for zeros(). Collective.
    dataset: in HDF5 (.h5, .hdf5), which h5py reads. The package zarr reads folders of Zarr (.zarr).

    Errors: OSError if the file cannot be read; ValueError if it is none of its kind, or ranks give different
    files; KeyError if it has no such dataset; TypeError if it has Python objects; ImportError without h5py, or zarr;
    else as of zeros()."""
    file = path_of(path, "load")
    if file.suffix in HDF5:
        return load_hdf5(file, dataset, how)
    if file.suffix == ZARR:
        return load_zarr(file, how)
    shape, descr, fortran, offset = on_rank(0, lambda: header(file))
    dtype = np.lib.format.descr_to_dtype(descr)
    out = zeros(shape, dtype, **how)
    if out.local.size > 0:
        order: Any = "F" if fortran else "C"
        whole = np.memmap(file, dtype, "r", offset, shape, order)
        if out.ndim == 0:
            out.local[...] = whole.reshape(1)
        else:
            out.local[...] = whole[out.box()]
    barrier()
    return out


def path_of(path: str | os.PathLike[str], call: str) -> pathlib.Path:
    import pathlib  # a tenth of the time that it takes to import hiroba

    file = pathlib.Path(path)
    of_first = on_rank(0, lambda: file)
    other = allreduce(size if file == of_first else rank, "min")
    if other < size:
        of_other = on_rank(other, lambda: file)
        raise ValueError(f"{call}: ranks give different files: rank 0 {of_first}, rank {other} {of_other}")
    return file


def header(file: pathlib.Path) -> tuple[Any, ...]:
    if file.exists() and not file.is_file():  # the open of a FIFO would wait for its other end
        raise OSError(f"{file} is no regular file")
    with file.open("rb") as opened:
        shape, fortran, dtype = read_description(opened, file)
        # True is an int for NumPy.
        if type(shape) is not tuple or any(type(extent) is not int or extent < 0 for extent in shape):
            raise ValueError(f"{file} has shape {shown(shape)} in its header, which is none")
        if dtype.hasobject:
            raise TypeError(f"{file} has Python objects (type {shown(dtype)}); a shared array has none")
        needs, has = opened.tell() + math.prod(shape) * dtype.itemsize, file.stat().st_size
        if has < needs:  # so ranks that have nothing of it would not notice
            raise ValueError(f"{file} has {has} bytes, and {needs} by its header: it was cut off, or not written whole")
        return shape, np.lib.format.dtype_to_descr(dtype), fortran, opened.tell()


def read_version(opened: BinaryIO, file: pathlib.Path) -> tuple[int, int]:
    try:
        version = np.lib.format.read_magic(opened)
    except ValueError:
        raise ValueError(f"{file} is no file of the format .npy: it does not begin as one") from None
    if version not in READERS:
        known = ", ".join(f"{major}.{minor}" for major, minor in READERS)
        raise ValueError(f"{file} has version {version[0]}.{version[1]} of the format .npy; load() reads {known}")
    return version


def read_description(opened: BinaryIO, file: pathlib.Path) -> tuple[tuple[int, ...], bool, np.dtype]:
    """A damaged header is an error of the parser of Python, or of whatever its words are given to."""
    read = READERS[read_version(opened, file)]
    try:
        return read(opened)
    except Exception as error:  # of any kind
        raise ValueError(f"{file} has a header that is none of the format .npy: {shown(error)}") from None


def shown(what: object) -> str:
    """What files say, in one line without characters that control a terminal."""
    text = str(what)
    return "".join(c if c.isprintable() else "?" for c in text[:120]) + ("..." if len(text) > 120 else "")


def read_header_3_0(opened: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    """As version 2.0, but of UTF-8, which names of fields outside Latin-1 need. NumPy has no function for it that
    programs may call."""
    length = int.from_bytes(opened.read(4), "little")
    text = opened.read(length)
    if len(text) < length or length > MOST_HEADER:
        raise ValueError(f"a header of {length} bytes, of which {len(text)} are there; at most {MOST_HEADER}")
    about = ast.literal_eval(text.decode())
    return about["shape"], about["fortran_order"], np.lib.format.descr_to_dtype(about["descr"])


def write_header(opened: BinaryIO, about: dict[str, Any]) -> None:
    try:
        np.lib.format.write_array_header_2_0(opened, about)
        return
    except UnicodeEncodeError:  # before it has written anything
        pass
    text = repr(about).encode()
    before = len(np.lib.format.magic(3, 0)) + 4
    text += b" " * (-(before + len(text) + 1) % np.lib.format.ARRAY_ALIGN) + b"\n"
    opened.write(np.lib.format.magic(3, 0) + len(text).to_bytes(4, "little") + text)


NUMPY: Any = np.lib.format  # whose types lack max_header_size
READERS: dict[tuple[int, int], Callable[[BinaryIO], tuple[tuple[int, ...], bool, np.dtype]]] = {
    (1, 0): functools.partial(NUMPY.read_array_header_1_0, max_header_size=MOST_HEADER),
    (2, 0): functools.partial(NUMPY.read_array_header_2_0, max_header_size=MOST_HEADER),
    (3, 0): read_header_3_0,
}


def save(path: str | os.PathLike[str], array: Array, dataset: str = "data") -> None:
    """Writes an array, or a view, into a file; each rank writes its part. The file has its name only when it is whole;
    in HDF5 (.h5, .hdf5) the dataset is added to what the file has, and a folder of Zarr (.zarr) is replaced first.
    Collective.

    Errors: Error if the array is in private memory, or a view without rows of the ranks; ValueError if ranks give
    different arrays, sections or files; TypeError for a path of another type; OSError if the file cannot be written, of
    which PermissionError if it is a link of another user; ImportError without h5py, or zarr."""
    same_on_all(array, "save")
    file = path_of(path, "save")
    if file.suffix in HDF5:
        return save_hdf5(file, array, dataset)
    if file.suffix == ZARR:
        return save_zarr(file, array)
    part = file.with_name(file.name + ".part")
    offset = on_rank(0, lambda: begin(part, file, array))
    with own_files.reopen(part) as opened:
        for at, run in runs(array):
            write(opened.fileno(), run, offset + at)
    barrier()
    if rank == 0:
        part.replace(file)
    barrier()
    return None


def begin(part: pathlib.Path, file: pathlib.Path, array: Array) -> int:
    """Writes the header, and gives the part its length; returns where the elements begin."""
    about = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape}
    with own_files.create(part, file, own_files.SHARED) as opened:
        write_header(opened, about)
        offset = opened.tell()
        opened.truncate(offset + array.nbytes)
    return offset


def runs(array: Array) -> Iterator[tuple[int, np.ndarray]]:
    """This rank's part as pieces that are contiguous in the file, each with its distance from the first element."""
    part = array.local
    if part.size == 0:
        return
    if array.ndim == 0:
        yield 0, np.asarray(part)
        return
    box = array.box()
    outer = array.ndim - 1  # axes before this one are gone through
    while outer > 0 and part.shape[outer] == array.shape[outer]:
        outer -= 1
    steps = boxes.contiguous_strides(array.shape, array.itemsize)
    for index in itertools.product(*(range(n) for n in part.shape[:outer])):
        first = [*(each.start + i for each, i in zip(box, index, strict=False)), *(each.start for each in box[outer:])]
        at = 0
        for i, step in zip(first, steps, strict=True):
            at += i * step
        yield at, np.ascontiguousarray(part[index])


def write(descriptor: int, piece: np.ndarray, at: int) -> None:
    rest = piece.reshape(-1).view(np.uint8).data
    while len(rest) > 0:
        wrote = os.pwrite(descriptor, rest, at)
        rest, at = rest[wrote:], at + wrote


def load_hdf5(file: pathlib.Path, dataset: str, how: dict[str, Any]) -> Array:
    import h5py

    with h5py.File(file, "r", locking=False) as opened:
        data = opened[dataset]
        out = zeros(data.shape, data.dtype, **how)
        read_part(out, data)
    return out


def read_part(out: Array, data: Any) -> None:
    part = out.local
    if part.size > 0:
        part[...] = data[out.box()] if out.ndim > 0 else data[()]
    barrier()


def save_hdf5(file: pathlib.Path, array: Array, dataset: str) -> None:
    """Without MPI in HDF5 one rank after the other has the file open."""
    import h5py

    def begin_dataset() -> None:
        own_files.refuse_links_of_others(file)
        with h5py.File(file, "a") as opened:
            opened.pop(dataset, None)
            opened.create_dataset(dataset, array.shape, array.dtype)

    on_rank(0, begin_dataset)
    for turn in range(size):
        if turn == rank and array.local.size > 0:
            with h5py.File(file, "a") as opened:
                opened[dataset][array.box()] = np.asarray(array.local).reshape([s.stop - s.start for s in array.box()])
        barrier()


def load_zarr(file: pathlib.Path, how: dict[str, Any]) -> Array:
    import zarr

    data = zarr.open_array(file, mode="r")
    out = zeros(data.shape, data.dtype, **how)
    read_part(out, data)
    return out


def save_zarr(file: pathlib.Path, array: Array) -> None:
    """A chunk is a file, so only one rank writes it: the one that has the first element."""
    import zarr

    def create() -> None:
        own_files.refuse_links_of_others(file)
        zarr.create_array(file, shape=array.shape, dtype=array.dtype, overwrite=True)

    on_rank(0, create)
    data = zarr.open_array(file, mode="r+")
    if array.ndim == 0:
        if rank == 0:
            data[()] = np.asarray(array)
    else:
        begins = zip(array.box(), data.chunks, array.shape, strict=True)
        mine = tuple(slice(*(min(-(-at // c) * c, n) for at in (part.start, part.stop))) for part, c, n in begins)
        if math.prod(part.stop - part.start for part in mine) > 0:
            data[mine] = fetched(array[mine])
    barrier()
