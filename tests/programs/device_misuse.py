#!/usr/bin/env python3
"""Runs every case of device_misuse.c as misuse.py does: on host devices, and by the stand-in of NVIDIA's driver.

device_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import os
import pathlib
import re
import sys
from typing import Any

from misuse import Case, main

SOURCE = pathlib.Path(__file__).parent / "device_misuse.c"
HOST = ["--devices", "host:1"]
CHECK = [*HOST, "--check", "yes"]
CHAOS = [*HOST, "--chaos", "3"]


def place(name: str, mark: str) -> str:
    """The line with this mark in the function of that name, as messages show it."""
    lines = SOURCE.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"static void {name}(void)"))
    line = next(i for i in range(begin, len(lines)) if f"/* {mark} */" in lines[i])
    return rf"\S*device_misuse\.c:{line + 1}\b"


def case(name: str, *words: str, program: str = "", **more: Any) -> Case:
    shape: dict[str, Any] = {"ranks": 2, "nodes": 1, "options": HOST}
    return Case(name, [r"rank \d", *words], binary="device_misuse", program=program or name, **(shape | more))


def ordered(name: str, *words: str, **more: Any) -> Case:
    """A mistake that names both places."""
    return case(name, place(name, "first"), place(name, "second"), *words, **more)


def by_driver(name: str, *words: str, devices: str = "cuda", **settings: str) -> Case:
    """With the stand-in of the driver."""
    folder = str(pathlib.Path(sys.argv[sys.argv.index("--build") + 1]) / "tests" / "cuda_standin")
    paths = [folder, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    names = {"CACHE": "HIROBA_DEVICE_CACHE"}
    more = {names.get(key, f"CUDA_STANDIN_{key}"): value for key, value in settings.items()}
    return case(
        f"{name} by the driver of {devices}",
        *words,
        program=name,
        options=["--devices", devices],
        settings={"LD_LIBRARY_PATH": ":".join(paths), **more},
    )


KERNEL = "kernel scale at "
CASES = [
    ordered("kernel_before_preload", KERNEL, "comes before the preload at", "exchange them"),
    case(
        "kernel_without_preload",
        place("kernel_without_preload", "first"),
        "512 KiB that begin at",
        "is not on device 0",
    ),
    ordered("overload_before_kernel", "the overload at .* comes before kernel scale at", "exchange them"),
    case("overload_without_kernel", place("overload_without_kernel", "first"), "no kernel has written on device 0"),
    ordered("two_streams", "in two streams, and nothing orders them", "hiroba_stream_after"),
    ordered("two_kernels", "in two streams, and nothing orders them"),
    ordered("kernel_before_preload", KERNEL, "comes before the preload at", nodes=2, options=CHAOS),
    ordered("overload_before_kernel", "the overload at .* comes before kernel scale at", nodes=2, options=CHAOS),
    ordered("two_streams", "in two streams, and nothing orders them", nodes=2, options=CHAOS),
    ordered("two_kernels", "in two streams", nodes=2, options=CHAOS),
    ordered("preload_over_kernel", "would overwrite 256 KiB that begin at", nodes=2, options=CHAOS),
    ordered("overload_elsewhere", "the overload at .* and kernel scale at .* in two streams"),
    ordered("preload_over_kernel", "would overwrite 256 KiB that begin at", "no overload has written back"),
    ordered("both_write", "check: the overload at .* would overwrite", options=CHECK),
    ordered("both_write_unseen", "check: the overload at .* would overwrite", options=CHECK),
    case(
        "too_large",
        r"a section of 512 KiB, which begins at .*device_misuse\.c:\d+, is larger than all copies on device 0 ",
        "256 KiB; cut it into smaller ones, or set option device-cache",
        options=[*HOST, "--device-cache", "256K"],
    ),
    case(
        "full",
        "no room for 128 KiB of .*device_misuse",
        r"of 256 KiB it has 256 KiB of .*device_misuse\.c:\d+ \(written by kernels, without an overload",
        options=[*HOST, "--device-cache", "256K"],
    ),
    case(
        "full_of_held",
        "no room for 128 KiB of .*device_misuse",
        r"of 256 KiB it has 256 KiB of .*device_misuse\.c:\d+ \(held\)\. Overload or drop them",
        options=[*HOST, "--device-cache", "256K"],
    ),
    case("fails", "kernel wild at " + place("fails", "first") + r", on device 0 \(.*\) of rank 1", "returned 700"),
    case("fails_unseen", "kernel wild at " + place("fails_unseen", "first"), "returned 700"),
    case("no_function", "kernel empty at " + place("no_function", "first"), "no function for host devices"),
    case("no_such_device", "hiroba_stream_create: device 7 of rank 1, which has 1, counted from 0"),
    case("no_stream", "hiroba_device_preload: the stream is NULL"),
    case("past_end", "the section is not all in one array"),
    case("reduction", "access 0 of kernel scale has mode 19"),
    case("lent", place("lent", "first"), "1 tensors of other libraries use 512 KiB of", "before it is dropped"),
    case("odd_elements", "blocks of 12 bytes, .* are no multiples of elements of 8 bytes"),
    case("part_dropped", "is a part of a larger copy, which was made at"),
    case("in_parts", "device 0 has some of it, but not in one copy"),
    case("other_copy", "is out of date: kernel scale at " + place("other_copy", "first")),
    case("not_awaited", "nobody has waited for hiroba_device_preload at " + place("not_awaited", "first")),
    case("touched", "segmentation fault|SEGV", r"touched .*device_misuse\.c:\d+"),  # the latter by sanitizers
    case("no device", r"rank 1 has no device \(option devices is none\)", options=["--devices", "none"]),
    case("no GPU", "no driver of NVIDIA is installed|finds no device|rank 1 has no device", options=[]),
    case("too many", "option devices asks for 65|it is auto, none", options=["--devices", "cuda:65"]),
    case("unknown kind", "option devices=hots:1: it is auto, none, a number", options=["--devices", "hots:1"]),
    by_driver("fails", "kernel wild at", r"on device 0 \(Stand-in 0\) of rank 1", "illegal memory access", r"\(700\)"),
    by_driver(
        "newer",
        "kernel newer at " + place("newer", "first"),
        r"device 0 \(Stand-in 0\) of rank 1",
        r"compiled for a newer CUDA than that of the driver, 12\.2",
        VERSION="12020",
    ),
    by_driver(
        "preloads",
        "unknown error.*the device may be lost: nvidia-smi tells",
        r"none, on device 0 \(Stand-in 0\) of rank 1",
        LOST="0",
    ),
    by_driver(
        "preloads_after_kernel",
        "unknown error.*the device may be lost",
        "kernel scale at " + place("preloads_after_kernel", "first") + r", on device 0 \(Stand-in 0\) of rank 1",
        LOST="1",
    ),
    by_driver("old", r"the driver of NVIDIA is for CUDA 11\.4; at least 12\.0", VERSION="11040"),
    by_driver("nothing", "option devices asks for 3 devices on each node, and this one has 1$", devices="3"),
    by_driver(
        "nothing", "option devices asks for 3 devices on each node, and this one has 2$", devices="cuda:3", DEVICES="2"
    ),
    by_driver("nothing", "the driver of NVIDIA finds no device", DEVICES="0"),
    by_driver("too_large", "no room for 512 KiB of", "too little left by other programs", MEMORY="500000", CACHE="1M"),
    by_driver("two_streams", place("two_streams", "first"), place("two_streams", "second")),
]

if __name__ == "__main__":
    assert all(re.compile(word) for c in CASES for word in c.words)
    sys.exit(main(CASES))
