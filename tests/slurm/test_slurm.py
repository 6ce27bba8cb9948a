"""Slurm itself, and MPI programs under it: `test_slurm.py [Srun | OpenMpi | Mpich]`, or all with pytest. Each class
starts one Slurm of three nodes. Ends with 77 if nothing could be tested, and says why."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from collections.abc import Callable

import slurm as library
from slurm import SKIPPED, Slurm, Unavailable, processes_of

HERE = pathlib.Path(__file__).resolve().parent


def soon(done: Callable[[], bool], limit: float = 60) -> bool:
    deadline = time.monotonic() + limit
    while not done() and time.monotonic() < deadline:
        time.sleep(0.02)
    return done()


def alive(pid: str) -> bool:
    return pathlib.Path(f"/proc/{pid}/exe").exists()


class SlurmTest(unittest.TestCase):
    slurm: Slurm
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="st-")))
        try:
            cls.slurm = cls.enterClassContext(Slurm(nodes=3))
        except Unavailable as error:
            raise unittest.SkipTest(str(error)) from None

    def lines(self, *arguments: str | pathlib.Path) -> list[str]:
        """What a job of srun printed, which must end well, in order of the alphabet."""
        done = self.slurm.run(arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(done.stdout.splitlines())


class Srun(SlurmTest):
    def test_tasks_run(self) -> None:
        self.assertEqual(self.lines("-N", "2", "-n", "4", "hostname"), [socket.gethostname()] * 4)

    def test_tasks_know_their_virtual_node(self) -> None:
        show = "echo $SLURM_PROCID $SLURM_NODEID $SLURMD_NODENAME $SLURM_LOCALID ${TMPDIR##*/}; test -w $TMPDIR"
        self.assertEqual(
            self.lines("-N", "3", "-n", "5", "sh", "-c", show),
            ["0 0 n1 0 n1", "1 0 n1 1 n1", "2 1 n2 0 n2", "3 1 n2 1 n2", "4 2 n3 0 n3"],
        )

    def test_the_exit_status_is_the_tasks(self) -> None:
        self.assertEqual(self.slurm.run(["-N", "2", "sh", "-c", "exit 7"]).returncode, 7)

    def test_a_job_ends_at_its_limit(self) -> None:
        started = self.folder / "started"
        with self.assertRaises(subprocess.TimeoutExpired):
            self.slurm.run(["-N", "2", "-n", "2", "sh", "-c", f"echo $$ >> {started}; exec sleep 100"], limit=1)
        pids = started.read_text().split()
        self.assertEqual(len(pids), 2)
        self.assertTrue(soon(lambda: not any(alive(pid) for pid in pids)), f"some of processes {pids} are left")

    def test_an_exception_leaves_nothing(self) -> None:
        started = self.folder / "lost"
        with self.assertRaisesRegex(KeyError, "deliberate"), Slurm(nodes=1) as other:
            folder = pathlib.Path(other.environment["SLURM_CONF"]).parent
            other.start(["env", "-i", "sh", "-c", f"echo $$ > {started}; exec /bin/sleep 100"])
            self.assertTrue(soon(lambda: started.exists() and started.read_text() != ""))
            raise KeyError("deliberate")
        self.assertEqual((processes_of(folder), folder.exists()), (set(), False))
        self.assertFalse(alive(started.read_text().strip()))

    def test_a_killed_creator_leaves_nothing(self) -> None:
        own = self.folder / "own"
        own.mkdir()
        command = [sys.executable, "-B", str(HERE / "slurm.py"), "run", "-N", "1", "sh", "-c", "echo ready; sleep 100"]
        environment = os.environ | {"TMPDIR": str(own)}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as creator:
            assert creator.stdout is not None
            self.addCleanup(creator.kill)
            self.assertEqual(creator.stdout.readline(), "ready\n")
            (folder,) = own.iterdir()
            self.assertNotEqual(processes_of(folder), set())
            creator.send_signal(signal.SIGKILL)
            self.assertTrue(soon(lambda: not folder.exists()))
        self.assertEqual((processes_of(folder), list(own.iterdir())), (set(), []))

    def test_what_is_missing_is_named(self) -> None:
        with unittest.mock.patch.object(library, "find", return_value=None), self.assertRaises(Unavailable) as caught:
            Slurm().__enter__()
        self.assertEqual(
            str(caught.exception),
            "Slurm is not installed here; missing are Debian's packages: munge slurmctld slurmd slurm-client",
        )

    def test_a_daemon_that_does_not_start_is_named(self) -> None:
        broken = library.CONFIGURATION.replace("select/linear", "select/none_such")
        with unittest.mock.patch.object(library, "CONFIGURATION", broken), self.assertRaises(Unavailable) as caught:
            Slurm().__enter__()
        self.assertRegex(str(caught.exception), "^Slurm does not start on this machine: slurmctld has ended; ")
        self.assertIn("none_such", str(caught.exception))


class MpiTest(SlurmTest):
    """What both MPIs must do. `plugin` is how srun tells their ranks of each other."""

    compiler = ""
    plugin = ""
    packages = ""
    program: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        if not shutil.which(cls.compiler):
            raise unittest.SkipTest(f"{cls.compiler} is not installed here (Debian's packages: {cls.packages})")
        super().setUpClass()
        if cls.plugin not in (known := cls.slurm.mpi_plugins()):
            raise unittest.SkipTest(f"srun has no --mpi={cls.plugin} here, only {', '.join(known)}")
        cls.program = cls.folder / "reduce"
        subprocess.run([cls.compiler, "-O1", HERE / "reduce.c", "-o", cls.program], check=True, timeout=120)

    def said(self, nodes: str, ranks: int) -> list[str]:
        return self.lines(f"--mpi={self.plugin}", "-w", nodes, "-n", str(ranks), self.program)

    def test_ranks_over_two_nodes(self) -> None:
        nodes = ["n1", "n1", "n2", "n2"]
        self.assertEqual(self.said("n1,n2", 4), [f"rank {i} of 4 on {node}, sum 6" for i, node in enumerate(nodes)])

    def test_an_odd_number_of_ranks_over_three_nodes(self) -> None:
        nodes = ["n1", "n1", "n2", "n2", "n3"]
        self.assertEqual(self.said("n1,n2,n3", 5), [f"rank {i} of 5 on {node}, sum 10" for i, node in enumerate(nodes)])

    def test_hiroba(self) -> None:
        build = os.environ.get("BUILD_OF_HIROBA")
        if build is None:
            self.skipTest("BUILD_OF_HIROBA names no build of Hiroba")
        programs = pathlib.Path(build, "bin")
        where = [f"--mpi={self.plugin}", "-w", "n1,n2", "-n", "3"]
        nodes = [0, 0, 1]
        hello = [f"Hello from rank {i} of 3, on node {node} of 2" for i, node in enumerate(nodes)]
        self.assertEqual(self.lines(*where, programs / "hello"), hello)
        under: list[str | pathlib.Path] = [
            programs / "hirobarun",
            "--threads",
            "1",
            programs / "stencil_sms",
            "--size",
            "32",
            "--steps",
            "20",
        ]
        said = self.lines(*where, *under, "--verify")
        self.assertTrue(any(line.startswith("verified") for line in said), said)
        apart = self.slurm.run(["--mpi=none", "-w", "n1", "-n", "2", programs / "hello"])
        self.assertNotEqual(apart.returncode, 0)
        self.assertIn("add --mpi=pmix", apart.stderr)

    def test_one_rank(self) -> None:
        self.assertEqual(self.said("n1", 1), ["rank 0 of 1 on n1, sum 0"])


class OpenMpi(MpiTest):
    compiler, plugin, packages = "mpicc.openmpi", "pmix", "openmpi-bin libopenmpi-dev"

    def test_no_rank_leaves_a_fence_before_all_have_come(self) -> None:
        told = subprocess.run(["pkg-config", "--cflags", "--libs", "pmix"], capture_output=True, text=True, timeout=60)
        if told.returncode != 0:
            self.skipTest("PMIx is not installed here (Debian's package: libpmix-dev)")
        program = self.folder / "fences"
        subprocess.run(["cc", HERE / "fences.c", "-o", program, *told.stdout.split()], check=True, timeout=120)
        said = self.lines("--mpi=pmix", "-w", "n1,n2", "-n", "4", program, self.folder / "come_to")
        self.assertEqual(said, [f"rank {i} left all fences in time" for i in range(4)])


class Mpich(MpiTest):
    compiler, plugin, packages = "mpicc.mpich", "pmi2", "mpich libmpich-dev"


del MpiTest  # only its children are tests


def main() -> int:
    result = unittest.main(exit=False, verbosity=1).result
    if not result.wasSuccessful():
        return 1
    reasons = {reason for _, reason in result.skipped}
    if len(reasons) == 0 or result.testsRun > 0:
        return 0
    print(f"SKIPPED, nothing was tested: {'; '.join(sorted(reasons))}", file=sys.stderr)
    return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
