"""What the tests of hirobacc share: running it in an empty folder, running what it made, and mapping its output back to
the user's lines. Environment: HIROBACC and HIROBARUN, the two commands; else those of build/dev."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Sequence

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HIROBACC = os.environ.get("HIROBACC", str(ROOT / "build/dev/bin/hirobacc"))
HIROBARUN = os.environ.get("HIROBARUN", str(ROOT / "build/dev/bin/hirobarun"))
JOBS = ((1, 1), (2, 2), (3, 2))  # ranks, nodes
LINE_MARKER = re.compile(r'# (\d+) "([^"]*)"')


@dataclasses.dataclass
class Ended:
    """A command that is over."""

    returncode: int
    stdout: str
    stderr: str


def execute(words: list[str], folder: pathlib.Path, limit: float = 60, env: dict[str, str] | None = None) -> Ended:
    """Runs a command to its end; what it prints may be in any encoding."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HIROBA_")}
    ended = subprocess.run(
        words,
        cwd=folder,
        env=kept | {"LC_ALL": "C"} | (env or {}),
        timeout=limit,
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    return Ended(ended.returncode, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace"))


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

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="compiler-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def compile(self, *words: object, env: dict[str, str] | None = None, limit: float = 60) -> Ended:
        """hirobacc in the test's folder."""
        ended = execute([HIROBACC, *map(str, words)], self.folder, limit, env)
        self.assertNotIn("Traceback", ended.stderr)
        return ended

    def compiled(self, *words: object, env: dict[str, str] | None = None) -> Ended:
        """The same, and it must succeed without a word of warning."""
        ended = self.compile(*words, env=env)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), f"hirobacc {' '.join(map(str, words))}")
        return ended

    def launch(self, ranks: int, nodes: int, *words: object) -> Ended:
        settings = ["-n", str(ranks), "--nodes", str(nodes), "--threads", "1"]
        return execute([HIROBARUN, *settings, *map(str, words)], self.folder, limit=20)

    def check_answer(self, program: pathlib.Path, answer: str = "OK\n", jobs: Sequence[tuple[int, int]] = JOBS) -> None:
        """At one rank, over two nodes, and with an odd number of ranks that share nodes unevenly."""
        for ranks, nodes in jobs:
            ended = self.launch(ranks, nodes, program)
            self.assertEqual(
                (ended.returncode, ended.stdout, ended.stderr), (0, answer, ""), f"{program.name}: {ranks} ranks"
            )
