"""Who may use a job, or a program with more rights than its user: set-uid programs, jobs of other users."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from launching import HIROBA, HIROBARUN, PHASES, PYTHON, LauncherTest, main

PROGRAM = os.environ["PROGRAM"]  # that starts Hiroba
NOBODY = 65534
SETUID, SETGID = 0o4755, 0o2755


def become_nobody() -> None:
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class MoreRights(LauncherTest):
    def copy(self, program: str, mode: int) -> pathlib.Path:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        out = folder / pathlib.Path(program).name
        shutil.copy(program, out)
        out.chmod(mode)
        return out

    def run_as_nobody(self, program: pathlib.Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        if os.geteuid() != 0:
            self.skipTest("only root can run a program as another user")
        return subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=60, check=False, cwd="/",
            env={**self.environment, **variables}, preexec_fn=become_nobody,
        )  # fmt: skip

    def test_a_start_is_refused(self) -> None:
        hits = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        hits.chmod(0o777)
        settings = {"HIROBA_REPORT": f"{hits}/a.html", "HIROBA_PLUGINS": str(hits), "HIROBA_TRANSPORT": "ucx"}
        for mode in (SETUID, SETGID):
            for program, begin in ((PROGRAM, "hiroba: "), (HIROBARUN, "hirobarun: ")):
                for variables in ({}, settings, {"HIROBA_JOB": "0:1:1:1:0:0"}):
                    with self.subTest(mode=oct(mode), program=program, variables=variables):
                        words = ["-n", "1", "true"] if program == HIROBARUN else []
                        done = self.run_as_nobody(self.copy(program, mode), *words, **variables)
                        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                        self.assertRegex(done.stderr, rf"^{begin}[^\n]*more rights than the user[^\n]*\n$")
        self.assertEqual(list(hits.iterdir()), [])

    def test_without_them_it_starts(self) -> None:
        done = self.run_as_nobody(self.copy(PROGRAM, 0o755), "--seed", "1")
        self.assertNotIn("more rights", done.stderr)


class OtherUsers(LauncherTest):
    def test_a_job_is_shown_to_its_user_alone(self) -> None:
        """Root, too, looks at jobs of root only."""
        if os.geteuid() != 0:
            self.skipTest("only root can start a job of another user")
        job = subprocess.Popen([HIROBARUN, "-n", "2", PHASES, "*:start,sleep=5000,finish"], env=self.environment,
                               cwd="/", preexec_fn=become_nobody, stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.started.append(job)
        time.sleep(0.5)
        for words in (("top", str(job.pid), "--pictures", "1"), ("info", "--memory", str(job.pid))):
            done = subprocess.run([HIROBA, *words], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"^hiroba: [^\n]*of another user[^\n]*\n$")
        mine = subprocess.run([HIROBA, "top", str(job.pid), "--pictures", "1", "--every", "0.1"], cwd="/", check=False,
                              capture_output=True, text=True, timeout=60, preexec_fn=become_nobody)  # fmt: skip
        self.assertIn("2 ranks on 1 node", mine.stdout, mine.stderr)
        job.terminate()
        job.wait(10)

    def test_a_child_of_a_rank_has_none_of_its_memory(self) -> None:
        """The program that hirobarun starts has it, until it starts Hiroba."""
        script = (
            "import ctypes, os, subprocess, sys; "
            f"library = ctypes.CDLL({str(pathlib.Path(HIROBARUN).parents[1] / 'lib/libhiroba.so')!r}); "
            "library.sms_startup(None, None); "
            "subprocess.run(['ls', '-l', '/proc/self/fd'], close_fds=False); "
            "library.sms_shutdown()"
        )
        done = self.launch("-n", 1, PYTHON, "-c", script)
        self.assertIn("/proc/", done.stdout, done.stderr)
        self.assertNotIn("memfd", done.stdout)


if __name__ == "__main__":
    main(at_once=4)
