"""What ranks write reaches us whole, complete, and without anyone waiting for ever."""

import fcntl
import os
import pathlib
import pty
import select
import subprocess
import termios
import time

from launching import HIROBARUN, PYTHON, LauncherTest, main


class Lines(LauncherTest):
    def test_lines_are_never_torn(self) -> None:
        # Each rank writes its lines in crumbs of other sizes than lines.
        program = (
            "import os, time\n"
            "me = os.environ['HIROBA_JOB'].split(':')[0]\n"
            "text = b''.join(b'%s:%d:%s\\n' % (me.encode(), i, me.encode() * (i % 300)) for i in range(3000))\n"
            "for at in range(0, len(text), 337):\n"
            "    os.write(1, text[at:at + 337])\n"
            "    if at // 337 % 10 == 0: time.sleep(0.001)\n"  # so that the others write in between
        )
        result = self.launch("-n", 4, PYTHON, "-c", program)
        self.assertEqual(result.returncode, 0)
        expected = {f"{r}:{i}:{str(r) * (i % 300)}" for r in range(4) for i in range(3000)}
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), len(expected))
        self.assertEqual(set(lines), expected)
        for r in range(4):  # in order, each
            mine = [line for line in lines if line.startswith(f"{r}:")]
            self.assertEqual([int(line.split(":")[1]) for line in mine], list(range(3000)))

    def test_tag(self) -> None:
        result = self.launch("-n", 3, "--tag", "sh", "-c", "echo out; echo; echo err >&2")
        self.assertEqual(
            sorted(result.stdout.splitlines()), sorted(f"[{r}] {t}" for r in range(3) for t in ("out", ""))
        )
        self.assertEqual(sorted(result.stderr.splitlines()), [f"[{r}] err" for r in range(3)])

    def test_last_line_without_end(self) -> None:
        self.assertEqual(self.launch("-n", 1, "printf", "abc").stdout, "abc")
        self.assertIn(self.launch("-n", 2, "--tag", "printf", "abc").stdout, ("[0] abc\n[1] abc", "[1] abc\n[0] abc"))

    def test_long_line_without_end(self) -> None:
        result = self.launch("-n", 2, PYTHON, "-c", "import os; print(os.environ['HIROBA_JOB'][0] * 300000, end='')")
        self.assertEqual(sorted(result.stdout.split("\n")), ["0" * 300000, "1" * 300000])

    def test_a_line_beyond_the_limit_passes_in_pieces_and_complete(self) -> None:
        size = 3 << 20
        result = self.launch("-n", 1, "head", "-c", size, "/dev/zero")
        self.assertEqual(result.stdout, "\0" * size)

    def test_all_output_of_a_rank_that_dies_comes_before_what_is_said_of_it(self) -> None:
        # So much that some of it is still in the rank's pipe when it dies, since we do not read.
        dying = "case $HIROBA_JOB in 1:*) seq 63000 >&2; echo last words >&2; kill -9 $$;; esac; sleep 30"
        process = self.start("-n", 2, "sh", "-c", dying)
        time.sleep(1)
        lines = self.pipes(process)[1].read().splitlines()
        self.assertEqual(lines[:-2], list(map(str, range(1, 63001))))
        self.assertEqual(lines[-2], "last words")
        self.assertIn("was killed by signal 9", lines[-1])
        self.assertEqual(process.wait(5), 137)


class Readers(LauncherTest):
    def test_a_slow_reader_stops_the_ranks_and_loses_nothing(self) -> None:
        process = self.start("-n", 2, "sh", "-c", "yes 0123456789 | head -n 3000000")
        time.sleep(0.7)
        statm = pathlib.Path(f"/proc/{process.pid}/statm").read_text()
        resident = int(statm.split()[1]) * os.sysconf("SC_PAGESIZE")
        self.assertLess(resident, 32 << 20)
        self.assertIsNone(process.poll())  # waits for us
        text = self.pipes(process)[0].read()
        self.assertEqual(process.wait(5), 0)
        self.assertTrue(text == "0123456789\n" * 6000000)

    def test_stderr_is_not_held_up_by_stdout(self) -> None:
        process = self.start("-n", 2, "sh", "-c", "(yes | head -c 3000000)& echo now >&2; wait")
        stdout, stderr = self.pipes(process)
        self.assertEqual(stderr.readline(), "now\n")  # while nobody reads stdout
        self.assertEqual(len(stdout.read()), 6000000)
        self.assertEqual(process.wait(5), 0)

    def test_ctrl_c_while_the_reader_sleeps(self) -> None:
        process = self.start("-n", 2, "yes")
        select.select([self.pipes(process)[0]], [], [], 5)
        process.send_signal(2)
        self.assertEqual(process.wait(5), 130)

    def test_a_reader_that_leaves_ends_the_job_quietly(self) -> None:
        for program in ("yes", "seq 100000", "trap '' PIPE; while :; do echo x || exit 1; done"):
            command = f'{HIROBARUN} -n 3 sh -c "{program}" | head -1'
            result = subprocess.run(
                ["sh", "-c", command], capture_output=True, text=True, timeout=60, env=self.environment
            )
            self.assertEqual(len(result.stdout), 2)
            self.assertEqual(result.stderr, "")

    def test_exit_status_when_the_reader_has_left(self) -> None:
        process = self.start("-n", 2, "yes")
        stdout, _ = self.pipes(process)
        stdout.readline()
        stdout.close()
        self.assertEqual(process.wait(5), 128 + 13)

    def test_a_full_disk_is_said(self) -> None:
        with pathlib.Path("/dev/full").open("w") as full:
            result = self.launch("-n", 2, "yes", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(result, "standard output", "No space left")
        with pathlib.Path("/dev/full").open("w") as full:
            result = self.launch("--help", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(result, "standard output", "No space left")
        with pathlib.Path("/dev/full").open("w") as full:
            result = self.launch("-n", 1, "true", stdout=full)
        self.assertEqual(result.returncode, 0)


class Terminal(LauncherTest):
    def read_until(self, fd: int, wanted: bytes, limit: float = 60) -> bytes:
        seen = b""
        deadline = time.monotonic() + limit
        while wanted not in seen and time.monotonic() < deadline:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    seen += os.read(fd, 4096)
                except OSError:  # the other side is closed
                    break
        self.assertIn(wanted, seen)
        return seen

    def start_on_terminal(self, *words: object) -> tuple[subprocess.Popen[str], int]:
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        process = self.start(
            *words,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        return process, ours

    def test_a_prompt_shows_before_its_line_ends(self) -> None:
        process, terminal = self.start_on_terminal("-n", 2, "sh", "-c", "printf 'size? '; read x; echo got $x")
        self.read_until(terminal, b"size? ")
        os.write(terminal, b"42\n")
        self.read_until(terminal, b"got 42")
        process.wait(5)

    def test_ctrl_c_at_the_terminal(self) -> None:
        process, terminal = self.start_on_terminal("-n", 2, "sh", "-c", "echo ready; exec sleep 100")
        self.read_until(terminal, b"ready")
        os.write(terminal, b"\x03")
        self.assertEqual(process.wait(2), 130)
        left = b""
        while select.select([terminal], [], [], 0.2)[0]:
            try:
                left += os.read(terminal, 4096)
            except OSError:
                break
        self.assertNotIn(b"hirobarun:", left)

    def test_ctrl_c_reaches_a_rank_once(self) -> None:
        count = (
            "import signal, time, os\nseen = []\nsignal.signal(2, lambda *_: seen.append(1))\n"
            "print('ready', flush=True)\nend = time.time() + 0.6\nwhile time.time() < end: time.sleep(0.05)\n"
            "print('interrupts', len(seen), flush=True)"
        )
        process, terminal = self.start_on_terminal("-n", 1, PYTHON, "-c", count)
        self.read_until(terminal, b"ready")
        os.write(terminal, b"\x03")
        self.assertIn(b"interrupts 1", self.read_until(terminal, b"interrupts 1"))
        self.assertEqual(process.wait(5), 130)


if __name__ == "__main__":
    main()
