"""The job: its start, when this module is imported, its end, and what happens to exceptions that nobody catches: the
first rank that has one ends the job with its traceback."""

from __future__ import annotations

import atexit
import ctypes
import functools
import operator
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from hiroba.library import Error, load, mark_children
from hiroba.places import PACKAGE, is_installed, place_of, program_frame

__all__ = ["Error", "node", "nodes", "rank", "size"]

MOST_TEXT = 1900  # of a message of the library

library = load()


def number(name: str) -> int:
    return ctypes.c_int.in_dll(library, name).value


def start() -> None:
    library.hiroba_start_interpreted()  # which ends the job, too, when the process exits
    mark_children(number("sms_nprocs"))
    sys.excepthook = report
    threading.excepthook = report_of_thread
    if "mpi4py.MPI" in sys.modules:  # which ends MPI before the process exits
        atexit.register(end)
    os.register_at_fork(after_in_child=in_child)
    take_interrupts()
    # The output is a pipe to the launcher. A rank that is killed would lose what is in the buffer.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)


def take_interrupts() -> None:
    """Python lets the main thread only set handlers; if another one uses hiroba first, that one does so at one of its
    next statements."""
    if threading.current_thread() is not threading.main_thread():
        ctypes.pythonapi.Py_AddPendingCall(take_interrupts_later, None)
    elif signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        Interrupts()


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def take_interrupts_later(_: int | None) -> int:
    take_interrupts()
    return 0


class Interrupts:
    """Ctrl-C reaches Python as an exception, after the call of C that it is in. A rank that waits for another one is in
    such a call for ever. So a thread sees the signal, too, and ends a rank whose program does not get the exception."""

    seconds = 1.0

    def __init__(self) -> None:
        self.taken = threading.Event()
        self.read, write = os.pipe()
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        self.before = signal.signal(signal.SIGINT, self.take)
        threading.Thread(target=self.watch, name="hiroba-interrupts", daemon=True).start()

    def take(self, number: int, frame: FrameType | None) -> Any:
        self.taken.set()
        return self.before(number, frame) if callable(self.before) else None

    def watch(self) -> None:
        while got := os.read(self.read, 1):
            if got[0] != signal.SIGINT or self.taken.wait(self.seconds):
                self.taken.clear()
                continue
            import traceback

            frame = sys._current_frames().get(threading.main_thread().ident or 0)
            lines = "".join(traceback.format_stack(frame))
            what = "Interrupted in a call that does not end (most recent call last)"
            fail(f"{what}:\n{lines}KeyboardInterrupt", "KeyboardInterrupt", place_of(program_frame(frame)))


@functools.cache
def encoded(place: str) -> bytes:
    """The text lives as long as the program, because the library keeps the address."""
    return place.encode()


class Standing(threading.local):
    """The library's variable of this thread."""

    def __init__(self) -> None:
        self.place = ctypes.c_char_p.in_dll(library, "hiroba_place")


standing = Standing()


def stand_at(place: str) -> None:
    """Says where the next call of this thread is, for messages of functions that have no argument for it."""
    standing.place.value = encoded(place)


hints: list[Callable[[BaseException], str]] = []  # what they know of an exception, or an empty text


def hint_of(error: BaseException) -> str:
    return "".join(f"; {text}" for text in (each(error) for each in hints) if text)


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Ends the job with the traceback of an exception."""
    import traceback

    told = traceback.TracebackException(kind, error, trace)
    if told.stack and (told.stack[-1].filename, told.stack[-1].name) == (__file__, Interrupts.take.__name__):
        del told.stack[-1]  # which Ctrl-C has called
    places = [each for each in told.stack if not each.filename.startswith(PACKAGE)]
    of_program = [each for each in places if not is_installed(each.filename)] or places
    place = f"{of_program[-1].filename.rpartition('/')[2]}:{of_program[-1].lineno}" if of_program else "Python"
    # The lines of the source come first for a syntax error; the text of an exception may have several lines.
    first = next((line for line in told.format_exception_only() if not line.startswith(" ")), kind.__name__)
    fail("".join(told.format()), first.partition("\n")[0] + hint_of(error), place)


def report_of_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
        fail_with(failed.exc_value)


def fail_with(error: BaseException) -> None:
    """The same, for functions that the library calls, through which an exception cannot pass."""
    report(type(error), error, error.__traceback__)


def fail(text: str, summary: str, place: str) -> None:
    """Ends the job. The summary, of one line, comes first, because a long text is cut."""
    sys.stdout.flush()
    text = text.rstrip()
    if len(text) + len(summary) > MOST_TEXT:
        text = "...\n" + text[-(MOST_TEXT - len(summary)) :]
    stand_at(place)
    library.hiroba_fail(f"{summary}\n{text}".encode(errors="backslashreplace"))


def end() -> None:
    """Leaves the job."""
    library.sms_shutdown()


def in_child() -> None:
    atexit.unregister(end)
    sys.excepthook = sys.__excepthook__


start()
rank, size = number("sms_rank"), number("sms_nprocs")
node, nodes = number("sms_node"), number("sms_nnodes")


def known_rank(given: Any, text: str) -> int:
    """A rank that the program gives, after a look at it; the text is of the message."""
    number = index_of(given)
    if number is None or not 0 <= number < size:
        raise ValueError(f"{text}: the job has ranks 0..{size - 1}")
    return number


def index_of(given: Any) -> int | None:
    """An integer that the program gives; None for what is none. To ask isinstance(given, SupportsIndex) takes 10 us."""
    try:
        return operator.index(given)
    except TypeError:
        return None
