"""Options, their mistakes, and programs that cannot be started."""

import functools
import os
import resource
import shutil
import unittest

from launching import LauncherTest, main


class Options(LauncherTest):
    def test_number_of_ranks_in_all_spellings(self) -> None:
        for words in (["-n", 3], ["-n3"], ["-np", 3]):
            result = self.launch(*words, "echo", "hi")
            self.assertEqual((result.stdout, result.stderr, result.returncode), ("hi\n" * 3, "", 0), words)

    def test_everything_after_the_program_is_the_programs(self) -> None:
        result = self.launch("-n", 1, "echo", "-n", "--tag", "--help", "-np", "--cahe")
        self.assertEqual(result.stdout, "--tag --help -np --cahe")
        result = self.launch("-n", 1, "--", "echo", "--", "x")
        self.assertEqual(result.stdout, "-- x\n")

    def test_options_become_environment_variables(self) -> None:
        for words in (["--cache", "64M"], ["--cache=64M"]):
            result = self.launch("-n", 2, *words, "--twin", "fetch", "sh", "-c", "echo $HIROBA_CACHE $HIROBA_TWIN")
            self.assertEqual(result.stdout, "64M fetch\n" * 2)

    def test_option_beats_environment(self) -> None:
        result = self.launch("-n", 1, "--cache", "2M", "printenv", "HIROBA_CACHE", env={"HIROBA_CACHE": "1M"})
        self.assertEqual(result.stdout, "2M\n")
        result = self.launch("-n", 1, "printenv", "HIROBA_CACHE", env={"HIROBA_CACHE": "1M"})
        self.assertEqual(result.stdout, "1M\n")

    def test_flag_alone_means_yes(self) -> None:
        for words, value in ((["--stats"], "yes"), (["--stats", "yes"], "yes"), (["--stats", "no"], "no")):
            result = self.launch("-n", 1, *words, "printenv", "HIROBA_STATS")
            self.assertEqual(result.stdout, value + "\n")

    def test_mistakes(self) -> None:
        for words, parts in (
            ([], ["no number of ranks given", "hirobarun -n 4 PROGRAM"]),
            (["-n", 2], ["no program given"]),
            (["-n", "x", "true"], ["-n", "'x'", "1 to 65536"]),
            (["-n", 0, "true"], ["'0'"]),
            (["-n", "99999999999999999999", "true"], ["1 to 65536"]),
            (["-n", -1, "true"], ["'-1'"]),
            (["-n"], ["-n needs a value"]),
            (["-n", 2, "-n", 3, "true"], ["-n is given twice"]),
            (["-n", 2, "--cahe", "64M", "true"], ["no option '--cahe'", "did you mean '--cache'?"]),
            (["-n", 2, "--cahe=64M", "true"], ["did you mean '--cache'?"]),
            (["-n", 2, "--node", 2, "true"], ["did you mean '--nodes'?"]),
            (["-n", 2, "--thread", 2, "true"], ["did you mean '--threads'?"]),
            (["-N", 2, "true"], ["did you mean '-n'?"]),
            (["-n", 2, "--cache", "64Q", "true"], ["HIROBA_CACHE", "'64Q'", "64M"]),
            (["-n", 2, "--twin", "x", "true"], ["write|fetch"]),
            (["-n", 2, "--nodes", 3, "true"], ["--nodes", "3 nodes for 2 ranks", "1 to 2"]),
            (["-n", 2, "--nodes", 0, "true"], ["--nodes", "'0'"]),
            (["-n", 2, "--threads", 0, "true"], ["--threads", "'0'"]),
            (["-n", 2, "--bind", "x", "true"], ["none|core|numa|socket", "0-3,8"]),
        ):
            with self.subTest(words=words):
                result = self.launch(*words)
                self.assertEqual(result.returncode, 2)
                self.assert_one_message(result, *parts)

    def test_mistakes_in_the_environment_are_found_before_the_start(self) -> None:
        result = self.launch("-n", 2, "echo", "started", env={"HIROBA_CAHE": "1M"})
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "")
        self.assert_one_message(result, "HIROBA_CAHE", "cache")

    def test_nodes_may_be_as_many_as_ranks(self) -> None:
        result = self.launch("-n", 3, "--nodes", 3, "sh", "-c", "echo $HIROBA_JOB")
        self.assertEqual({line.split(":")[1:3] == ["3", "3"] for line in result.stdout.splitlines()}, {True})

    def test_help_teaches(self) -> None:
        text = self.launch("--help").stdout
        for part in (
            "Usage: hirobarun -n N",
            "Examples:",
            "--nodes K",
            "--threads T",
            "--tag",
            "--cache SIZE",
            "(default: 8T)",
            "HIROBA_NAME",
            "Ctrl-C",
        ):
            self.assertIn(part, text)
        self.assertEqual(text.count("  hirobarun -n"), 4)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)

    def test_version(self) -> None:
        self.assertRegex(self.launch("--version").stdout, r"^hirobarun \d+\.\d+\.\d+\n$")


class Programs(LauncherTest):
    def make(self, name: str, text: str, mode: int) -> None:
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)

    def refused(self, program: object, status: int, *parts: str) -> None:
        result = self.launch("-n", 3, program)
        self.assertEqual(result.returncode, status)
        self.assert_one_message(result, *parts)

    def tearDown(self) -> None:
        for file in self.folder.iterdir():
            file.unlink()
        super().tearDown()

    def test_not_found(self) -> None:
        self.refused("no-such-program", 127, "'no-such-program'", "PATH")
        self.refused("./no-such-program", 127, "'./no-such-program'", "No such file")

    def test_in_this_folder_but_not_in_path(self) -> None:
        self.make("mine", "#!/bin/sh\necho mine\n", 0o755)
        self.assertEqual(self.launch("-n", 1, "mine").stdout, "mine\n")
        self.assertEqual(self.launch("-n", 1, "./mine").stdout, "mine\n")

    def test_not_executable(self) -> None:
        self.make("data", "x", 0o644)
        self.refused("./data", 126, "'./data'", "chmod +x")
        self.refused(self.folder, 126, "is a directory")

    def test_missing_interpreter(self) -> None:
        self.make("script", "#!/no/such/interpreter\n", 0o755)
        self.refused("./script", 127, "cannot execute './script'", "interpreter")

    def test_script_without_first_line_runs_in_a_shell(self) -> None:
        self.make("plain", "echo plain\n", 0o755)
        self.assertEqual(self.launch("-n", 1, "./plain").stdout, "plain\n")

    def test_too_few_descriptors(self) -> None:
        few = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (40, 40))
        result = self.launch("-n", 64, "true", preexec_fn=few)
        self.assertNotEqual(result.returncode, 0)
        self.assert_one_message(result, "ulimit -n is 40")

    def test_more_ranks_than_descriptors_allow(self) -> None:
        usual = functools.partial(resource.setrlimit, resource.RLIMIT_NOFILE, (1024, 1024))
        result = self.launch("-n", 60000, "true", preexec_fn=usual)
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(result, "-n 60000", "ulimit -n is 1024", "give at most 503")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mpirun.openmpi"), "for root, with Open MPI")
    def test_open_mpi_as_root(self) -> None:
        self.environment.pop("OMPI_ALLOW_RUN_AS_ROOT", None)
        result = self.launch("-n", 2, "--transport", "mpi", "--mpi", "openmpi", "true")
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(result, "root", "OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")

    @unittest.skipUnless(shutil.which("mpirun.openmpi"), "without Open MPI")
    def test_lone_colon_under_mpirun(self) -> None:
        for words in (["true", "a", ":"], ["true", "a", ":", "true"]):
            result = self.launch("-n", 2, "--transport", "mpi", "--mpi", "openmpi", *words)
            self.assertEqual(result.returncode, 1)
            self.assert_one_message(result, "argument 2 of true is a lone `:`", "leave the colon out")

    def test_files_too_small_for_shared_memory(self) -> None:
        small = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        result = self.launch("-n", 2, "true", preexec_fn=small)
        self.assertEqual(result.returncode, 1)
        self.assert_one_message(result, "ulimit -f is 1 MiB")


if __name__ == "__main__":
    main()
