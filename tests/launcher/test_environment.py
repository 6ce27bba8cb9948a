"""What a rank finds when it starts: descriptors, standard input, OpenMP settings, its place."""

import ast
import functools
import os
import pathlib
from typing import Any

from launching import HIROBARUN, PHASES, PYTHON, LauncherTest, cores, main

LIST_DESCRIPTORS = (
    "import os; print(sorted(os.readlink(f'/proc/self/fd/{f}') for f in os.listdir('/proc/self/fd') "
    "if os.path.exists(f'/proc/self/fd/{f}')))"
)


def close_all(descriptors: tuple[int, ...]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


class Descriptors(LauncherTest):
    def test_a_rank_inherits_the_memory_files_and_nothing_else(self) -> None:
        result = self.launch("-n", 1, PYTHON, "-c", LIST_DESCRIPTORS)
        names = [name.split(" ")[0] for name in ast.literal_eval(result.stdout)]
        self.assertEqual(names.count("/memfd:hiroba-board"), 1)
        self.assertEqual(sum(name.endswith("hiroba-node") for name in names), 1)
        rest = [name for name in names if "hiroba-" not in name]
        self.assertEqual(len(rest), 3, rest)  # stdin, stdout, stderr (the list's own is closed by then)

    def test_a_program_may_load_the_library_itself(self) -> None:
        """glibc keeps less room for variables of a thread than the library has."""
        library = pathlib.Path(HIROBARUN).parents[1] / "lib/libhiroba.so"
        result = self.launch("-n", 2, PYTHON, "-c", f"import ctypes; ctypes.CDLL({str(library)!r}); print('loaded')")
        self.assertEqual(result.stdout, "loaded\nloaded\n", result.stderr)

    def test_one_memory_file_per_node(self) -> None:
        result = self.launch("-n", 3, "--nodes", 2, PYTHON, "-c", LIST_DESCRIPTORS)
        self.assertEqual(result.stdout.count("hiroba-node"), 2 * 3)

    def test_options_of_the_launcher_are_environment_variables_too(self) -> None:
        environment = {**self.environment, "HIROBA_NODES": "2", "HIROBA_TAG": "true"}
        result = self.launch("-n", 3, PYTHON, "-c", LIST_DESCRIPTORS, env=environment)
        self.assertEqual(result.stdout.count("hiroba-node"), 2 * 3)
        self.assertTrue(result.stdout.startswith("["), result.stdout)
        result = self.launch("-n", 3, "--nodes", 1, PYTHON, "-c", LIST_DESCRIPTORS, env=environment)
        self.assertEqual(result.stdout.count("hiroba-node"), 3)
        result = self.launch("-n", 3, "true", env={**self.environment, "HIROBA_NODES": "4"})
        self.assertIn("4 nodes for 3 ranks", result.stderr)
        result = self.launch("-n", 2, "true", env={**self.environment, "HIROBA_NODE": "2"})
        self.assertRegex(result.stderr, "HIROBA_NODE: no option")

    def test_a_program_of_this_folder_comes_first(self) -> None:
        program = self.folder / "true"
        program.write_text("#!/bin/sh\necho here\n")
        program.chmod(0o755)
        try:
            self.assertEqual(self.launch("-n", 1, "true").stdout, "here\n")
        finally:
            program.unlink()

    def test_the_launcher_opens_no_socket(self) -> None:
        process = self.start("-n", 2, "sh", "-c", "echo ready; sleep 0.3")
        self.wait_for_line(process, "ready")
        opened = [str(fd.readlink()) for fd in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()]
        self.assertEqual([name for name in opened if name.startswith("socket")], [])
        self.assertEqual(process.wait(5), 0)

    def test_started_with_standard_descriptors_closed(self) -> None:
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            result = self.launch(
                "-n",
                2,
                PHASES,
                "*:start,print=x,all-started,finish",
                preexec_fn=functools.partial(close_all, closed),
            )
            self.assertEqual(result.returncode, 0, closed)

    def test_standard_input_goes_to_rank_0(self) -> None:
        result = self.launch("-n", 3, "--tag", "cat", input="one\ntwo\n")
        self.assertEqual((result.stdout, result.returncode), ("[0] one\n[0] two\n", 0))
        result = self.launch("-n", 3, "--tag", "readlink", "/proc/self/fd/0", input="")
        self.assertRegex("".join(sorted(result.stdout.splitlines(True))), r"^\[0\] pipe.*\n(\[[12]\] /dev/null\n){2}$")

    def test_signals_are_as_a_program_expects_them(self) -> None:
        result = self.launch("-n", 1, "grep", "-E", "SigBlk|SigIgn", "/proc/self/status")
        self.assertEqual(result.stdout.split(), ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16])


class OpenMP(LauncherTest):
    def settings(self, *words: object, env: dict[str, str] | None = None) -> str:
        shown = self.launch(*words, "sh", "-c", "echo $OMP_NUM_THREADS/$OMP_WAIT_POLICY", env=env).stdout.splitlines()
        self.assertEqual(len(set(shown)), 1, shown)
        return shown[0]

    def test_threads(self) -> None:
        self.assertEqual(self.settings("-n", 1), f"{cores()}/")
        self.assertEqual(self.settings("-n", cores()), "1/")
        self.assertEqual(self.settings("-n", cores() + 1), "1/passive")
        self.assertEqual(self.settings("-n", 1, "--threads", cores() + 1), f"{cores() + 1}/passive")

    def test_what_the_user_has_set_stays(self) -> None:
        self.assertEqual(self.settings("-n", 1, env={"OMP_NUM_THREADS": "7,2"})[:4], "7,2/")
        self.assertEqual(self.settings("-n", 99, env={"OMP_WAIT_POLICY": "active"}), "1/active")
        self.assertEqual(self.settings("-n", 1, "--threads", 1, env={"OMP_NUM_THREADS": "7"}), "1/")

    def test_cores_are_counted_not_hardware_threads(self) -> None:
        described = {"HWLOC_SYNTHETIC": "numa:2 core:4 pu:2"}
        self.assertEqual(self.settings("-n", 2, env=described), "4/")
        self.assertEqual(self.settings("-n", 8, env=described), "1/")
        self.assertEqual(self.settings("-n", 9, env=described), "1/passive")


class Binding(LauncherTest):
    SHOW = "import os; print(','.join(map(str, sorted(os.sched_getaffinity(0)))))"

    def places(self, *words: object) -> tuple[list[set[int]], str]:
        result = self.launch("--tag", *words, PYTHON, "-c", self.SHOW)
        self.assertEqual(result.returncode, 0, result.stderr)
        ranks = sorted(line.split(" ") for line in result.stdout.splitlines())
        return [set(map(int, cpus.split(","))) for _, cpus in ranks], result.stderr

    def test_none_leaves_all(self) -> None:
        places, _ = self.places("-n", 2)
        self.assertEqual(places, [os.sched_getaffinity(0)] * 2)

    def test_core_gives_each_rank_its_own(self) -> None:
        places, stderr = self.places("-n", cores(), "--bind", "core")
        self.assertEqual(stderr, "")
        self.assertEqual(set().union(*places), os.sched_getaffinity(0))
        self.assertEqual(sum(map(len, places)), len(os.sched_getaffinity(0)))

    def test_one_rank_gets_all_cores(self) -> None:
        self.assertEqual(self.places("-n", 1, "--bind", "core")[0], [os.sched_getaffinity(0)])

    def refused(self, *words: object, **more: Any) -> str:
        result = self.launch(*words, "true", **more)
        self.assertEqual(result.returncode, 1, result)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def test_more_ranks_than_cores_are_refused(self) -> None:
        told = self.refused("-n", cores() + 1, "--bind", "core")
        self.assertIn(f"{cores() + 1} ranks for {cores()} core", told)
        self.assertIn("--bind none", told)

    def test_numa_is_a_part_of_what_we_have(self) -> None:
        for how in ("numa", "socket"):
            for place in self.places("-n", 3, "--bind", how)[0]:
                self.assertTrue(place and place <= os.sched_getaffinity(0))

    def test_a_list_of_cpus(self) -> None:
        allowed = sorted(os.sched_getaffinity(0))
        self.assertEqual(self.places("-n", 1, "--bind", allowed[-1])[0], [{allowed[-1]}])
        backwards = ",".join(str(cpu) for cpu in reversed(allowed))
        places, _ = self.places("-n", len(allowed), "--bind", backwards)
        self.assertEqual(places, [{cpu} for cpu in reversed(allowed)])
        self.assertIn("CPU 4000 is not one that this job may use", self.refused("-n", 1, "--bind", "4000"))
        self.assertIn("given twice", self.refused("-n", 1, "--bind", f"{allowed[0]},{allowed[0]}"))
        self.assertIn("2 ranks for 1 CPU", self.refused("-n", 2, "--bind", allowed[0]))

    def test_bindings_are_reported(self) -> None:
        described = {**self.environment, "HWLOC_SYNTHETIC": "package:2 numa:1 core:2 pu:1"}
        result = self.launch("-n", 2, "--bind", "numa", "--report-bindings", "true", env=described)
        self.assertEqual(
            result.stderr,
            "hirobarun: rank 0 bound to socket 0[core 0[hwt 0]], socket 0[core 1[hwt 0]], NUMA domain 0: [B/B][./.]\n"
            "hirobarun: rank 1 bound to socket 1[core 2[hwt 0]], socket 1[core 3[hwt 0]], NUMA domain 1: [./.][B/B]\n",
        )
        self.assertEqual(self.launch("-n", 1, "--report-bindings", "true").stderr, "hirobarun: rank 0 is not bound\n")

    def test_openmp_places_match(self) -> None:
        show = ("sh", "-c", "echo $OMP_PLACES $OMP_PROC_BIND $HIROBA_CPUS")
        cpus = sorted(os.sched_getaffinity(0))
        self.assertEqual(self.launch("-n", 1, *show).stdout, "\n")
        shown = self.launch("-n", 1, "--bind", cpus[0], *show).stdout
        self.assertEqual(shown, f"{{{cpus[0]}}} close {cpus[0]}\n")
        mine = {**self.environment, "OMP_PROC_BIND": "spread"}
        self.assertEqual(self.launch("-n", 1, "--bind", cpus[0], *show, env=mine).stdout, f"spread {cpus[0]}\n")

    def test_the_binding_of_mpirun_is_not_replaced(self) -> None:
        """What another launcher has started is where that has put it."""
        started = {**self.environment, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"}
        self.assertIn("Open MPI: --bind-to", self.refused("--bind", "core", env=started))
        one = min(os.sched_getaffinity(0))
        result = self.launch(
            "--report-bindings", "sh", "-c", "echo $OMP_PLACES", env=started,
            preexec_fn=lambda: os.sched_setaffinity(0, {one}),
        )  # fmt: skip
        if cores() > 1:
            self.assertRegex(result.stderr, r"^hirobarun: rank 1 bound to socket 0\[core .*: \[.*\.")
            self.assertEqual(result.stdout, f"{{{one}}}\n")

    def test_only_what_the_launcher_may_use(self) -> None:
        one = min(os.sched_getaffinity(0))
        result = self.launch(
            "-n", 1, "--bind", "core", PYTHON, "-c", self.SHOW, preexec_fn=lambda: os.sched_setaffinity(0, {one})
        )
        self.assertEqual(result.stdout, f"{one}\n")
        told = self.refused("-n", 2, "--bind", "core", preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        self.assertIn("2 ranks for 1 core;", told)


if __name__ == "__main__":
    main()
