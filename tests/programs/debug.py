"""hirobarun --debug: gdb opens on the ranks that were named, or on the one that goes wrong, shows the program's line,
and lets the job go on. Each test has a tmux server of its own. Usage: debug.py HIROBARUN PROGRAM, which is debugged.c
compiled, or words that execute debugged.py."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HIROBARUN, *PROGRAM = sys.argv[1:]
LIMIT = 200
IS_PYTHON = PROGRAM[-1].endswith(".py")  # for which gdb reads symbols for some seconds
SHAPES = ((1, 1), (2, 1), (3, 3))[2 if "TESTS_ONCE" in os.environ or IS_PYTHON else 0 :]
TMUX = shutil.which("tmux") or "tmux"


class Panes(unittest.TestCase):
    """What looks at gdb in panes of tmux."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="hiroba-debug-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("HIROBA_", "TMUX", "DISPLAY"))
        }
        self.environment = {**kept, "TMUX_TMPDIR": self.folder, "TERM": "xterm"}
        self.addCleanup(self.tmux, "kill-server")

    def tmux(self, *words: str) -> str:
        done = subprocess.run([TMUX, *words], env=self.environment, capture_output=True, text=True, timeout=60)
        return done.stdout

    def start(self, ranks: int, nodes: int, debug: list[str], how: list[str]) -> subprocess.Popen[str]:
        words = [HIROBARUN, "-n", str(ranks), "--nodes", str(nodes), "--debug", *debug, *PROGRAM, *how]
        job = subprocess.Popen(
            words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder
        )
        self.addCleanup(job.communicate)
        self.addCleanup(self.tmux, "kill-server")  # a rank that gdb holds does not die
        self.addCleanup(job.kill)
        return job

    def panes(self, count: int) -> list[str]:
        """The panes in which gdb stands at its prompt."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            panes = self.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
            if len(panes) == count and all(map(self.is_at_prompt, panes)):
                return panes
            time.sleep(0.2)
        raise AssertionError(f"{count} panes with gdb have not come:\n" + "\n".join(map(self.text_of, panes)))

    def is_at_prompt(self, pane: str) -> bool:
        return re.search(r"^\(gdb\)( |$)", self.text_of(pane)[-80:], re.MULTILINE) is not None

    def text_of(self, pane: str) -> str:
        return self.tmux("capture-pane", "-p", "-J", "-S", "-200", "-t", pane).rstrip()

    def say(self, pane: str, words: str) -> None:
        self.tmux("send-keys", "-t", pane, words, "Enter")

    def end(self, job: subprocess.Popen[str]) -> tuple[int, str, str]:
        output, errors = job.communicate(timeout=LIMIT)
        return job.returncode, output, errors

    def check_crash(self, how: str, status: int, *said: str, shown: str = r"go_wrong \(.*debugged\.c:\d+") -> None:
        for ranks, nodes in SHAPES:
            with self.subTest(how=how, ranks=ranks, nodes=nodes):
                job = self.start(ranks, nodes, ["crash"], [how])
                (pane,) = self.panes(1)
                self.assertRegex(self.text_of(pane), shown)
                self.say(pane, "detach")
                ended, _, errors = self.end(job)
                self.assertEqual(ended, status, errors)
                for words in ("tmux attach -t hiroba", *said):
                    self.assertRegex(errors, rf"rank {ranks - 1}: (.*\n)*.*{words}")
                self.tmux("kill-server")


class Debug(Panes):
    """debugged.c"""

    def test_an_index_past_the_end(self) -> None:
        self.check_crash("past", 139, "index 5000")

    def test_a_null_pointer(self) -> None:
        self.check_crash("null", 139, "segmentation fault at address")

    def test_abort(self) -> None:
        self.check_crash("abort", 134, r"signal 6 \(ABRT\)")

    def test_a_message(self) -> None:
        self.check_crash("message", 1, "preload of 1 MiB")

    def check_start(self, ranks: int, nodes: int, debug: list[str], count: int) -> None:
        job = self.start(ranks, nodes, debug, [])
        for pane in self.panes(count):
            self.assertRegex(self.text_of(pane), r"sms_startup.*\n(.*\n)*.*main \(")
            self.say(pane, "continue")
        self.assertEqual(self.end(job)[:2], (0, "done\n"))

    def test_all_at_the_start(self) -> None:
        self.check_start(3, 3, [], 3)

    def test_some_at_the_start(self) -> None:
        self.check_start(4, 2, ["0,2-3"], 3)

    def test_a_crash_under_a_debugger(self) -> None:
        """A rank that has one stops there, too."""
        job = self.start(2, 2, ["1"], ["past"])
        (pane,) = self.panes(1)
        self.say(pane, "continue")
        end = time.monotonic() + LIMIT
        while "SIGTRAP" not in self.text_of(pane) and time.monotonic() < end:
            time.sleep(0.2)
        self.assertIn("SIGTRAP", self.text_of(pane))
        self.say(pane, "detach")
        self.assertEqual(self.end(job)[0], 139)

    def test_without_a_window(self) -> None:
        """The line says what to type."""
        empty = pathlib.Path(self.folder, "empty")
        empty.mkdir()
        self.environment = {**self.environment, "PATH": str(empty)}
        job = self.start(2, 2, ["crash"], ["past"])
        assert job.stderr is not None
        line = job.stderr.readline()
        found = re.search(r"index 5000.* on \S+: (gdb -q .*); from another machine: gdb .* ssh .*gdbserver", line)
        self.assertIsNotNone(found, line)
        assert found is not None
        gdb = subprocess.run([*shlex.split(found[1]), "-batch"], capture_output=True, text=True, timeout=LIMIT)
        self.assertIn("go_wrong", gdb.stdout)
        self.assertEqual(job.wait(LIMIT), 139)

    def test_a_rank_that_is_not_there(self) -> None:
        status, _, errors = self.end(self.start(2, 1, ["1-2"], []))
        self.assertNotEqual(status, 0)
        self.assertIn("option debug: '1-2' is not all, crash, or some of the ranks 0 to 1", errors)


class DebugPython(Panes):
    """debugged.py: lines of Python, in the messages and after gdb's stack, which is that of the interpreter."""

    def test_crashes(self) -> None:
        line = r"in debugged\.py:\d+ \(go_wrong\)"
        lines = r'File ".*debugged\.py", line \d+ in go_wrong\n *File ".*debugged\.py", line \d+ in <module>'
        self.check_crash("past", 139, f"index 5000.*, {line}; gdb", shown=lines)
        self.check_crash("null", 139, f"segmentation fault, {line}; gdb", shown=lines)
        self.check_crash("abort", 134, rf"signal 6 \(ABRT\), {line}; gdb", shown=lines)

    def test_messages(self) -> None:
        """They name the line themselves. That of an exception has been left when the message comes."""
        self.check_crash("message", 1, r"debugged\.py:\d+: sms_unlock\(3\)", shown='File ".*debugged.py", line')
        self.check_crash("exception", 1, r"debugged\.py:\d+: IndexError: index 5000 ", shown="hiroba_fail")

    def test_at_the_start_and_later(self) -> None:
        job = self.start(2, 2, ["1"], [])
        (pane,) = self.panes(1)
        self.assertRegex(self.text_of(pane), r'sms_startup(.*\n)*.*File ".*debugged\.py", line \d+ in <module>')
        self.tmux("send-keys", "-t", pane, "-R", ";", "clear-history", "-t", pane)
        self.say(pane, "python-lines")
        self.assertRegex(self.text_of(*self.panes(1)), r'File ".*debugged\.py", line \d+ in <module>')
        self.say(pane, "continue")
        status, output, errors = self.end(job)
        self.assertEqual((status, output), (0, "done\n"), errors)
        self.assertRegex(errors, r"rank 1: this rank waits for a debugger, in debugged\.py:\d+ \(<module>\); gdb")


def gdb_calls_functions() -> bool:
    """Lines of Python are asked from the process itself. GDB 13 cannot call functions on processors with AMX."""
    words = ["gdb", "-batch", "-ex", "break exit", "-ex", "run", "-ex", "print 5000 + (int)abs(-7)", "/bin/true"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    return "5007" in done.stdout


if __name__ == "__main__":
    if IS_PYTHON and not gdb_calls_functions():
        print("this gdb cannot call functions of a process on this processor")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]], defaultTest="DebugPython" if IS_PYTHON else "Debug")
