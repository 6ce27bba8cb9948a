"""How ranks may end, what is said about it, and the exit status of the job."""

import re

from launching import PHASES, PYTHON, Ended, LauncherTest, main

STARTED = "start,all-started"


class WithoutTheLibrary(LauncherTest):
    def test_any_program_may_be_launched(self) -> None:
        result = self.launch("-n", 4, "hostname")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_the_status_of_a_rank_is_the_jobs(self) -> None:
        result = self.launch("-n", 3, "sh", "-c", "case $HIROBA_JOB in 1:*) exit 7;; esac; sleep 30")
        self.assertEqual(result.returncode, 7)
        self.assert_one_message(result, "rank 1 (pid ", ") exited with status 7", "ending the other 2 ranks")
        self.assertLess(result.seconds, 2)

    def test_a_wrapper_script_around_the_program(self) -> None:
        result = self.launch("-n", 3, "sh", "-c", f"{PHASES} '*:start,all-started,finish'; exit 0")
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Phases(LauncherTest):
    def phases(self, *words: str, ranks: int = 3) -> Ended:
        return self.launch("-n", ranks, PHASES, *words, limit=6)

    def test_all_is_well(self) -> None:
        for ranks in (1, 2, 5):
            result = self.phases(f"*:{STARTED},finish", ranks=ranks)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_exit_before_shutdown(self) -> None:
        result = self.phases(f"1:{STARTED},where=sms_barrier,exit=3", "*:start,sleep=30000")
        self.assertEqual(result.returncode, 3)
        self.assert_one_message(
            result,
            "rank 1 (pid ",
            "exited with status 3 before sms_shutdown while other ranks still need it",
            "sms_barrier",
            "ending the other 2 ranks",
        )

    def test_exit_0_before_shutdown_is_an_error(self) -> None:
        result = self.phases(f"2:{STARTED},exit=0", "*:start,sleep=30000")
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(
            result,
            "rank 2",
            "status 0 before sms_shutdown while other ranks still need it",
            "every rank must call sms_shutdown",
        )

    def test_the_only_rank_exits_before_shutdown(self) -> None:
        result = self.phases("*:start,exit=0", ranks=1)
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(result, "rank 0", "before sms_shutdown")
        self.assertNotIn("other", result.stderr)

    def test_exit_without_startup_while_others_wait(self) -> None:
        for late in ("start,sleep=30000", "sleep=400,start,sleep=30000"):
            result = self.phases("1:exit=0", f"*:{late}")
            self.assertEqual(result.returncode, 1)
            self.assert_one_message(result, "rank 1 (pid ", "without sms_startup, in which rank")
            self.assertLess(result.seconds, 3)

    def test_killed(self) -> None:
        result = self.phases(f"2:{STARTED},kill=9", "*:start,sleep=30000")
        self.assertEqual(result.returncode, 137)
        self.assert_one_message(
            result, "rank 2 (pid ", "was killed by signal 9 (Killed)", "free", "out-of-memory killer"
        )
        self.assertTrue(re.search(r"[\d.]+ [GM]iB of [\d.]+ [GM]iB memory", result.stderr), result.stderr)

    def test_crashed(self) -> None:
        blocked = "block them by pthread_sigmask"
        crashes = ((11, "Segmentation fault"), (7, "Bus error"), (6, "Aborted"), (8, "Floating point exception"))
        for signal, name in crashes:
            result = self.phases(f"0:{STARTED},where=sms_lock(3),kill={signal}", "*:start,sleep=30000")
            self.assertEqual(result.returncode, 128 + signal)
            self.assert_one_message(
                result, "rank 0 (pid ", f"was killed by signal {signal} ({name}", "waiting in sms_lock(3)"
            )
            self.assertEqual(blocked in result.stderr, signal in (7, 11))

    def test_a_reported_error_is_not_reported_again(self) -> None:
        for end, status in (("exit=5", 5), ("kill=6", 134)):
            result = self.phases(f"1:{STARTED},print=the reason,abort={status},{end}", "*:start,sleep=30000")
            self.assertEqual((result.returncode, result.stderr, result.stdout), (status, "", "the reason\n"))

    def test_a_rank_that_reports_and_hangs(self) -> None:
        result = self.phases(f"1:{STARTED},abort=1,sleep=30000", "*:start,sleep=30000")
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertLess(result.seconds, 5)

    def test_what_fails_because_of_the_end_is_not_reported(self) -> None:
        script = (
            "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(44))\n"
            "import os\nr = os.environ['HIROBA_JOB'][0]\ntime.sleep(0.2 if r == '1' else 30)\nsys.exit(9)"
        )
        result = self.launch("-n", 3, PYTHON, "-c", script)
        self.assertEqual(result.returncode, 9)
        self.assert_one_message(result, "rank 1")

    def test_bad_status_after_shutdown_lets_the_others_finish(self) -> None:
        result = self.phases("0:start,all-started,finish,exit=4", "*:start,all-started,finish,sleep=300,print=done")
        self.assertEqual((result.returncode, result.stdout), (4, "done\ndone\n"))
        self.assert_one_message(result, "rank 0", "exited with status 4 after sms_shutdown")

    def test_ranks_that_ignore_sigterm_are_killed(self) -> None:
        result = self.phases("0:start,sleep=200,exit=3", "*:ignore=15,start,sleep=30000")
        self.assertEqual(result.returncode, 3)
        self.assertGreater(result.seconds, 0.9)
        self.assertLess(result.seconds, 5)


class Leftovers(LauncherTest):
    def test_what_ranks_leave_running_is_killed_and_said(self) -> None:
        for daemon in ("sleep 100 &", "(setsid sleep 100 &);"):
            result = self.launch("-n", 2, "sh", "-c", f"{daemon} echo done")
            self.assertEqual((result.returncode, result.stdout), (0, "done\ndone\n"))
            self.assert_one_message(result, "left running", "2 processes", "sleep")
            self.assertLess(result.seconds, 3)

    def test_what_ends_by_itself_is_not_mentioned(self) -> None:
        result = self.launch("-n", 2, "sh", "-c", "sleep 0.02 & exit 0")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_children_of_a_failed_rank(self) -> None:
        result = self.launch("-n", 2, PHASES, f"0:{STARTED},child,exit=3", "*:start,child,sleep=30000")
        self.assertEqual(result.returncode, 3)
        self.assert_one_message(result, "rank 0")

    def test_a_leftover_that_writes_for_ever(self) -> None:
        result = self.launch("-n", 1, "sh", "-c", "yes & exit 0", limit=10)
        self.assertEqual(result.returncode, 0)
        self.assertIn("yes", result.stderr)


if __name__ == "__main__":
    main()
