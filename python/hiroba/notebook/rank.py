"""A rank of a notebook's job: it executes cells that the kernel sends, one after the other, in one namespace. Usage:
hirobarun ... python3 -m hiroba.notebook.rank SOCKET

All ranks end a cell by a collective operation, also those in which it raised an exception. So shared memory is after it
as after a barrier; and if a rank waits in a call for one that has raised an exception, the library finds different
operations, and ends the job with the places of both. Nothing waits for ever."""

from __future__ import annotations

import ast
import base64
import io
import linecache
import os
import queue
import signal
import sys
import threading
import traceback
import types
from multiprocessing.connection import Client, Connection
from typing import Any

import hiroba
from hiroba.job import hint_of
from hiroba.places import PACKAGE

COLLECTIVE = {"allreduce": hiroba.allreduce}
PICTURES = "hiroba.notebook.pictures"


class Kernel:
    """The connection to the kernel. A thread reads it, so that a rank ends when the kernel has ended."""

    def __init__(self, path: str) -> None:
        self._connection: Connection = Client(path, "AF_UNIX")
        self._turn = threading.Lock()
        self._cells: queue.SimpleQueue[tuple[int, str] | None] = queue.SimpleQueue()
        self._running = False
        threading.Thread(target=self._read, name="hiroba-kernel", daemon=True).start()

    def send(self, *message: object) -> None:
        with self._turn:
            self._connection.send(message)

    def next_cell(self) -> tuple[int, str] | None:
        """Returns a number and a text; None when the job is to end."""
        self._running = False
        while True:
            try:
                cell = self._cells.get()
            except KeyboardInterrupt:  # which came after the end of a cell
                continue
            self._running = cell is not None
            return cell

    def _read(self) -> None:
        try:
            while (cell := self._connection.recv()) is not None:
                self._cells.put(cell)
        except (EOFError, OSError):
            if self._running:
                os.kill(os.getpid(), signal.SIGTERM)
        self._cells.put(None)


class Output(io.TextIOBase):
    """sys.stdout and sys.stderr of a rank, sent by lines."""

    def __init__(self, kernel: Kernel, name: str) -> None:
        self._kernel, self._name, self._held = kernel, name, ""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._held += text
        if "\n" in text:
            self.flush()
        return len(text)

    def flush(self) -> None:
        held, self._held = self._held, ""
        if held:
            self._kernel.send("text", self._name, held)


def shown(value: Any) -> dict[str, str]:
    """What the notebook shows, by type of medium."""
    out = {"text/plain": repr(value)}
    if hasattr(value, "savefig"):  # a figure of matplotlib
        file = io.BytesIO()
        value.savefig(file, format="png")
        return out | {"image/png": base64.b64encode(file.getvalue()).decode()}
    for medium, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_"), ("image/png", "_repr_png_")):
        if callable(make := getattr(value, method, None)) and (made := make()) is not None:
            out[medium] = base64.b64encode(made).decode() if isinstance(made, bytes) else made
    return out


def compiled(source: str, name: str) -> tuple[types.CodeType, types.CodeType | None]:
    """The statements of a cell, and the expression that it ends with. The line `%%hiroba` counts."""
    source = "\n" + source
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    tree, last = ast.parse(source, name), None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = compile(ast.Expression(tree.body.pop().value), name, "eval")  # type: ignore[attr-defined]
    return compile(tree, name, "exec"), last


def execute(source: str, name: str, names: dict[str, Any]) -> str | None:
    """Returns the traceback of an exception."""
    try:
        statements, last = compiled(source, name)
        exec(statements, names)
        if last is not None and (value := eval(last, names)) is not None:
            names["_"] = value
            names["display"](value)
        if PICTURES in sys.modules:  # the cell, or one before it, has used pyplot
            sys.modules[PICTURES].Manager.pyplot_show()
    except BaseException as error:  # SystemExit and KeyboardInterrupt, too
        seen = traceback.TracebackException.from_exception(error)
        frames = [frame for frame in seen.stack if not frame.filename.startswith(PACKAGE)]
        seen.stack = traceback.StackSummary.from_list(frames)
        return "".join(seen.format()).rstrip("\n") + hint_of(error) + "\n"
    return None


def end_cell(failed: bool, number: int) -> None:
    """An operation that programs do not have where they have others, and that knows the cell; then a barrier."""
    eval(compile("allreduce(failed, 'max')", f"the end of cell {number}", "eval"), {"failed": failed} | COLLECTIVE)
    hiroba.barrier()


def main() -> None:
    kernel = Kernel(sys.argv[1])
    kernel.send("hello", hiroba.rank, hiroba.size, os.getpid())
    program = sys.modules["__main__"] = types.ModuleType("__main__")
    names = program.__dict__

    def display(value: Any) -> None:
        sys.stdout.flush()
        kernel.send("shown", shown(value))

    names["display"] = display
    os.environ["MPLBACKEND"] = f"module://{PICTURES}"
    sys.argv = [""]
    sys.path.insert(0, "")
    sys.stdout, sys.stderr = Output(kernel, "stdout"), Output(kernel, "stderr")
    while (cell := kernel.next_cell()) is not None:
        number, source = cell
        error = execute(source, f"cell {number}", names)
        sys.stdout.flush()
        sys.stderr.flush()
        kernel.send("executed", error)
        end_cell(error is not None, number)
        kernel.send("ended")


main()
