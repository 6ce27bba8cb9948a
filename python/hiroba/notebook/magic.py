"""`%%hiroba` and `%hiroba` of IPython."""

from __future__ import annotations

import atexit
import html
import shlex
import sys
from typing import Any

from IPython.display import display

from hiroba.notebook.job import LAUNCHER, Job, JobEndedError

NO_JOB = ["-n", "2"]  # the options of a first cell that has none
USAGE = "%hiroba says: status, restart [OPTIONS OF hirobarun], stop"


class CellError(RuntimeError):
    """An exception in ranks of the job, which goes on."""

    def __init__(self, errors: dict[int, str], size: int) -> None:
        self.errors, self.size = errors, size
        super().__init__("; ".join(f"{who}: {last_line(text)}" for text, who in self.by_text()))

    def by_text(self) -> list[tuple[str, str]]:
        """What was raised, and by which ranks."""
        return [(text, ranks_of(self.size, ranks)) for text, ranks in together(self.errors)]

    def _render_traceback_(self) -> list[str]:
        return [f"{who}:\n{text.rstrip()}" for text, who in self.by_text()]


def last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def together(texts: dict[int, str]) -> list[tuple[str, list[int]]]:
    """The ranks of each text, in the order of the first."""
    out: dict[str, list[int]] = {}
    for rank, text in sorted(texts.items()):
        out.setdefault(text, []).append(rank)
    return list(out.items())


def ranks_of(size: int, ranks: list[int]) -> str:
    if len(ranks) == size and size > 1:
        return f"all {size} ranks"
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


class Notebook:
    """The job of this kernel, and the output of its cell. Rank 0's appears at once; that of others when the cell ends,
    folded."""

    def __init__(self, shell: Any) -> None:
        self.job: Job | None = None
        self._shell = shell
        self._options = NO_JOB
        self._texts: dict[int, str] = {}

    def cell(self, line: str, source: str) -> None:
        """%%hiroba [OPTIONS OF hirobarun]: runs the cell on all ranks of a job, which stays for later cells."""
        self._texts.clear()
        job = self._job_for(shlex.split(line))
        try:
            errors = job.run(len(self._shell.user_ns["In"]) - 1, source)
        except JobEndedError as error:
            self.job = None
            self._texts.pop(LAUNCHER, None)  # which is the reason, in the message
            raise self._without_frames(error) from None
        except BaseException:
            self._stop()
            raise
        finally:
            self._show_others()
        if errors:
            raise CellError(errors, job.size)

    def line(self, line: str) -> None:
        """%hiroba status | restart [OPTIONS OF hirobarun] | stop"""
        word, *options = shlex.split(line) or ["status"]
        if word == "restart":
            self._stop()
            self._start(options or self._options)
        elif word == "stop" and not options:
            self._stop()
        elif word != "status" or options:
            raise ValueError(f"%hiroba {line}: {USAGE}")
        print(f"{self.job.size} ranks: hirobarun {shlex.join(self.job.options)}" if self.job else "no job")

    def _job_for(self, options: list[str]) -> Job:
        if self.job is None:
            return self._start(options or self._options)
        try:
            self.job.check()
        except JobEndedError as error:
            self.job = None
            raise self._without_frames(error) from None
        if options not in ([], self.job.options):
            raise ValueError(
                f"the job was started with {shlex.join(self.job.options)}, and has variables; "
                f"%hiroba restart {shlex.join(options)} starts another one"
            )
        return self.job

    def _start(self, options: list[str]) -> Job:
        if any(word.startswith("--host") for word in options):
            raise ValueError("the ranks of a notebook are on this machine; start Jupyter where they are to run")
        self.job = None
        try:
            self.job = Job(options, self._take)
        except JobEndedError as error:
            raise self._without_frames(error) from None
        self._options = options
        return self.job

    def _stop(self) -> None:
        if self.job is not None:
            self.job.end()
        self.job = None

    @staticmethod
    def _without_frames(error: JobEndedError) -> JobEndedError:
        """Shown without the frames of the kernel, which are none of the user's."""
        lines = [f"{error}\nIts variables are lost; the next %%hiroba starts another job."]
        error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
        return error

    def _take(self, rank: int, kind: str, what: Any) -> None:
        if rank == 0 and kind == "shown":
            display(what, raw=True)
        elif rank == 0:
            print(what, end="", flush=True, file=getattr(sys, kind))
        else:
            text = what["text/plain"] + "\n" if kind == "shown" else what
            self._texts[rank] = self._texts.get(rank, "") + text

    def _show_others(self) -> None:
        if said := self._texts.pop(LAUNCHER, ""):
            print(said, end="", file=sys.stderr)
        parts, plain = [], []
        for text, ranks in together(self._texts):
            who = ranks_of(0, ranks)
            plain += [f"{who}:\n{text}"]
            parts += [f"<details><summary>{who}</summary><pre>{html.escape(text)}</pre></details>"]
        if parts:
            display({"text/html": "".join(parts), "text/plain": "".join(plain)}, raw=True)

    def end(self) -> None:
        """With the kernel."""
        self._stop()


def load(shell: Any) -> None:
    notebook = Notebook(shell)
    shell.register_magic_function(notebook.cell, "cell", "hiroba")
    shell.register_magic_function(notebook.line, "line", "hiroba")
    atexit.register(notebook.end)
