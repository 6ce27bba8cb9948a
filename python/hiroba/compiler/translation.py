"""Commands whose files have a notation: runs the jobs of the C compiler's driver, with the translated C of a file
instead of the file. So names of files, dependencies and most messages are the compiler's own."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from .command import Command
from .core.source import CompileError
from .core.summaries import File
from .core.wide import show, spell, write
from .driver import die_of
from .fallthrough import with_comments
from .headers import header_words, words_for
from .jobs import CLANG, GCC, Job, jobs_of
from .link import check
from .plain import header_folders, read_input
from .pointing import Pointing
from .registry import NOTATIONS
from .translate import functions_of, translate

SHOWS_MACROS = ("-dM", "-dD", "-dN", "-dI", "-dU", "-M", "-MM", "-fdirectives-only")  # with -E
HEAD = re.compile(r"[^\s:][^:\n]*:\d+:\d+: (?:warning|error|fatal error): ")
MACRO = re.compile(r"#[ \t]*(?:define|undef)\b")
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def children_of(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def wait_for_state(process: int, states: str) -> None:
    while Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] not in states:
        time.sleep(0.001)


def kill_with_children(process: int) -> None:
    """Requires a child of this process, or of one that is stopped. The C compiler's own processes would go on without
    it, and miss the files that are removed; so they have ended when this returns."""
    os.kill(process, signal.SIGSTOP)
    wait_for_state(process, "TtZ")  # until then it may start another
    for child in children_of(process):
        kill_with_children(child)
    os.kill(process, signal.SIGKILL)
    wait_for_state(process, "Z")


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder that is removed however the command ends. A signal ends it at once, without an exception, which Python
    would lose in some places; signals wait while the folder is made and while it is removed."""

    def stop(number: int, _: FrameType | None) -> None:
        for child in children_of(os.getpid()):  # of which Popen may not know yet
            kill_with_children(child)
        folder.cleanup()
        die_of(number)

    handled = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    signal.pthread_sigmask(signal.SIG_BLOCK, handled)
    folder = tempfile.TemporaryDirectory(prefix="hirobacc-")
    for number in handled:
        signal.signal(number, stop)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, handled)
        yield folder.name
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, handled)
        folder.cleanup()
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, handled)


def translate_all(command: Command, headers: str, linked: list[str]) -> int | list[str]:
    """Runs the command and returns its status; or returns the words that only the C compiler needs for it. `linked`:
    words for the link."""
    gc.disable()  # a compilation makes many objects that stay, and has little garbage
    with scratch_folder() as folder:
        return Compilation(command, headers, linked, folder).run()


def start(words: list[str], job: Job, errors: int | None = None) -> subprocess.CompletedProcess[bytes]:
    if "-" in words and Path("/dev/stdin").is_file():
        os.lseek(0, 0, os.SEEK_SET)
    sys.stdout.flush()
    sys.stderr.flush()
    with subprocess.Popen(words, stderr=errors, env={**os.environ, **job.environment}) as child:
        _, said = child.communicate()
    return subprocess.CompletedProcess(words, child.returncode, stderr=said)


def say(messages: str) -> None:
    sys.stderr.flush()
    sys.stderr.buffer.write(messages.encode(errors="surrogateescape"))
    sys.stderr.flush()


class Translation:
    """One C file: preprocessed, and translated if it has a notation."""

    def __init__(self, job: Job, source: str, headers: str, command: Command, folder: str) -> None:
        self.job, self.source, self.folder = job, source, folder
        self.flags = [*command.warnings, *(name for name, _ in command.options if name.startswith("-fsanitize="))]
        self.text: str | None = None  # the C for the compiler
        self.preprocessed = ""
        self.failed = False
        self.explained: list[str] = []
        self.messages = ""
        self.pointing: Pointing | None = None
        written = read_input() if source == "-" else Path(source).read_bytes()
        self.original = written.decode("latin-1")
        self.more = header_words(source, self.original, headers)
        self.is_json = any(word.startswith("-fdiagnostics-format") for word in job.words)

    @property
    def colour(self) -> list[str]:
        assert self.job.dialect is not None
        given = any("diagnostics-color" in word or "color-diagnostics" in word for word in self.job.words)
        return [self.job.dialect.colour] if sys.stderr.isatty() and not given else []

    def make(self) -> None:
        text, status = self._read()
        if status == 0 and self.add_headers(text):
            text, status = self._read()
        if status != 0:
            self.failed = any(notation.is_written(each) for notation in NOTATIONS for each in (self.original, text))
            return
        self.preprocessed, text = text, spell(text)
        try:
            translated, self.explained, source = translate(text, self.at_lines, self.flags)
        except CompileError as error:
            self.failed, self.explained = True, list(error.explained)
            return
        if translated is not text:
            self.text = write(translated)
            self.pointing = Pointing(source, self.text)

    def _read(self) -> tuple[str, int]:
        """Returns the preprocessor's result, and its status."""
        out = f"{self.folder}/{Path(self.source).stem}.i"
        words = self.job.preprocessing(self.source, self.source, out, [*self.colour, *self.more])
        done = start(words, self.job, subprocess.PIPE)
        self.messages = done.stderr.decode(errors="surrogateescape")
        return (Path(out).read_bytes().decode("latin-1") if Path(out).exists() else "", done.returncode)

    def add_headers(self, text: str) -> bool:
        """Adds the headers of notations whose directives come from macros, _Pragma, or the user's headers. Returns
        true if there are any."""
        before = len(self.more)
        for notation in NOTATIONS:
            if notation.has_directives(text) and notation.symbol not in text:
                self.more += words_for(notation)
        return len(self.more) > before

    def at_lines(self, form: re.Pattern[str], texts: list[str]) -> str:
        """Returns the preprocessor's result for texts, each with the macros that are defined at its line: the k-th one
        at the k-th line of this form."""
        lines = self._preprocessed(self.source, ["-dD", *self.more]).splitlines(keepends=True)
        out, left = [], iter(texts)
        for line in lines:
            if MACRO.match(line):
                out.append(line)
            elif form.match(line):
                out.append(next(left, ""))
        file = Path(self.folder, "macros.c")
        file.write_bytes(write("".join(out)).encode("latin-1"))
        return spell(self._preprocessed(str(file), []))

    def _preprocessed(self, file: str, more: list[str]) -> str:
        """Returns the preprocessor's result for a file; messages are not printed."""
        out = Path(self.folder, "macros.i")
        words = self.job.preprocessing(self.source, file, str(out), more)
        start(self.job.without_dependencies(words), self.job, subprocess.DEVNULL)
        return out.read_bytes().decode("latin-1") if out.exists() else ""

    def compile(self, job: Job, read: str) -> int:
        """Runs a job that reads a file, with the translated C instead."""
        assert self.text is not None
        assert job.dialect is not None
        file = f"{self.folder}/{Path(self.source).stem}.c.i"
        text = with_comments(self.text) if job.dialect is GCC else self.text
        Path(file).write_bytes(text.encode("latin-1"))
        words = [*job.compiling(read, file), *self.colour]
        if self.is_json:
            return start(words, job).returncode
        done = start(words, job, subprocess.PIPE)
        if done.stderr and self.pointing is not None:
            say(self.pointing.rewrite(self._once(done.stderr.decode(errors="surrogateescape"))))
        return done.returncode

    def _once(self, messages: str) -> str:
        """Returns the messages without those that the preprocessor has already printed."""
        said = {line for line in self.messages.splitlines() if HEAD.match(line)}
        out, dropping = [], False
        for line in messages.split("\n"):
            if HEAD.match(line):
                dropping = line in said
            elif not line.startswith(" "):
                dropping = False
            out += [] if dropping else [line]
        return "\n".join(out)

    def preprocess(self, job: Job) -> int:
        """Executes the request of -E."""
        assert self.text is not None
        out = job.output if job.output != "-" else ""
        if "-P" in job.words:
            file = f"{self.folder}/{Path(self.source).stem}.c.i"
            Path(file).write_bytes(self.text.encode("latin-1"))
            return start([*job.stripping(file), *(["-o", out] if out else [])], job).returncode
        if out:
            Path(out).write_bytes(self.text.encode("latin-1"))
        else:
            sys.stdout.buffer.write(self.text.encode("latin-1"))
            sys.stdout.flush()
        return 0


class Compilation:
    def __init__(self, command: Command, headers: str, linked: list[str], folder: str) -> None:
        self.command, self.headers, self.linked, self.folder = command, headers, linked, folder
        self.made: dict[str, Translation] = {}  # by the file that a job reads
        self.origin: dict[str, str] = {}  # the source of a file that a job writes
        self.bad: set[str] = set()  # files that no job has written

    def words(self) -> list[str]:
        words = [word for word in self.command.words if word != "-pipe"]
        if not self.command.show:  # over nodes before libgomp, which makefiles name themselves
            return [*self.linked, *words] if self.command.over_nodes else [*words, *self.linked]
        out, skip = ["-E"], False
        for word in words:
            if not skip and word not in ("-o", "-c", "-S", "-E", "-fsyntax-only") and not word.startswith("-M"):
                out.append(word)
            skip = word in ("-o", "-MF", "-MT", "-MQ")
        return out

    def run(self) -> int | list[str]:
        folders = header_folders(self.headers)
        if self.command.has("-###"):
            return folders
        try:
            jobs, said, status = jobs_of(self.command.cc, self.words(), self.folder, everything=self.command.has("-v"))
        except OSError:
            return folders  # the C compiler is not there, or there are too many words
        if status != 0 and not any(job.dialect is GCC for job in jobs):
            return folders  # it refuses the command
        for job in jobs:
            self._prepare(job)
        translated = any(made.text is not None or made.failed for made in self.made.values())
        needs = [made.more for made in self.made.values()]
        if not (translated or self.command.show) and all(more == needs[0] for more in needs):
            return needs[0] if needs else folders
        say(said)
        for job in jobs:
            status = self._run(job) or status
        return status

    def _prepare(self, job: Job) -> None:
        sources = [name for name in self.command.sources if name == "-" or Path(name).is_file()]
        source = job.source(sources)
        is_text = not job.has("-traditional-cpp") and not (job.has("-E") and job.has(*SHOWS_MACROS))
        if source is None or source in self.made or not is_text:
            return
        folder = f"{self.folder}/{len(self.made)}"
        Path(folder).mkdir()
        self.made[source] = made = Translation(job, source, self.headers, self.command, folder)
        made.make()
        if self.command.explain and (made.explained or made.failed):
            nothing = f"{source}: --explain has nothing to say before these errors are mended"
            print(show("\n".join(made.explained) or nothing), file=sys.stderr)

    def _run(self, job: Job) -> int:
        if any(self._is_missing(word) for word in job.words if word != job.output):
            self.bad.add(job.output)
            return 1
        self.bad.discard(job.output)  # names of files between jobs are used again
        origin = next((self.origin[word] for word in job.words if word in self.origin), "")
        read = job.source(self.made) or job.source([file for file in self.origin if file.endswith(".i")])
        status = self._do(job, read)
        if job.output and (read is not None or origin):
            self.origin[job.output] = self.origin.get(read or "", read or origin)
        if status == 0:
            return 0
        if job.output and Path(job.output).is_file():
            Path(job.output).unlink()
        self.bad.add(job.output)
        if status < 0:
            what = signal.strsignal(-status)
            say(f"{self.command.cc[0]}: fatal error: {what} signal terminated program {job.name}\n")
        return status if status > 0 and (job.dialect is CLANG or self.command.has("-pass-exit-codes")) else 1

    def _is_missing(self, word: str) -> bool:
        """Returns true if an earlier job has failed to write it."""
        return word in self.bad or (word.startswith(self.folder + "/") and not Path(word).exists())

    def _do(self, job: Job, read: str | None) -> int:
        made = self.made.get(self.origin.get(read or "", read or ""))
        if made is None:
            return 1 if job.links and not self._agree(job) else start(job.words, job).returncode
        if made.failed:
            say(made.messages)
            return 1
        if made.text is None or (job.has("-E") and job.has(*SHOWS_MACROS)):
            more = made.more if read == made.source else []
            return start([*job.words, *more], job).returncode
        if read == made.source and made.messages.strip() != "[]":
            say(made.messages)
        return made.preprocess(job) if job.has("-E") else made.compile(job, read or "")

    def _agree(self, job: Job) -> bool:
        """Returns true if the objects of a link agree, as far as only a link can see."""
        files = [word for word in job.words if word.endswith(".o") and word != job.output and Path(word).is_file()]
        return check({file: self.origin.get(file, file) for file in files}, self._functions, self.command.warnings)

    def _functions(self, file: str) -> File | None:
        """Describes the functions of an object whose source has no notation."""
        made = self.made.get(self.origin.get(file, ""))
        return functions_of(made.preprocessed) if made is not None and made.preprocessed else None
