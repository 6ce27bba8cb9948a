"""How jobs in Python end: one message, that of the first rank that fails, with its line; a status; in a short time."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(__file__).with_name("endings.py")
bin_folder = pathlib.Path()


class Jobs(unittest.TestCase):
    program = PROGRAM

    def run_case(
        self, case: str, *more: str, ranks: int = 2, nodes: int = 2, python: bool = False, **options: str
    ) -> subprocess.CompletedProcess[str]:
        started = [sys.executable, "-B", str(self.program), case, *more]
        launcher = [] if python else [str(bin_folder / "hirobarun"), "-n", str(ranks), "--nodes", str(nodes)]
        environment = os.environ | {f"HIROBA_{name}": value for name, value in options.items()}
        command = [*launcher, *started]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)

    def fails(self, case: str, *words: str, status: int = 1) -> str:
        job = self.run_case(case)
        self.assertEqual(job.returncode, status, job.stderr)
        for each in words:
            self.assertRegex(job.stderr, each)
        self.assertEqual(len(re.findall("^hiroba: ", job.stderr, re.MULTILINE)), 1, job.stderr)
        return job.stderr

    def works(self, case: str, *more: str, printed: str = "well", python: bool = False) -> None:
        job = self.run_case(case, *more, python=python)
        self.assertEqual(job.returncode, 0, job.stderr)
        self.assertEqual(set(job.stdout.split()), {printed})


class Beside(Jobs):
    program = PROGRAM.with_name("beside.py")

    def test_collective_calls_of_threads_that_nothing_orders(self) -> None:
        for case, call in (
            ("sums_in_two_threads", "hiroba_allreduce"),
            ("sums_in_a_pool", "hiroba_allreduce"),
            ("sums_in_turns_of_a_lock", "hiroba_ibarrier"),
            ("sums_beside_a_thread", "(hiroba_allreduce|sms_mapalloc_large_at)"),
        ):
            self.fails(case, rf"{call} in thread .*, and .* in thread .*: nothing says which .*hiroba\.take_turn\(\)")

    def test_children_write(self) -> None:
        job = self.run_case("children_write", nodes=1)
        self.assertEqual((job.returncode, job.stdout), (0, "well\n" * 2), job.stderr)

    def test_children_use_other_nodes(self) -> None:
        job = self.run_case("children_use_other_nodes")
        self.assertEqual((job.returncode, job.stdout), (0, "well\n" * 2), job.stderr)
        words = r"array temperature, element \d+ at beside\.py:\d+ .*, a child that this rank has made by fork, {}"
        self.assertEqual(len(re.findall(words.format("reads a page of another node"), job.stderr)), 2, job.stderr)
        self.assertEqual(len(re.findall(words.format("writes a page"), job.stderr)), 4, job.stderr)


class Endings(Jobs):
    def test_exception_of_one_rank(self) -> None:
        text = self.fails(
            "raises", r"rank 1: endings\.py:\d+: IndexError: index 123456", r'endings.py", line \d+, in raises'
        )
        self.assertEqual(text.count("Traceback"), 1)

    def test_exception_of_all_ranks_is_printed_once(self) -> None:
        self.assertEqual(self.fails("raises_on_all", "ValueError: on all").count("Traceback"), 1)

    def test_exception_of_a_thread(self) -> None:
        self.fails("raises_in_a_thread", r"endings\.py:\d+: LookupError: in a thread", "in fails")

    def test_task_of_an_element(self) -> None:
        self.fails("task_of_an_element", "TypeError: task: .* is a value of type float64", r"A\[i : i \+ 1\]")

    def test_summaries(self) -> None:
        """One line, with the program's line, also of exceptions of several lines, and out of Python's modules."""
        for case, summary, more in (
            ("raises_groups", r"ExceptionGroup: many \(2 sub-exceptions\)\n", "of two lines"),
            ("raises_lines", r"ValueError: first\n", r"\nsecond line, with what is no text: \\udcff"),
            ("raises_in_cython", "TypeError: Supplied output array", r"_generator\.pyx"),
            ("raises_in_a_module_of_python", "RuntimeError: cannot join", "threading.py"),
        ):
            self.fails(case, rf"rank \d: endings\.py:\d+: {summary}", more)

    def test_long_traceback_keeps_its_end(self) -> None:
        self.fails("raises_deep", "ZeroDivisionError", "in deep")

    def test_exception_of_a_call_has_the_line_of_the_program(self) -> None:
        self.fails("refused_here", r"endings\.py:\d+: TypeError: dtype object")

    def test_forgotten_barrier(self) -> None:
        self.fails(
            "forgets_barrier",
            r"rank 0 is in sms_barrier at endings\.py:\d+ \(forgets_barrier\)",
            "rank 1 is in sms_shut",
        )

    def test_other_shapes(self) -> None:
        self.fails("other_shapes", r"\{10\}.* at endings\.py:\d+, rank 1 .*\{11\}.* at endings\.py:\d+")

    def test_bad_accesses(self) -> None:
        self.fails(
            "plain_view_of_freed",
            "use after .* array temperature .* index 7",
            r'endings.py", line \d+ in plain',
            status=139,
        )
        self.fails(
            "past_the_end", "index 134217728, .* past the end of array temperature", "line .* in past", status=139
        )

    def test_faulthandler_after_ours(self) -> None:
        self.works("faulthandler_later")
        job = self.run_case("crash_with_faulthandler")
        self.assertEqual(job.returncode, 139, job.stderr)
        self.assertIn("in crash_with_faulthandler", job.stderr)
        self.assertNotIn("corrupted", job.stderr)

    def test_test_runners(self) -> None:
        self.works("goes_on_after_a_failed_test")

    def test_handlers_after_ours(self) -> None:
        self.works("handlers_later")

    def test_late_loading(self) -> None:
        self.works("loaded_late")

    def test_callbacks_and_solvers(self) -> None:
        text = self.fails(
            "raises_in_a_callback", r"endings\.py:\d+: ZeroDivisionError", r'endings.py", line \d+, in <l'
        )
        self.assertEqual(text.count("Traceback"), 1)
        self.fails("does_not_converge", r"endings\.py:\d+: hiroba_solve: .*2 iterations")

    def test_other_collectives(self) -> None:
        where = r"rank {} is in hiroba_{}\(.*\) at endings\.py:\d+"
        self.fails("other_collectives", where.format(0, "allreduce"), where.format(1, "bcast"))

    def test_misuse_of_locks_has_the_line(self) -> None:
        here = r"rank \d: endings\.py:\d+: "
        self.fails("takes_a_lock_twice", here + r"sms_lock\(3\) by the thread that holds lock 3 already")
        self.fails("gives_a_lock_of_nobody", here + r"sms_unlock\(3\) by a thread that does not hold lock 3")
        self.fails("barriers_in_two_threads", r"rank \d: .*: sms_barrier in thread Thread-\d .*, and sms_barrier in")
        if importlib.util.find_spec("mpi4py") is not None:  # without it python.mpi is skipped, and says so
            self.fails("no_communicator", here + ".*--transport mpi")

    def runs_well(self, code: str) -> None:
        command = [str(bin_folder / "hirobarun"), "-n", "2", sys.executable, "-B", "-c", code + "print('well')"]
        job = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual((job.returncode, job.stdout), (0, "well\n" * 2), job.stderr)

    def test_first_use_in_threads(self) -> None:
        self.runs_well(
            "import concurrent.futures, hiroba\n"
            "with concurrent.futures.ThreadPoolExecutor(4) as pool:\n"
            "    got = list(pool.map(lambda i: hiroba.rank + i, range(4)))\n"
            "assert hiroba.allreduce(sum(got)) == 16\n"
            "import signal\n"
            "assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler\n"
        )

    def test_first_collective_call_in_a_thread_that_is_joined(self) -> None:
        """The thread is started, and the other one may wait for it, before the package sees what orders threads."""
        self.runs_well(
            "import threading, hiroba\n"
            "thread = threading.Thread(target=lambda: hiroba.allreduce(1))\n"
            "thread.start()\n"
            "thread.join()\n"
            "assert hiroba.allreduce(2) == 4\n"
        )

    def test_first_use_in_a_child(self) -> None:
        """It has the environment of the rank, and took its place: the job hung at its end."""
        self.runs_well(
            "import hiroba, os\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    try:\n"
            "        hiroba.barrier()\n"
            "    except ImportError as error:\n"
            "        os._exit(7 if 'made by fork, is no rank' in str(error) else 8)\n"
            "    os._exit(9)\n"
            "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
            "assert hiroba.allreduce(1) == 2\n"
        )

    def test_second_program_of_a_script(self) -> None:
        """It saw the memory of the first one, and waited in its own barriers for the counts of that."""
        program = f"{sys.executable} -B -c 'import hiroba; hiroba.barrier(); print(hiroba.zeros(9).sum())'"
        command = [str(bin_folder / "hirobarun"), "-n", "2", "sh", "-c", f"{program} && {program}"]
        job = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual((job.returncode, job.stdout), (1, "0.0\n" * 2), job.stderr)
        self.assertRegex(job.stderr, r"rank \d, which process \d+ was, and has ended: a job is one program")

    def test_arrays_that_have_become_private(self) -> None:
        private = r".* has no attribute '{}'; this {} is in the private memory .*`A = A \+ 1` makes such an array"
        self.fails("rebinds", r"rank \d: endings\.py:\d+: AttributeError: " + private.format("local", "ndarray"))
        self.fails("rebinds_to_a_number", "AttributeError: " + private.format("free", "float64"))

    def test_barrier_in_a_lock(self) -> None:
        """The rank that has the lock waits for the one that wants it."""
        line = r"at endings\.py:\d+ \(barrier_in_a_lock\)"
        job = self.run_case("barrier_in_a_lock", STILL="2", TIMEOUT="4")
        self.assertEqual(job.returncode, 1, job.stderr)
        self.assertRegex(job.stderr, rf"rank \d waits in sms_lock\(3\), which rank \d holds {line}")
        self.assertRegex(job.stderr, rf"rank \d waits in sms_barrier {line}")
        self.assertRegex(job.stderr, r"rank \d: .*waited 4 s \(option timeout\) in sms_")

    def test_what_is_not_the_same_on_all_ranks(self) -> None:
        for case, words in (
            ("sums_other_arrays", r"ValueError: sum: ranks give different arrays, or sections: .* of temperature"),
            ("saves_other_arrays", "ValueError: save: ranks give different arrays, or sections"),
            ("loads_other_files", r"ValueError: load: ranks give different files: .*never0\.npy, rank 1 never1\.npy"),
        ):
            self.fails(case, r"rank \d: endings\.py:\d+: " + words)

    def test_arguments_that_nothing_can_be_made_of(self) -> None:
        for case, words in (
            ("single_on_a_rank_that_is_not_there", r"ValueError: single\(2\): the job has ranks 0\.\.1"),
            ("more_than_64_axes", "ValueError: shape with 65 axes"),
            ("shape_that_is_a_text", "TypeError: shape '12'; an integer, or a tuple"),
            ("adds_what_does_not_fit", "OverflowError: fetch_add: 4294967296 does not fit in an element of 4 bytes"),
            ("no_eigenvalues", "ValueError: eigenpairs: count=0 of 4 rows"),
        ):
            self.fails(case, r"rank \d: endings\.py:\d+: " + words)

    def test_check_names_lines(self) -> None:
        job = self.run_case("races", CHECK="yes")
        self.assertEqual(job.returncode, 1, job.stderr)
        line = r"endings\.py:\d+ \(races\)"
        self.assertRegex(job.stderr, rf"rank 0 writes temperature\[10\] in {line}, and rank 1 writes it in {line}")
        lines = set(re.findall(line, job.stderr))
        self.assertEqual(len(lines), 2, job.stderr)
        self.assertNotIn("DOUBLE", job.stderr)

    def test_check_finds_races_around_assignments(self) -> None:
        job = self.run_case("smooths_without_a_barrier", CHECK="yes")
        self.assertEqual(job.returncode, 1, job.stderr)
        self.assertRegex(job.stderr, r"race on table: rank \d writes table\[\d+\]\[\d+\] in endings\.py:\d+")

    def test_report_names_lines(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "report.html"
            job = self.run_case("uses_what_a_report_shows", REPORT=str(page))
            self.assertEqual(job.returncode, 0, job.stderr)
            text = page.read_text()
        places = re.findall(r'"kind": ?"(\w+)", ?"place": ?"endings\.py:\d+(?: \((\w+)\))?"', text)
        self.assertEqual({kind for kind, _ in places}, {"fault", "barrier", "lock", "collective", "coherence"}, places)
        self.assertLessEqual({function for _, function in places}, {"uses_what_a_report_shows", "", "<module>"})
        self.assertNotIn("_methods.py", text)  # in NumPy

    def test_status(self) -> None:
        self.assertEqual(self.run_case("exits").returncode, 3)
        before = "hiroba: rank 1: the program ended with status {}, by sys.exit or SystemExit"
        for case, status, words in (
            ("exits_alone", 2, before.format(2)),
            ("exits_with_words", 1, "what is wrong\n" + before.format(1)),
        ):
            text = self.fails(case, words, status=status)
            self.assertNotIn("Traceback", text)
        job = self.run_case("exits_at_once")
        self.assertEqual(job.returncode, 5)
        self.assertIn("rank 1 (pid", job.stderr)
        self.works("exits_in_a_thread")
        job = self.run_case("exits", python=True)
        self.assertEqual((job.returncode, job.stderr), (3, ""))  # of a job of one, as of any program

    def test_arrays_are_there_until_the_end(self) -> None:
        self.works("writes_at_its_end")

    def test_no_room_names_what_has_it(self) -> None:
        self.fails("too_much", "array the big one has 8 MiB")

    def test_limit_of_addresses(self) -> None:
        """The option space that the message gives is small enough; or it says that none is."""
        code = "import hiroba; assert hiroba.ones(1000).sum() == 1000"

        def under(gigabytes: int, *options: str) -> subprocess.CompletedProcess[str]:
            limit = functools.partial(resource.setrlimit, resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
            command = [str(bin_folder / "hirobarun"), "-n", "2", *options, sys.executable, "-c", code]
            return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False, preexec_fn=limit)

        for nodes in ("1", "2"):
            job = under(6, "--nodes", nodes)
            found = re.search(r"ulimit -v is 6 GiB\); it is enough for --space (\d+M)$", job.stderr)
            assert found is not None, job.stderr
            job = under(6, "--nodes", nodes, "--space", found[1])
            self.assertEqual((job.returncode, job.stderr), (0, ""))
        for options in ((), ("--space", "256M", "--heap", "64M")):
            job = under(4, *options)
            self.assertEqual(job.returncode, 1, job.stderr)
            self.assertRegex(job.stderr, r"ulimit -v is 4 GiB\); each process of a job of 2 ranks needs some 5\.\d GiB")

    def test_processes_that_a_rank_starts_are_no_ranks(self) -> None:
        self.works("spawns")
        self.works("spawns", python=True)

    def test_pools_of_forks(self) -> None:
        self.works("pools_of_forks")

    def test_fork(self) -> None:
        job = self.run_case("forks")
        self.assertEqual(job.returncode, 0, job.stderr)
        self.assertRegex(
            job.stderr, r"at endings\.py:\d+ \(forks\) in process \d+, a child that this rank has made by fork"
        )

    def test_what_all_ranks_add_is_an_error_under_check(self) -> None:
        for case in ("adds_on_all_ranks", "assigns_on_all_ranks", "sorts_on_all_ranks"):
            job = self.run_case(case, CHECK="yes")
            self.assertEqual(job.returncode, 1, job.stderr)
            self.assertRegex(job.stderr, r"endings\.py:\d+: .*Error: ranks \d and \d both do this to the same elements")

    def test_interrupt(self) -> None:
        for case, words in (
            ("waits_for_a_sleeper", "KeyboardInterrupt"),
            ("waits_for_each_other", "waits_for_each_other"),
            ("computes_long", r"hiroba: rank \d: endings\.py:\d+: KeyboardInterrupt"),
        ):
            command = [str(bin_folder / "hirobarun"), "-n", "2", sys.executable, "-B", str(PROGRAM), case]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
                assert job.stdout is not None
                job.stdout.readline()
                time.sleep(0.2)
                job.send_signal(signal.SIGINT)
                begin = time.monotonic()
                text = job.communicate(timeout=200)[1]
            self.assertRegex(text, words)
            self.assertNotIn("job.py", text)  # the handler of the signal
            self.assertNotEqual(job.returncode, 0)
            self.assertLess(time.monotonic() - begin, 2.9, text)  # before the launcher kills what is left

    def test_system_calls_on_absent_pages(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.works("files", folder)
            self.works("files", folder, python=True)
            if importlib.util.find_spec("h5py") is not None:
                self.works("hdf5_of_absent_pages", folder)

    def test_a_program_that_is_started_has_no_preload(self) -> None:
        self.works("starts_programs", printed="0")

    def test_without_hirobarun_a_job_of_one(self) -> None:
        code = "import hiroba, sys; print(hiroba.size, hiroba.ones(5).sum(), sys.argv[1:])"
        job = subprocess.run(
            [sys.executable, "-c", code, "x y"], capture_output=True, text=True, timeout=200, check=False
        )
        self.assertEqual(job.stdout, "1 5.0 ['x y']\n", job.stderr)

    def test_what_comes_after_the_import_is_done_once(self) -> None:
        for code, times in (
            ("import hiroba\nprint('begins')\nhiroba.rank", 1),
            ("from hiroba import rank\nprint('begins')", 1),
            ("print('begins')\nfrom importlib import import_module\nimport_module('hiroba').rank", 2),
            ("print('begins')\nfrom hiroba.compiler import command", 1),
        ):
            job = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
            self.assertEqual(job.stdout, "begins\n" * times, (code, job.stderr))

    def test_an_interpreter_that_waits_for_lines_is_refused(self) -> None:
        job = subprocess.run(
            [sys.executable],
            input="import hiroba; hiroba.rank",
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        self.assertRegex(job.stderr, "ImportError: hiroba must be loaded before Python: .*hirobarun -n 1")

    def test_other_version(self) -> None:
        code = "import hiroba; hiroba.__version__ = '0.0.9'; hiroba.rank"
        job = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
        self.assertRegex(job.stderr, r"ImportError: .* version 0\.0\.9, and libhiroba of version \d")

    def test_names_that_are_not_there(self) -> None:
        for name, words in (
            ("zeroes", r"did you mean hiroba\.zeros\?"),
            ("redistribute", r"arrays have it: A\.redistribute"),
            ("from_file", r"hiroba\.load\(path\) does this"),
            ("what_is_this", "docs/python.md"),
        ):
            code = f"import hiroba; hiroba.{name}"
            job = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
            self.assertRegex(job.stderr, f"AttributeError: module 'hiroba' has no attribute '{name}'; {words}")

    def test_import_alone_starts_nothing(self) -> None:
        code = "import sys, hiroba; print('numpy' in sys.modules)"
        job = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
        self.assertEqual(job.stdout, "False\n", job.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    bin_folder = arguments.bin
    os.environ.pop("LD_PRELOAD", None)
    unittest.main(argv=[sys.argv[0], *rest])
