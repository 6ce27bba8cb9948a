"""Signals to the launcher, polite and not."""

import fcntl
import os
import pathlib
import shutil
import signal
import termios
import time

from launching import PHASES, PYTHON, LauncherTest, main, marked_processes


class Stopping(LauncherTest):
    def stop(self, program: list[str], *signals: int, gap: float = 0.3, grace: float = 30) -> tuple[int, float, str]:
        """Starts two ranks, sends the signals, returns exit status, seconds from the first signal, stderr."""
        process = self.start("-n", 2, "--grace", grace, *program)
        self.wait_for_line(process, "ready")
        self.wait_for_line(process, "ready")
        begun = time.monotonic()
        for i, number in enumerate(signals):
            time.sleep(gap if i > 0 else 0)  # equal signals that come together are one
            process.send_signal(number)
        _, stderr = process.communicate(timeout=8)
        return process.returncode, time.monotonic() - begun, stderr

    def test_a_signal_ends_all_ranks(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            status, seconds, stderr = self.stop(["sh", "-c", "echo ready; exec sleep 100"], number)
            self.assertEqual((status, stderr), (128 + number, ""))
            self.assertLess(seconds, 1)

    def test_ctrl_c_tells_where_every_rank_is(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            steps = ["0:start,print=ready,sleep=9000", "*:start,where=sms_barrier,all-started,print=ready,sleep=9000"]
            process = self.start("-n", 3, PHASES, *steps)
            for _ in range(3):
                self.wait_for_line(process, "ready")
            process.send_signal(number)
            _, stderr = process.communicate(timeout=8)
            self.assertEqual(process.returncode, 128 + number)
            place = "rank 0 computes before its first collective call; ranks 1, 2 wait in sms_barrier"
            self.assertRegex(stderr, rf"hirobarun: ended by signal {number} \(.*\): {place}\n")

    def test_a_job_that_stands_still_is_told_of_twice(self) -> None:
        steps = ["0:start,print=half,sleep=4500", "*:start,where=sms_barrier,all-started,sleep=4500"]
        ended = self.launch("-n", 2, "--still", "0.4", PHASES, *steps)
        told = [line for line in ended.stderr.splitlines() if "no rank has advanced for" in line]
        self.assertEqual(len(told), 2, ended.stderr)
        self.assertIn("rank 0 computes before its first collective call; rank 1 waits in sms_barrier", told[0])
        self.assertIn("--timeout SECONDS", told[0])
        self.assertEqual(self.launch("-n", 2, "--still", "0", PHASES, *steps).stderr.count("has advanced"), 0)

    def test_a_job_that_only_computes_is_not_told_of(self) -> None:
        ended = self.launch("-n", 2, "--still", "0.3", PHASES, "*:start,all-started,sleep=1000,finish")
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_a_program_may_catch_it_and_save_its_state(self) -> None:
        saving = (
            "import os, signal, sys, time\n"
            "def save(*_): time.sleep(0.5); os.write(1, b'saved\\n'); sys.exit(0)\n"
            "signal.signal(2, save)\n"
            "print('ready', flush=True)\n"
            "time.sleep(100)\n"
        )
        process = self.start("-n", 2, PYTHON, "-c", saving)
        self.wait_for_line(process, "ready")
        self.wait_for_line(process, "ready")
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=5)
        self.assertEqual((process.returncode, stdout, stderr), (130, "saved\nsaved\n", ""))

    STUBBORN = ["sh", "-c", "trap '' INT TERM; echo ready; while :; do sleep 0.1; done"]

    def test_ranks_that_do_not_listen_are_killed(self) -> None:
        status, seconds, stderr = self.stop(self.STUBBORN, signal.SIGINT, grace=0.4)
        self.assertEqual(status, 130)
        self.assertRegex(stderr, r"killing rank 0 \(pid .*, still running 0\.4 s after signal 2")
        self.assertLess(seconds, 5)

    def test_ranks_have_the_time_of_option_grace(self) -> None:
        """Longer than the three seconds after which a line says what the job waits for."""
        saving = ["sh", "-c", "trap 'sleep 3.4; echo saved; exit 0' TERM; echo ready; while :; do sleep 0.1; done"]
        status, seconds, stderr = self.stop(saving, signal.SIGTERM)
        self.assertEqual(status, 143)
        self.assertRegex(
            stderr,
            r"hirobarun: still running 3 s after signal 15 .*: rank 0 .*, 1 .*; killed in 27 s \(option grace\)",
        )
        self.assertEqual(stderr.count("hirobarun:"), 1, stderr)
        self.assertGreater(seconds, 3.3)

    def test_the_second_signal_kills_at_once(self) -> None:
        status, seconds, stderr = self.stop(self.STUBBORN, signal.SIGINT, signal.SIGINT)
        self.assertEqual((status, stderr), (130, ""))
        self.assertLess(seconds, 2.5)

    def test_stopped_ranks_end_too(self) -> None:
        process = self.start("-n", 2, "sh", "-c", "echo ready $$; exec sleep 100")
        for _ in range(2):
            os.kill(int(self.wait_for_line(process, "ready").split()[1]), signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(5), 143)

    def test_nohup(self) -> None:
        process = self.start(
            "-n",
            2,
            "sh",
            "-c",
            "echo ready; sleep 0.5; echo done",
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        )
        self.wait_for_line(process, "ready")
        process.send_signal(signal.SIGHUP)
        stdout, _ = process.communicate(timeout=5)
        self.assertEqual((process.returncode, stdout.count("done")), (0, 2))

    def test_background_of_a_script(self) -> None:
        process = self.start(
            "-n",
            1,
            "sh",
            "-c",
            "echo ready; exec sleep 100",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
        self.wait_for_line(process, "ready")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(2), 130)


# Counts SIGINT and SIGTERM, and ends half a second after the first, as a program that writes a checkpoint does.
COUNTING = """
import os, signal, sys, time
count = 0
def note(number, frame):
    global count
    count += 1
signal.signal(2, note), signal.signal(15, note)
reads = len(sys.argv) > 1 and os.environ["HIROBA_JOB"].startswith("0:")
print("ready", input() if reads else "", flush=True)
while count == 0: time.sleep(0.01)
time.sleep(0.5)
print("signals", count, flush=True)
"""


class Groups(LauncherTest):
    """A rank gets one signal, whether the launcher, its process group or both are sent it."""

    def count(self, number: int, to_launcher: bool, to_group: bool) -> None:
        process = self.start("-n", 2, PYTHON, "-c", COUNTING, process_group=0)
        for _ in range(2):
            self.wait_for_line(process, "ready")
        if to_launcher:
            process.send_signal(number)
        if to_group:
            os.killpg(process.pid, number)
        stdout, stderr = process.communicate(timeout=5)
        self.assertEqual((process.returncode, stdout, stderr), (128 + number, "signals 1\n" * 2, ""))

    def test_timeout_signals_its_command_and_its_group(self) -> None:
        self.count(signal.SIGINT, True, True)
        self.count(signal.SIGTERM, True, True)

    def test_the_group_alone(self) -> None:
        self.count(signal.SIGTERM, False, True)

    def test_keys_of_a_terminal(self) -> None:
        """Rank 0 reads from it; Ctrl-C reaches each rank once."""
        ours, theirs = os.openpty()

        def take_terminal() -> None:
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        process = self.start("-n", 2, PYTHON, "-c", COUNTING, "read", stdin=theirs, preexec_fn=take_terminal)
        os.write(ours, b"words\n")
        lines = [self.wait_for_line(process, "ready") for _ in range(2)]
        self.assertIn("ready words\n", lines)
        os.write(ours, b"\x03")
        stdout, stderr = process.communicate(timeout=5)
        self.assertEqual((process.returncode, stdout, stderr), (130, "signals 1\n" * 2, ""))
        os.close(ours)
        os.close(theirs)


class PassingOn(LauncherTest):
    NAMES = ("USR1", "USR2", "ALRM", "XCPU", "WINCH")

    def test_ranks_get_what_is_no_wish_to_end(self) -> None:
        traps = "; ".join(f"trap 'echo got {name}; exit 0' {name}" for name in self.NAMES)
        for name in self.NAMES:
            process = self.start("-n", 2, "sh", "-c", f"{traps}; echo ready; while :; do sleep 0.02; done")
            for _ in range(2):
                self.wait_for_line(process, "ready")
            process.send_signal(signal.Signals[f"SIG{name}"])
            stdout, stderr = process.communicate(timeout=5)
            self.assertEqual((process.returncode, stdout, stderr), (0, f"got {name}\n" * 2, ""))

    def test_ranks_of_mpirun_get_it_too(self) -> None:
        """MPICH's would end by SIGUSR2."""
        if os.geteuid() == 0:
            self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        handling = (
            "import os, signal\nsignal.signal(12, lambda *_: os._exit(0))\nos.write(1, b'ready\\n')\nsignal.pause()"
        )
        for mpi in ("openmpi", "mpich"):
            if shutil.which(f"mpirun.{mpi}") is None:
                continue
            process = self.start("-n", 2, "--transport", "mpi", "--mpi", mpi, PYTHON, "-c", handling)
            for _ in range(2):
                self.wait_for_line(process, "ready")
            process.send_signal(signal.SIGUSR2)
            _, stderr = process.communicate(timeout=10)
            self.assertEqual((process.returncode, stderr), (0, ""))

    def test_a_rank_that_does_not_handle_it_ends_by_it(self) -> None:
        process = self.start("-n", 2, "sh", "-c", "echo ready; exec sleep 100")
        for _ in range(2):
            self.wait_for_line(process, "ready")
        process.send_signal(signal.SIGUSR1)
        _, stderr = process.communicate(timeout=5)
        self.assertEqual(process.returncode, 138)
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.assertRegex(stderr, r"rank [01] .* was killed by signal 10 .*, which hirobarun was sent and has passed on")

    def test_quit(self) -> None:
        process = self.start("-n", 2, "sh", "-c", "echo ready; exec sleep 100")
        for _ in range(2):
            self.wait_for_line(process, "ready")
        process.send_signal(signal.SIGQUIT)
        self.assertEqual(process.wait(5), 131)

    def test_ctrl_z_and_fg(self) -> None:
        program = "import os, time; print('ready', os.getpid(), flush=True); time.sleep(0.5); print('done')"
        process = self.start("-n", 1, PYTHON, "-c", program)
        ranks = [int(self.wait_for_line(process, "ready").split()[1]), process.pid]
        process.send_signal(signal.SIGTSTP)
        self.wait_for_state(ranks, "T")
        process.send_signal(signal.SIGCONT)
        stdout, stderr = process.communicate(timeout=5)
        self.assertEqual((process.returncode, stdout, stderr), (0, "done\n", ""))

    def wait_for_state(self, pids: list[int], state: str) -> None:
        deadline = time.monotonic() + 3
        while any(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != state for pid in pids):
            self.assertLess(time.monotonic(), deadline, "not stopped")
            time.sleep(0.01)


class KilledLauncher(LauncherTest):
    def test_kill_9_of_the_launcher_leaves_nothing(self) -> None:
        process = self.start("-n", 4, "sh", "-c", "trap '' TERM INT HUP; echo ready; while :; do :; done")
        for _ in range(4):
            self.wait_for_line(process, "ready")
        self.assertEqual(len(marked_processes(self.mark.encode())), 5)
        process.kill()
        process.wait(5)
        deadline = time.monotonic() + 2
        while marked_processes(self.mark.encode()) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(marked_processes(self.mark.encode()), [])

    def test_kill_9_while_it_starts_ranks(self) -> None:
        for delay in (0.002, 0.005, 0.01, 0.02, 0.03):
            process = self.start("-n", 16, "sleep", 100)
            time.sleep(delay)
            process.kill()
            process.wait(5)
        # tearDown sees whether a rank has missed it


if __name__ == "__main__":
    main(at_once=4)
