"""Strangers on the network of a job: who listens while a job runs, and that random bytes to all of them do no harm.

test_strangers.py WIRE --build BUILD [--long] [TEST ...]
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from hosts import HEAD, Hosts
from over_hosts import Command, Job, JobsTest, main

STRANGER = pathlib.Path(__file__).resolve().with_name("stranger.py")
KNOCKS = int(os.environ.get("KNOCKS", "3000"))  # of one test, at each kind of ports
SEED = os.environ.get("SEED", str(int(time.time())))
COMMANDS = 514  # where hosts themselves listen, as sshd would
AGENTS = {"reach", "ssh", "python3"}  # inherit what their mpirun listens to
LAUNCHERS = {"openmpi": {"mpirun.openmpi", "mpirun", "orterun", "orted"}, "mpich": {"mpirun.mpich", "mpirun"}}


class Listener(NamedTuple):
    host: str
    address: str  # 0.0.0.0, * or [::]: of all interfaces
    port: int
    programs: frozenset[str]

    @property
    def of_ranks(self) -> bool:
        return self.programs == {"patient"}

    @property
    def local(self) -> bool:
        return self.address.startswith(("127.", "[::1]"))


class Strangers(JobsTest):
    def setUp(self) -> None:
        self.hosts = self.enterContext(Hosts(3))
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="hosts-test-")))

    def running(self) -> Job:
        job = self.start(self.hosts, "h1:2,h2:1", [self.patient(), self.folder / "stop"])
        job.wait_until_said("running")
        return job

    def listeners(self) -> list[Listener]:
        """Of all hosts, without the hosts' own."""
        found = []
        for host in (HEAD, "h1", "h2"):
            told = self.hosts.run(host, ["ss", "-Hltnp"], capture_output=True, text=True, check=True, timeout=10)
            for line in told.stdout.splitlines():
                address, _, port = line.split()[3].rpartition(":")
                if int(port) != COMMANDS:
                    found.append(Listener(host, address, int(port), frozenset(re.findall(r'"([^"]+)",pid', line))))
        return found

    def finish(self, job: Job) -> None:
        (self.folder / "stop").touch()
        ended = job.finish(60, time.monotonic())
        self.assertEqual((ended.status, ended.left), (0, {}), ended)
        self.assertIn("right", ended.text)
        (self.folder / "stop").unlink()

    def test_who_listens(self) -> None:
        job = self.running()
        found = self.listeners()
        self.finish(job)
        print(*found, sep="\n  ")
        expected = {"patient", *LAUNCHERS[self.kind], *AGENTS}
        for listener in found:
            self.assertLessEqual(listener.programs, expected, listener)
        # Open MPI's ranks listen on all interfaces whatever they are told; others where they are told.
        if (self.kind, self.transport) != ("openmpi", "mpi"):
            own = [one for one in found if "patient" in one.programs]
            self.assertEqual({one.address for one in own}, {self.hosts.addresses[one.host] for one in own})

    def test_random_bytes_do_no_harm(self) -> None:
        job = self.running()
        # Hydra's own port on the head is another matter: see below.
        found = [one for one in self.listeners() if not one.local and (one.host, self.kind) != (HEAD, "mpich")]
        knocks = ("60", "5000", "2") if self.long else ("4", "2000", "1")
        # The ranks' own ports are closed to h3, so that one of the job's hosts knocks there.
        ours = [one for one in found if one.of_ranks]
        for ports, host in (([one for one in found if not one.of_ranks], "h3"), (ours, "h2")):
            if ports:
                self.assertGreater(self.knock(ports, *knocks, host), 20)
        self.finish(job)

    def test_other_hosts_find_no_port_of_the_ranks(self) -> None:
        """The kernel drops what they send: no connection, so nothing that UCX or an MPI would read."""
        job = self.running()
        ours = [one for one in self.listeners() if one.of_ranks and not one.local]
        self.assertGreaterEqual(len(ours), 3, ours)
        self.assertEqual(self.knock(ours, "3", "20", "1"), 0)
        self.finish(job)

    def test_many_connections_and_datagrams(self) -> None:
        """As many as the variable KNOCKS says. Open MPI's daemons stand random bytes only: docs/security.md."""
        job = self.running()
        found = [one for one in self.listeners() if not one.local and (one.host, self.kind) != (HEAD, "mpich")]
        ours = [one for one in found if one.of_ranks]
        others = [one for one in found if not one.of_ranks]
        for name, host, ports, kind in (
            ("ports of launchers", "h3", others, "random"),
            ("ports of ranks", "h3", ours, "mutated"),
            ("ports of ranks, from a host of the job", "h2", ours, "mutated"),
            ("datagrams", "h3", found, "datagrams"),
        ):
            targets = sorted({f"{self.hosts.addresses[one.host]}:{one.port}" for one in ports})
            if not targets:
                continue
            command: Command = [self.build / "tests/hosts/knocker", str(KNOCKS), "600", SEED, kind, *targets]
            told = self.hosts.run(host, command, stdout=subprocess.PIPE, text=True, check=True, timeout=700)
            tried, made, sent = map(int, told.stdout.split())
            print(f"{name}, seed {SEED}: {tried} tried, {made} made, {sent} bytes", flush=True)
            self.assertEqual(tried, KNOCKS)
            if name == "ports of ranks":
                self.assertEqual(made, 0)
        self.finish(job)

    def test_hydra_gives_up_but_leaves_nothing(self) -> None:
        """It ends at the first byte to its port on the head that it does not know."""
        if self.kind != "mpich":
            self.skipTest("Hydra is MPICH's")
        job = self.running()
        begun = time.monotonic()
        self.knock([one for one in self.listeners() if one.host == HEAD], "2", "20", "1")
        ended = job.finish(10, begun)
        self.assertEqual(ended.left, {}, ended)
        self.assertNotIn(ended.status, (0, None), ended)
        self.assertIn("process manager error", ended.text)

    def knock(self, listeners: list[Listener], seconds: str, most: str, seed: str, host: str = "h3") -> int:
        """Sends random bytes, from a host that has no part in the job; returns the number of connections."""
        targets = sorted({f"{self.hosts.addresses[one.host]}:{one.port}" for one in listeners})
        self.assertTrue(targets)
        command: Command = [sys.executable, "-S", STRANGER, seconds, most, seed, *targets]
        told = self.hosts.run(host, command, stdout=subprocess.PIPE, text=True, check=True, timeout=90)
        return int(told.stdout)


if __name__ == "__main__":
    main(Strangers, __doc__.splitlines()[0])
