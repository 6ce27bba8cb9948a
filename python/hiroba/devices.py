"""Sections on devices as arrays of other libraries: NumPy (on host devices), PyTorch, CuPy and all others that know
DLPack or __cuda_array_interface__ use the memory of the device itself. docs/devices.md has an example.

Calls that are not here, such as sms_startup, are made with the library, by ctypes: `load()` returns it. It ends the job
on errors, as in C. Not thread-safe."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import hiroba.library
from hiroba.library import SECTION_DIMS, Section

HOST, CUDA = 1, 2  # device_type of DLPack
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # of a typestr
CAPSULE, VERSIONED_CAPSULE = b"dltensor", b"dltensor_versioned"


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class View(ctypes.Structure):
    """DLTensor"""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("dims", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Tensor(ctypes.Structure):
    """DLManagedTensor of DLPack 0.8"""

    _fields_ = (("view", View), ("context", ctypes.c_void_p), ("deleter", Deleter))


class VersionedTensor(ctypes.Structure):
    """DLManagedTensorVersioned of DLPack 1.0, by which libraries know that the memory may be written"""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("view", View),
    )


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
# The destructor's argument is an object that is being destroyed, so it stays an address.
is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


versioned: dict[int, tuple[VersionedTensor, Any]] = {}  # those in use by address, each with the one that it is of


@Deleter
def end_of_versioned(address: int) -> None:
    _, of = versioned.pop(address)
    of.contents.deleter(ctypes.addressof(of.contents))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def end_of_capsule(capsule: int) -> None:
    """Ends a tensor that nobody has taken; who takes one gives its capsule another name."""
    for name, kind in ((CAPSULE, Tensor), (VERSIONED_CAPSULE, VersionedTensor)):
        if is_capsule(capsule, name):
            address = pointer_of(capsule, name)
            kind.from_address(address).deleter(address)


@functools.cache
def load() -> ctypes.CDLL:
    """Returns libhiroba with its functions for devices declared."""
    library = hiroba.library.load()
    library.hiroba_stream_create.restype = ctypes.c_void_p
    library.hiroba_stream_native.restype = ctypes.c_void_p
    library.hiroba_stream_native.argtypes = (ctypes.c_void_p,)
    library.hiroba_stream_wait.argtypes = (ctypes.c_void_p,)
    library.hiroba_device_tensor.restype = ctypes.POINTER(Tensor)
    library.hiroba_device_tensor.argtypes = (ctypes.POINTER(Section), ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
    for name in ("preload", "overload"):
        getattr(library, f"hiroba_device_{name}").argtypes = (ctypes.POINTER(Section), ctypes.c_void_p, ctypes.c_void_p)
    library.hiroba_device_drop.argtypes = (ctypes.POINTER(Section), ctypes.c_void_p)
    return library


class DeviceArray:
    """A section of an array in memory, on the device of a stream (hiroba_stream_create). `typestr` is that of NumPy,
    "<f8"; `strides` are in bytes, those of contiguous memory if left out. The last dimension is contiguous.

    While the object, or an array that another library has made of it, lives, the section cannot be dropped. What these
    write there goes to memory by overload(), after their work has ended."""

    def __init__(
        self, address: int, shape: Sequence[int], typestr: str, stream: int, strides: Sequence[int] | None = None
    ) -> None:
        element = int(typestr[2:])
        if not shape or len(shape) > SECTION_DIMS + 1:
            raise ValueError(f"{len(shape)} dimensions; 1 to {SECTION_DIMS + 1}")
        if typestr[1] not in CODES or typestr[0] == ">":
            raise ValueError(f"elements of type {typestr}; i, u, f, c or b, in the order of this processor")
        given = list(strides) if strides is not None else contiguous(shape, element)
        if len(given) != len(shape) or given[-1] != element:
            raise ValueError(f"strides {given} for shape {tuple(shape)}; the last one is {element}")
        self.section = Section(address, shape[-1] * element, len(shape) - 1)
        for d, (count, stride) in enumerate(zip(shape[:-1], given[:-1], strict=True)):
            self.section.count[d], self.section.stride[d] = count, stride
        self.stream, self.typestr = stream, typestr
        self._library = load()
        self._own = self._tensor()

    def __del__(self) -> None:
        own = getattr(self, "_own", None)
        if own is not None:
            own.contents.deleter(ctypes.addressof(own.contents))

    def preload(self) -> None:
        """Brings the section to the device."""
        self._library.hiroba_device_preload(self.section, self.stream, None)
        self._library.hiroba_stream_wait(self.stream)

    def overload(self) -> None:
        """Writes it back."""
        self._library.hiroba_device_overload(self.section, self.stream, None)
        self._library.hiroba_stream_wait(self.stream)

    def _tensor(self) -> Any:
        code, bits = CODES[self.typestr[1]], 8 * int(self.typestr[2:])
        return self._library.hiroba_device_tensor(self.section, self.stream, code, bits)

    @property
    def shape(self) -> tuple[int, ...]:
        own = self._own.contents.view
        return tuple(own.shape[: own.dims])

    @property
    def strides(self) -> tuple[int, ...]:
        """Those on the device, in bytes."""
        own = self._own.contents.view
        return tuple(stride * int(self.typestr[2:]) for stride in own.strides[: own.dims])

    def __dlpack_device__(self) -> tuple[int, int]:
        own = self._own.contents.view
        return own.device_type, own.device_number

    def __dlpack__(self, **wanted: Any) -> Any:
        """All work of the stream has ended, so there is nothing to wait for in the stream that is wanted."""
        if wanted.get("copy"):
            raise BufferError("a copy is wanted, and this is the memory of the device itself")
        tensor = self._tensor()
        if (wanted.get("max_version") or (0, 8)) < (1, 0):
            return new_capsule(ctypes.addressof(tensor.contents), CAPSULE, end_of_capsule)
        out = VersionedTensor(1, 0, None, end_of_versioned, 0, tensor.contents.view)
        versioned[ctypes.addressof(out)] = out, tensor
        return new_capsule(ctypes.addressof(out), VERSIONED_CAPSULE, end_of_capsule)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        own = self._own.contents.view
        if own.device_type != CUDA:
            raise AttributeError("__cuda_array_interface__ is for GPUs, and this is on a host device")
        return {
            "shape": self.shape,
            "typestr": self.typestr,
            "data": (own.data, False),
            "version": 3,
            "strides": self.strides,
            "stream": self._library.hiroba_stream_native(self.stream),
        }


def contiguous(shape: Sequence[int], element: int) -> list[int]:
    out = [element]
    for count in reversed(shape[1:]):
        out.insert(0, out[0] * count)
    return out
