"""Sections on a device as arrays of NumPy (host devices), or of PyTorch and CuPy (GPUs): one rank's program, which
prints `done`. Usage: hirobarun -n 1 --devices host:1 python3 device_arrays.py FOLDER_OF_THE_PACKAGE [LIBRARY...]"""

from __future__ import annotations

import ctypes
import gc
import importlib
import sys
from typing import Any

sys.path.insert(0, sys.argv[1])
devices = importlib.import_module("hiroba.devices")

ROWS, COLUMNS = 30, 40


class Shared:
    """A matrix of doubles in shared memory."""

    def __init__(self) -> None:
        library = devices.load()
        library.sms_alloc_at.restype = ctypes.c_void_p
        library.sms_alloc_at.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p)
        self.address = library.sms_alloc_at(8, ROWS * COLUMNS, 0, b"device_arrays.py")
        self.values = (ctypes.c_double * (ROWS * COLUMNS)).from_address(self.address)
        self.fill()

    def fill(self) -> None:
        for i in range(ROWS * COLUMNS):
            self.values[i] = i


def require(condition: bool, what: str) -> None:
    if not condition:
        sys.exit(f"wrong: {what}")


def box(shared: Shared, stream: int) -> Any:
    """Rows 3 to 12, columns 5 to 24, after a preload of all: a part of a larger copy."""
    whole = devices.DeviceArray(shared.address, (ROWS, COLUMNS), "<f8", stream)
    whole.preload()
    return devices.DeviceArray(shared.address + 8 * (3 * COLUMNS + 5), (10, 20), "<f8", stream, (8 * COLUMNS, 8))


def check(shared: Shared, stream: int, view: Any, sum_of: Any, synchronize: Any) -> None:
    """`view` makes an array of another library, which shares the memory; `sum_of` one number of it."""
    shared.fill()
    array = box(shared, stream)
    require(array.strides == (8 * COLUMNS, 8), f"strides {array.strides}")
    other = view(array)
    require(tuple(other.shape) == (10, 20), f"shape {other.shape}")
    expected = sum(i * COLUMNS + j for i in range(3, 13) for j in range(5, 25))
    require(sum_of(other) == expected, "sum")
    other *= 2
    synchronize()
    require(shared.values[3 * COLUMNS + 5] == 3 * COLUMNS + 5, "memory changes before the overload")
    array.overload()
    for i in range(ROWS):
        for j in range(COLUMNS):
            factor = 2 if 3 <= i < 13 and 5 <= j < 25 else 1
            require(shared.values[i * COLUMNS + j] == factor * (i * COLUMNS + j), f"element {i} {j}")
    del array
    require(sum_of(other) == 2 * expected, "the memory outlives the object that it is of")
    del other
    gc.collect()


def numpy(shared: Shared, stream: int) -> None:
    np = importlib.import_module("numpy")
    array = box(shared, stream)
    require(array.__dlpack_device__() == (devices.HOST, 0), "a host device is the processor")
    require(not hasattr(array, "__cuda_array_interface__"), "a host device has no interface of CUDA")
    array.__dlpack__()  # nobody takes it
    array.__dlpack__(max_version=(1, 0))
    del array
    check(shared, stream, np.from_dlpack, lambda a: a.sum(), lambda: None)


def torch(shared: Shared, stream: int) -> None:
    library = importlib.import_module("torch")
    for view in (library.from_dlpack, lambda a: library.as_tensor(a, device="cuda")):
        check(shared, stream, view, lambda a: a.sum().item(), library.cuda.synchronize)


def cupy(shared: Shared, stream: int) -> None:
    library = importlib.import_module("cupy")
    for view in (library.from_dlpack, library.asarray):
        check(shared, stream, view, lambda a: float(a.sum()), library.cuda.runtime.deviceSynchronize)


def main() -> None:
    library = devices.load()
    library.sms_startup(None, None)
    shared, stream = Shared(), library.hiroba_stream_create(0)
    whole = devices.Section(shared.address, 8 * ROWS * COLUMNS, 0)
    for name in sys.argv[2:] or ["numpy"]:
        globals()[name](shared, stream)
        library.hiroba_device_drop(whole, stream)
    for wrong in (((1, 2, 3, 4, 5), "<f8", None), ((4,), ">f8", None), ((4, 4), "<f8", (32, 16))):
        shape, typestr, strides = wrong
        try:
            devices.DeviceArray(shared.address, shape, typestr, stream, strides)
        except ValueError:
            continue
        sys.exit(f"{wrong} is accepted")
    library.sms_shutdown()
    print("done")


if __name__ == "__main__":
    main()
