"""The two programs that stand beside mpirun: reach, called in the place of ssh, and guard, on each host."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from launching import LauncherTest, main, marked_processes

REACH = os.environ["REACH"]
GUARD = os.environ["GUARD"]
# With agent `sh -c` in the place of ssh: a host that does with the words behind it what ssh's shell does.
HERE = 'eval "$0 $*"'


class Agents(LauncherTest):
    def run_in_background(self, *words: str, **variables: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            words,
            env={**self.environment, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def ends(self, process: "subprocess.Popen[str]", least: float, most: float) -> str:
        """Returns what it has said on both."""
        begun = time.monotonic()
        process.wait(most)
        self.assertGreaterEqual(time.monotonic() - begun, least)
        assert process.stdout is not None and process.stderr is not None
        return process.stdout.read() + process.stderr.read()

    def say(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


class Guard(Agents):
    def guard(self, seconds: str, script: str) -> "subprocess.Popen[str]":
        return self.run_in_background(GUARD, "--heard", seconds, script)

    def test_it_ends_as_the_command_does(self) -> None:
        for script, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("exec no-such-program", 127)):
            self.assertEqual(self.guard("8", script).wait(5), status)

    def test_it_ends_the_command_when_nobody_speaks_any_more(self) -> None:
        process = self.guard("1", "echo begun; exec sleep 60")
        self.say(process)
        time.sleep(0.6)
        self.say(process)
        said = self.ends(process, 0.9, 3)
        self.assertEqual(process.returncode, 137)
        self.assertRegex(said, r"^begun\nhirobarun: host \S+ has received nothing from its launcher for 1 s")

    def test_nobody_is_missed_who_has_never_spoken(self) -> None:
        self.assertEqual(self.ends(self.guard("0.2", "sleep 1"), 0.9, 3), "")

    def test_nobody_is_missed_who_has_closed_the_connection(self) -> None:
        process = self.guard("0.2", "sleep 1")
        self.say(process)
        said = process.communicate(timeout=3)  # closes it
        self.assertEqual((said, process.returncode), (("", ""), 0))

    def test_the_command_reads_none_of_it(self) -> None:
        process = self.guard("8", "cat; echo end")
        self.say(process)
        self.assertEqual(self.ends(process, 0, 3), "end\n")

    def test_it_passes_requests_to_end_on_to_the_ranks(self) -> None:
        """Those below Open MPI's daemon, and no other process."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        rank = folder / "rank"
        rank.write_text(
            "import os, signal, time\n"
            "signal.signal(15, lambda *_: (os.write(1, b'asked\\n'), os._exit(0)))\n"
            "os.write(1, b'ready\\n')\n"
            "while True: time.sleep(0.02)\n"
        )
        (folder / "orted").symlink_to("/bin/sh")
        process = self.guard("8", f"{folder}/orted -c '{sys.executable} {rank}; echo end'; echo left")
        self.wait_for_line(process, "ready")
        assert process.stdin is not None
        process.stdin.write(chr(signal.SIGTERM))
        process.stdin.flush()
        self.assertEqual((self.ends(process, 0, 3), process.returncode), ("asked\nend\nleft\n", 0))

    def test_a_rank_ends_with_hydras_part_of_its_host(self) -> None:
        hydra = self.run_in_background("sh", "-c", f"{GUARD} sleep 60; true", PMI_FD="2")
        time.sleep(0.3)
        hydra.kill()  # tearDown sees whether the rank is left


class Reach(Agents):
    def reach(self, script: str, silence: str) -> "subprocess.Popen[str]":
        variables = {"REACH_AGENT": "sh -c", "REACH_GUARD": GUARD, "REACH_SILENCE": silence}
        return self.run_in_background(REACH, HERE, script, **variables)

    def test_it_speaks_to_the_guard_of_its_host(self) -> None:
        said = self.ends(self.reach("sh -c 'sleep 4; echo end; exit 7'", "3"), 3.5, 6)
        self.assertEqual((said, self.started[0].returncode), ("end\n", 7))

    def test_names_of_folders_are_no_commands(self) -> None:
        """The program's path and that of guard go through a shell of the other host."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        commands = ("'; touch hit; '", "$(touch hit)", "`touch hit`", 'say "x"; touch hit')
        for name in ("it's", "a  b", "a\nb", "*", *commands):
            with self.subTest(name):
                place = folder / name
                place.mkdir()
                for program, origin in (("guard", GUARD), ("program", "/bin/true")):
                    (place / program).symlink_to(origin)
                variables = {"REACH_AGENT": "sh -c", "REACH_SILENCE": "3", "REACH_GUARD": str(place / "guard")}
                words = (REACH, f"cd '{folder}'; {HERE}", "echo said; exit 7")
                process = self.run_in_background(*words, REACH_PROGRAM=str(place / "program"), **variables)
                self.assertEqual((self.ends(process, 0, 5), process.returncode), ("said\n", 7))
                self.assertFalse((folder / "hit").exists())

    def test_it_is_missed(self) -> None:
        process = self.reach("sleep 60", "1.5")
        time.sleep(0.5)
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)
        self.assertEqual([pid for pid in marked_processes(self.mark.encode()) if pid != process.pid], [])
        process.send_signal(signal.SIGCONT)
        self.assertRegex(self.ends(process, 0, 3), "has received nothing from its launcher for 1.5 s")

    def test_with_silence_0_it_is_not_missed(self) -> None:
        process = self.reach("sh -c 'cat; sleep 1; echo end'", "0")
        self.assertEqual(process.communicate(timeout=3), ("end\n", ""))


if __name__ == "__main__":
    main(at_once=4)
