"""Checkpoints and .npy files of applications, and matrices of hiroba-eigen, with what somebody has damaged: each file
is read, or refused in one line without characters that control a terminal; nothing hangs.

test_files_of_programs.py BUILD [--count N] [--seed S]: N files in all.
"""

from __future__ import annotations

import argparse
import os
import random
import struct
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from damaging import damage_bytes

MOST_SECONDS = 60  # for one file
BAD_INPUT = 2
STATUSES = {0, 1, BAD_INPUT}  # 1: a verified answer is wrong, or hiroba-eigen has refused the file
CHECKPOINT_HEAD, NPY_HEAD = 1096, 128  # bytes
NPY_PARTS = (
    b"True", b"-1", b"99999999999999999999", b"4294967297", b"1000000000", b"(", b")", b"'", b",", b"\x00", b"\x1b[2J",
    b"'<f4'", b"'f'", b"'8'", b"'descr'", b"'shape'", b"True", b"\x02\x00",
)  # fmt: skip
CHECKPOINT_PARTS = (b"\x1b]0;x\x07", b"fdtd\0", b"stencil\0", b"%n%s", b"\xff" * 8)
MATRIX_PARTS = (
    b"-1", b"0", b"9223372036854775807", b"99999999999999999999", b"1e999", b"nan", b"\n", b"%", b"complex", b"pattern",
    b"hermitian", b"skew-symmetric", b"\x1b[2J", b"\x00", b"1 1 1\n", b"100000000",
)  # fmt: skip


class Case(NamedTuple):
    file: Path  # a good one
    head: int
    parts: tuple[bytes, ...]
    command: list[str | Path]  # the last word is the option that names the file


def program(build: Path, *words: str | Path) -> list[str | Path]:
    return [build / "bin" / words[0], *words[1:]]


def run(command: list[str | Path], folder: Path) -> subprocess.CompletedProcess[bytes]:
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, timeout=MOST_SECONDS, check=False, cwd=folder, env=variables)


def npy(folder: Path, name: str, kind: str, shape: tuple[int, ...], data: bytes) -> Path:
    about = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(NPY_HEAD - 11) + b"\n"
    (folder / name).write_bytes(b"\x93NUMPY\x01\x00" + len(about).to_bytes(2, "little") + about + data)
    return folder / name


def cases(build: Path, folder: Path) -> list[Case]:
    box = ["--size", "6", "--steps", "4"]
    fdtd = program(build, "fdtd_seq", *box)
    made = (
        program(build, "stencil_seq", *box, "--checkpoint", "stencil"),
        program(build, "barnes_hut_seq", "--size", "20", "--steps", "2", "--checkpoint", "bodies"),
        [*fdtd, "--output", "out", "--checkpoint", "2"],
    )
    for command in made:
        done = run(command, folder)
        assert done.returncode == 0, done
    words = CHECKPOINT_HEAD, CHECKPOINT_PARTS
    bodies = b"".join(struct.pack("<7d", i, i * i, 1, 0, 0, 0, 1) for i in range(9))
    solid, input_, wave = (
        npy(folder, "solid.npy", "|u1", (6, 6, 6), bytes(216)),
        npy(folder, "bodies.npy", "<f8", (9, 7), bodies),
        npy(folder, "wave.npy", "<f8", (4,), bytes(32)),
    )
    matrix = folder / "m.mtx"
    rows = "".join(f"{i} {i} {i}.5\n" for i in range(1, 9))
    matrix.write_text("%%MatrixMarket matrix coordinate real symmetric\n% eight\n8 8 9\n" + rows + "3 1 -0.25\n")
    return [
        Case(folder / "stencil", *words, program(build, "stencil_seq", "--steps", "6", "--restart")),
        Case(folder / "bodies", *words, program(build, "barnes_hut_seq", "--steps", "3", "--restart")),
        Case(folder / "out/checkpoint", *words, [*fdtd, "--restart"]),
        Case(solid, NPY_HEAD, NPY_PARTS, program(build, "fdtd_seq", "--steps", "2", "--start", "noise", "--solid")),
        Case(wave, NPY_HEAD, NPY_PARTS, [*fdtd, "--source", "3,3,3", "--start", "rest", "--wave"]),
        Case(input_, NPY_HEAD, NPY_PARTS, program(build, "barnes_hut_seq", "--steps", "1", "--input")),
        Case(matrix, 1 << 20, MATRIX_PARTS, program(build, "hiroba-eigen")),
    ]


def check(number: int, command: list[str | Path], folder: Path, damaged: Path) -> str:
    done = run([*command, damaged], folder)
    told = f"file {number}: {' '.join(map(str, command))}: status {done.returncode}: {done.stderr[:2000]!r}"
    if done.returncode not in STATUSES:
        kept = Path(tempfile.gettempdir()) / f"damaged-{os.getpid()}-{number}"
        kept.write_bytes(damaged.read_bytes())
        raise SystemExit(f"{told}\nthe file: {kept}")
    if done.returncode == 0:
        return "read"
    lines = done.stderr.decode(errors="replace").splitlines()
    one = len(lines) == 1 or "written with other settings" in lines[0]  # which it compares
    assert one and all(line.isprintable() for line in lines), told
    return "refused"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--count", type=int, default=70)
    parser.add_argument("--seed", type=int, default=int(time.time()) ^ os.getpid())
    wish = parser.parse_args()
    print(f"seed {wish.seed}", flush=True)
    chance = random.Random(wish.seed)
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = cases(wish.build.resolve(), folder)
        for case in found:
            done = run([*case.command, case.file], folder)
            assert done.returncode == 0, done
        for number in range(wish.count):
            case = found[number % len(found)]
            damaged = folder / "damaged"
            damaged.write_bytes(damage_bytes(chance, case.file.read_bytes(), case.parts, case.head))
            counts[case.file.name, check(number, case.command, folder, damaged)] += 1
    for (file, what), count in sorted(counts.items()):
        print(f"{file}: {count} {what}")


if __name__ == "__main__":
    main()
