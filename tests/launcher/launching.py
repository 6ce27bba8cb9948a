"""What the launcher's tests share: running hirobarun with a time limit in an empty folder, and seeing that it leaves
nothing behind. Every process of a test carries a mark in its environment, by which it is found again."""

import concurrent.futures
import dataclasses
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from typing import IO, Any, NoReturn

HIROBARUN = os.environ["HIROBARUN"]
HIROBA = os.environ["HIROBA_INFO"]
PHASES = os.environ["PHASES"]
PYTHON = sys.executable


@dataclasses.dataclass
class Ended:
    """A run of hirobarun that is over."""

    returncode: int
    stdout: str
    stderr: str
    seconds: float


def marked_processes(mark: bytes) -> list[int]:
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass  # it has just ended
    return found


@functools.cache
def cores() -> int:
    """The number of cores that `hiroba info` sees, which other tests check against."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HIROBA")}
    shown = subprocess.run([HIROBA, "info"], capture_output=True, text=True, timeout=60, check=True, env=environment)
    found = re.search(r"^  cores +(\d+),", shown.stdout, re.MULTILINE)
    assert found is not None, shown.stdout
    return int(found.group(1))


class LauncherTest(unittest.TestCase):
    def setUp(self) -> None:
        self.mark = f"LAUNCHER_TEST_MARK={uuid.uuid4()}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="launcher-test-"))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HIROBA", "OMP_", "HWLOC_"))}
        self.environment = {**kept, **dict([self.mark.split("=")])}
        self.started: list[subprocess.Popen[str]] = []

    def tearDown(self) -> None:
        deadline = time.monotonic() + 2  # a killed process takes a moment
        while (left := marked_processes(self.mark.encode())) and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        for process in self.started:
            process.kill()
            process.communicate()
        files = list(self.folder.iterdir())
        shutil.rmtree(self.folder)
        self.assertEqual(left, [], "processes left")
        self.assertEqual(files, [], "files left")
        self.assertEqual(list(pathlib.Path("/dev/shm").glob("*hiroba*")), [], "shared memory files left")

    def start(self, *words: object, **keywords: Any) -> subprocess.Popen[str]:
        """hirobarun in the background; its output goes to pipes unless said otherwise."""
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | keywords
        command = [HIROBARUN, *map(str, words)]
        process = subprocess.Popen(command, text=True, cwd=self.folder, env=self.environment, **settings)
        self.started.append(process)
        return process

    def launch(
        self, *words: object, limit: float = 60, env: dict[str, str] | None = None, input: str = "", **keywords: Any
    ) -> Ended:
        """Runs hirobarun to its end, which must come within `limit` seconds."""
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | keywords
        command = [HIROBARUN, *map(str, words)]
        begun = time.monotonic()
        ended = subprocess.run(
            command,
            text=True,
            cwd=self.folder,
            timeout=limit,
            env=self.environment | (env or {}),
            input=input,
            check=False,
            **settings,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr, time.monotonic() - begun)

    def assert_one_message(self, result: Ended, *parts: str) -> None:
        """Exactly one line of the launcher's, which holds all the parts, and nothing else on stderr."""
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("hirobarun: "), result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def wait_for_line(self, process: subprocess.Popen[str], text: str) -> str:
        """Reads the process's stdout until a line with this text."""
        for line in self.pipes(process)[0]:
            if text in line:
                return line
        return self.never_printed(process, text)

    def pipes(self, process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
        assert process.stdout is not None and process.stderr is not None
        return process.stdout, process.stderr

    def never_printed(self, process: subprocess.Popen[str], text: str) -> NoReturn:
        self.fail(f"'{text}' was never printed; stderr: {self.pipes(process)[1].read()}")


def main(at_once: int = 1) -> None:
    """Runs the tests of a file, several at once where they wait more than they compute."""
    if at_once == 1 or len(sys.argv) > 1:
        unittest.main(verbosity=1)
    loaded = unittest.defaultTestLoader.loadTestsFromName("__main__")
    tests = [test for cases in loaded if isinstance(cases, unittest.TestSuite) for test in cases]
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        results = [result for result in pool.map(lambda test: test.run(), tests) if result is not None]
    wrong = [f"{test.id()}\n{text}" for result in results for test, text in (*result.errors, *result.failures)]
    print("\n".join([*wrong, f"{len(tests)} tests, {len(wrong)} wrong"]))
    sys.exit(1 if wrong or len(results) < len(tests) else 0)
