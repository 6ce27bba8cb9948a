"""What the tests of hirobacc share: running it in an empty folder, running what it made, and mapping its output back to
the user's lines. Environment: HIROBACC and HIROBARUN, the two commands; else those of build/dev. The Python must be of
the version that the build has found, as that of .venv is: hirobacc's parser is compiled for it."""

import contextlib
import dataclasses
import importlib
import io
import os
import pathlib
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import unittest
import zlib
from collections.abc import Iterable, Sequence
from typing import NoReturn, TypeVar

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HIROBACC = os.environ.get("HIROBACC", str(ROOT / "build/dev/bin/hirobacc"))
HIROBARUN = os.environ.get("HIROBARUN", str(ROOT / "build/dev/bin/hirobarun"))
JOBS = ((1, 1), (2, 2), (3, 2))  # ranks, nodes
Shape = TypeVar("Shape")
Case = TypeVar("Case")
ONCE = "TESTS_ONCE" in os.environ  # set by tests/sets/run.py, unless all tests are wanted
LINE_MARKER = re.compile(r'# (\d+) "([^"]*)"')


@dataclasses.dataclass
class Ended:
    """A command that is over."""

    returncode: int
    stdout: str
    stderr: str


def environment(more: dict[str, str] | None) -> dict[str, str]:
    """What a command under test gets: no option of the runtime but those in `more`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HIROBA_")}
    return kept | {"LC_ALL": "C"} | (more or {})


def execute(words: list[str], folder: pathlib.Path, limit: int = 300, env: dict[str, str] | None = None) -> Ended:
    """Runs a command to its end; what it prints may be in any encoding."""
    ended = subprocess.run(
        words,
        cwd=folder,
        env=environment(env),
        timeout=limit,
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    return Ended(ended.returncode, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace"))


def run_script(words: list[str]) -> int:
    """Runs the command hirobacc, which is a Python script, in this process. Returns its exit status."""
    sys.argv = [HIROBACC, *words]
    try:
        runpy.run_path(HIROBACC, run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # as the interpreter would, so that a test that looks for tracebacks finds it
        traceback.print_exc()
        return 1
    return 0


def become_hirobacc(words: list[str], folder: pathlib.Path, limit: float, env: dict[str, str] | None) -> NoReturn:
    """What `execute_hirobacc` does in the child, whose streams are those of the command."""
    signal.setitimer(signal.ITIMER_REAL, limit)  # ends the process
    os.chdir(folder)
    kept = environment(env)
    os.environ.clear()
    os.environ.update(kept)
    for stream in (sys.stdout, sys.stderr):
        assert isinstance(stream, io.TextIOWrapper)
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    status = run_script(words)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 255)


def execute_hirobacc(
    words: list[str], folder: pathlib.Path, limit: int = 300, env: dict[str, str] | None = None
) -> Ended:
    """`execute` of the command hirobacc, in a child that has its modules already: to import them takes most of the time
    of a small compilation, and the tests compile a thousand files. What runs is the script of the command."""
    if "hiroba.compiler.translation" not in sys.modules:
        with contextlib.redirect_stdout(io.StringIO()):
            run_script(["--help"])
        importlib.import_module("hiroba.compiler.translation")
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            nothing = os.open(os.devnull, os.O_RDONLY)
            for number, stream in enumerate((nothing, out.fileno(), err.fileno())):
                os.dup2(stream, number)
            become_hirobacc(words, folder, limit, env)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == -signal.SIGALRM:
            raise subprocess.TimeoutExpired([HIROBACC, *words], limit)
        out.seek(0)
        err.seek(0)
        return Ended(status, out.read().decode(errors="replace"), err.read().decode(errors="replace"))


def shapes(name: str, every: Sequence[Shape]) -> Sequence[Shape]:
    """In which shapes the program of this name is run: every one, or where once is enough one of them, not the same
    for all programs."""
    return (every[zlib.crc32(name.encode()) % len(every)],) if ONCE else every


def some(cases: Iterable[Case]) -> list[Case]:
    """Returns which of many cases of one kind are tried, names or files: all, or where once is enough a third of them,
    always the same."""
    names = {case: case.stem if isinstance(case, pathlib.Path) else str(case) for case in cases}
    return [case for case, name in names.items() if not ONCE or zlib.crc32(name.encode()) % 3 == 0]


def lines_of_user(shown: str, file: str) -> str:
    """Of preprocessed text, what came from one file, each line with its number; pieces of one line are joined. Blanks
    mean nothing: the preprocessor spreads lines with macros over several."""
    lines: dict[int, list[str]] = {}
    name, number = "", 0
    for line in shown.split("\n"):
        marker = LINE_MARKER.match(line)
        if marker is not None:
            number, name = int(marker[1]), marker[2]
            continue
        if name == file and line.strip():
            lines.setdefault(number, []).append(line)
        number += 1
    joined = ((at, re.sub(r"\s+", " ", " ".join(pieces)).strip()) for at, pieces in sorted(lines.items()))
    return "".join(f"{at:4d} {text}\n" for at, text in joined)


class CompilerTest(unittest.TestCase):
    """Each test has an empty folder, and no test may ever see a traceback of Python."""

    hirobacc = staticmethod(execute_hirobacc)

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="compiler-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def compile(self, *words: object, env: dict[str, str] | None = None, limit: int = 300) -> Ended:
        """hirobacc in the test's folder."""
        ended = self.hirobacc([*map(str, words)], self.folder, limit, env)
        self.assertNotIn("Traceback", ended.stderr)
        return ended

    def compiled(self, *words: object, env: dict[str, str] | None = None) -> Ended:
        """The same, and it must succeed without a word of warning."""
        ended = self.compile(*words, env=env)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), f"hirobacc {' '.join(map(str, words))}")
        return ended

    def launch(self, ranks: int, nodes: int, *words: object) -> Ended:
        settings = ["-n", str(ranks), "--nodes", str(nodes), "--threads", "1"]
        return execute([HIROBARUN, *settings, *map(str, words)], self.folder)

    def check_answer(self, program: pathlib.Path, answer: str = "OK\n", jobs: Sequence[tuple[int, int]] = JOBS) -> None:
        """At one rank, over two nodes, and with an odd number of ranks that share nodes unevenly."""
        for ranks, nodes in shapes(program.name, jobs):
            ended = self.launch(ranks, nodes, program)
            self.assertEqual(
                (ended.returncode, ended.stdout, ended.stderr), (0, answer, ""), f"{program.name}: {ranks} ranks"
            )

    def check_run(self, program: object, ranks: int, nodes: int) -> Ended:
        """Under option check; the exit status says whether there were mistakes."""
        ended = self.launch(ranks, nodes, "--check", program)
        mistakes = bool(re.search(r"check: race|\d mistakes? found", ended.stderr))
        self.assertEqual(ended.returncode, int(mistakes), ended.stderr)
        return ended
