"""hiroba.load of .npy files, and the reader of reports, with what somebody has damaged: each file is read, or refused
in one line without characters that control a terminal; nothing hangs.

test_files_of_python.py BUILD [--count N] [--seed S]: N files of each kind.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import signal
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from damaging import damage_bytes, damage_tree
from hiroba import files
from hiroba.report import run

MOST_SECONDS = 60  # for one file
NPY_PARTS = (
    b"True", b"-1", b"99999999999999999999", b"1e9", b"(", b")", b"[", b"{", b"'", b",", b"\x00", b"\xff", b"\x1b[2J",
    b"'O'", b"|O", b"<V9999999", b"lambda: 0", b"None", b"'descr'", b"(" * 200, b"[" * 3000, b"-" * 5000, b"'<M8[s]'",
    b"|S0", b"'<i4,'*90000", b"\n", b"\x02\x00", b"\x03\x00", b"{1:2}", b"set()", b"1_0", b"('a',)", b"[('','O')]",
    b"0,1000000000000000000000000",
)  # fmt: skip


class TooLong(BaseException):
    pass


@contextlib.contextmanager
def bounded() -> Any:
    def late(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, late)
    signal.alarm(MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def good_arrays() -> list[bytes]:
    out = []
    fields = [("a", "<i4"), ("é", "<f8", (2,))]
    for kind, shape in (("<f8", (3, 4)), ("|b1", (5,)), (fields, (2,)), ("<U7", (2, 2)), ("<f4", ())):
        for version in ((1, 0), (2, 0), (3, 0)):
            made = io.BytesIO()
            with contextlib.suppress(UnicodeEncodeError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                np.lib.format.write_array(made, np.zeros(shape, np.dtype(kind)), version)
                out.append(made.getvalue())
    return out


def check_line(text: str, what: object) -> None:
    assert text.strip() and "\n" not in text.strip() and text.strip().isprintable(), f"{what}: {text[:500]!r}"


def arrays(chance: random.Random, count: int, folder: Path) -> tuple[int, int]:
    file, good, read = folder / "a.npy", good_arrays(), 0
    for number in range(count):
        file.write_bytes(damage_bytes(chance, chance.choice(good), NPY_PARTS, 140))
        try:
            with bounded(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                files.load(file).free()
            read += 1
        except (ValueError, OSError, TypeError) as error:
            assert type(error) in (ValueError, TypeError) or isinstance(error, OSError), f"{number}: {error!r}"
            check_line(str(error), number)
    return read, count - read


def good_report(build: Path, folder: Path) -> dict[str, Any]:
    file = folder / "good.json"
    command: list[str | Path] = [build / "bin/hirobarun", "-n", "2", "--nodes", "2", "--report", file]
    subprocess.run([*command, build / "bin/stencil_sms", "--size", "8", "--steps", "20"], check=True, timeout=300,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return json.loads(file.read_text())


def reports(chance: random.Random, count: int, folder: Path, good: dict[str, Any]) -> tuple[int, int]:
    file, same = folder / "a.json", folder / "good.json"
    text = json.dumps(good).encode()
    # Most of a report are events and bins: short ones let the changes meet all the rest, too.
    for rank in good["ranks"]:
        timeline = rank["timeline"]
        rank["timeline"] = {name: timeline[name][:20] if isinstance(timeline[name], list) else timeline[name]
                            for name in timeline}  # fmt: skip
    read = 0
    for number in range(count):
        if chance.random() < 0.8:
            file.write_text(json.dumps(damage_tree(chance, good)))
        else:
            file.write_bytes(damage_bytes(chance, text, (b"\xff", b"[" * 5000, b"1e999", b"-", b"{", b'"')))
        out = io.StringIO()
        words = chance.choice((("report", file, folder / "a.html"), ("report", file, folder / "a.perfetto.json"),
                               ("compare", file, same), ("compare", same, file)))  # fmt: skip
        with bounded(), contextlib.redirect_stderr(out), contextlib.redirect_stdout(out):
            status = run.main([str(word) for word in words])
        said = out.getvalue()
        if said.startswith("hiroba: "):
            assert status != 0, number
            check_line(said, number)
        else:
            read += 1
            assert all(line.isprintable() for line in said.split("\n")), f"{number}: {said!r}"
    return read, count - read


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()) ^ os.getpid())
    wish = parser.parse_args()
    print(f"seed {wish.seed}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        good = good_report(wish.build, folder)
        for kind, test in (
            ("arrays", lambda chance: arrays(chance, wish.count, folder)),
            ("reports", lambda chance: reports(chance, wish.count, folder, good)),
        ):
            read, refused = test(random.Random(wish.seed))
            print(f"{kind}: {read} read, {refused} refused", flush=True)


if __name__ == "__main__":
    main()
