"""Faults in jobs over several hosts: each ends the job within ten seconds with a message that names what happened, a
status that is not 0, and nothing left on any host.

    test_faults.py WIRE --build BUILD [TEST ...]
"""

import os
import pathlib
import re
import shutil
import signal
import tempfile
import time

from hosts import HEAD, Hosts
from namespaces import command_line
from over_hosts import Command, Ended, Job, JobsTest, main

LIMIT = 10  # seconds from the fault until all is over
BOTH = "h1,h2"
HOST_LOST = (
    r"(hirobarun?: |lost communication with a remote daemon).*\bh2\b"
    r"|\(host h2, 10\.77\.0\.2\) has not answered host h1"
)
PORT = 34000
OTHER = {"openmpi": "mpich", "mpich": "openmpi"}


class Faults(JobsTest):
    def setUp(self) -> None:
        self.hosts = self.enterContext(Hosts(2))
        folder = tempfile.TemporaryDirectory(prefix="hosts-test-")
        self.folder = pathlib.Path(self.enterContext(folder))

    def running(self, where: str = BOTH, settings: dict[str, str] | None = None) -> Job:
        """A job that goes on, after its first round."""
        job = self.start(self.hosts, where, [self.patient(), self.folder / "stop"], settings)
        job.wait_until_said("running")
        time.sleep(0.5)  # what the start has said must have arrived everywhere
        return job

    def ranks(self, host: str) -> list[int]:
        return [pid for pid in self.hosts.processes(host) if command_line(pid)[:1] == [str(self.patient())]]

    def assert_refused(self, ended: Ended, *patterns: str, status: int | None = None) -> None:
        """All patterns are in what the job said."""
        self.assertIsNotNone(ended.status, ended)
        self.assertNotEqual(ended.status, 0, ended)
        if status is not None:
            self.assertEqual(ended.status, status, ended)
        self.assertEqual(ended.left, {}, ended)
        self.assertLess(ended.seconds, LIMIT, ended)
        for pattern in patterns:
            self.assertRegex(re.sub(r"\s+", " ", ended.text), pattern)

    def by_host(self, script: str, program: pathlib.Path) -> Command:
        """A command that runs a program after a line of shell, which can ask for "$host"."""
        return ["sh", "-c", f'host=$(uname -n); {script}; exec "$0"', program]

    # ---- ranks that end ----

    def test_a_rank_that_is_killed(self) -> None:
        job = self.running()
        begun = time.monotonic()
        os.kill(self.ranks("h2")[0], signal.SIGKILL)
        killed = r"rank 1.*signal 9|RUNNING AT h2 = EXIT CODE: 9"
        self.assert_refused(job.finish(LIMIT, begun), killed)

    def test_a_rank_that_crashes(self) -> None:
        ended = self.start(self.hosts, BOTH, [self.program("misuse"), "segfault"]).finish(LIMIT)
        self.assert_refused(ended, r"hiroba: rank 1: segmentation fault at address \(nil\)")

    def test_a_rank_that_exits(self) -> None:
        ended = self.start(self.hosts, BOTH, [self.program("misuse"), "exit_3"]).finish(LIMIT)
        self.assert_refused(ended, r"hiroba: rank 1: the program ended with status 3", status=3)

    def test_a_rank_that_ends_before_the_job_has_begun(self) -> None:
        """As where a host lacks a library. MPICH's launcher takes no notice of it."""
        for host, rank in (("h1", 0), ("h2", 1)):
            lacking = f"rank {rank} on host {host} ended with status 127"
            for end, said in (("exit 127", lacking), ("kill -9 $$", "signal 9")):
                script = f'[ "$host" != {host} ] || {end}'
                ended = self.start(self.hosts, BOTH, self.by_host(script, self.example("hello"))).finish(LIMIT)
                self.assert_refused(ended, said if self.kind == "mpich" else "exit")

    def test_a_rank_that_exits_among_many(self) -> None:
        with Hosts(5) as hosts:
            where = ",".join(hosts.names)
            ended = self.start(hosts, where, [self.program("misuse"), "exit_3"]).finish(LIMIT)
        self.assert_refused(ended, r"hiroba: rank 1: the program ended with status 3", status=3)

    # ---- hosts and networks ----

    def test_a_host_that_is_cut_off(self) -> None:
        job = self.running()
        begun = time.monotonic()
        self.hosts.cut("h2")
        self.assert_refused(job.finish(LIMIT + 1, begun), HOST_LOST)

    def test_a_host_that_is_cut_off_with_a_shorter_silence(self) -> None:
        job = self.running(settings={"HIROBA_SILENCE": "3"})
        begun = time.monotonic()
        self.hosts.cut("h2")
        self.assert_refused(job.finish(LIMIT, begun), HOST_LOST)

    def test_a_host_that_is_cut_off_while_the_job_starts(self) -> None:
        """Its ranks hear nothing of their launcher, and of each other they do not know yet. A library that just then
        connects to it inside MPI_Init may say so first.
        """
        no_route = r"UCX ERROR connect\([^)]*dest_addr=10\.77\.0\.2:\d+\) failed: No route to host"
        hello = self.example("hello")
        for pause in (0, 0.02):
            with Hosts(2) as self.hosts:
                job = self.start(self.hosts, BOTH, [hello])
                while not any(command_line(pid)[:1] == [str(hello)] for pid in self.hosts.processes("h2")):
                    self.assertIsNone(job.process.poll())
                time.sleep(pause)
                begun = time.monotonic()
                self.hosts.cut("h2")
                ended = job.finish(LIMIT, begun)
            if "Hello from rank 0" in ended.text:
                continue  # it had come to its end before
            self.assert_refused(ended, rf"{HOST_LOST}|{no_route}")

    def test_a_host_that_cannot_be_reached(self) -> None:
        self.hosts.cut("h2")
        ended = self.start(self.hosts, BOTH, [self.example("hello")]).finish(LIMIT)
        self.assert_refused(ended, r"cannot reach (host )?h2")

    def test_no_route_between_hosts(self) -> None:
        """Each side can be the one that knows no way to the other. MPICH's library then ends the job inside MPI_Init by
        itself, with status 15; in one of some 300 such runs Hydra ends before it has read what the library said.
        """
        for sender, receiver in (("h1", "h2"), ("h2", "h1")):
            with Hosts(2) as self.hosts:
                self.hosts.refuse(sender, receiver)
                ended = self.start(self.hosts, BOTH, [self.example("hello")]).finish(LIMIT)
            lost_by_hydra = self.kind == "mpich" and (ended.status, ended.text) == (15, "")
            self.assert_refused(ended, "^$" if lost_by_hydra else r"10\.77\.0\.[12]|cannot be reached")

    def test_a_firewall_between_hosts(self) -> None:
        """What it drops gets no answer, so nobody is told that there is no way."""
        for sender, receiver in (("h1", "h2"), ("h2", "h1")):
            with Hosts(2) as self.hosts:
                self.hosts.lose(sender, receiver)
                ended = self.start(self.hosts, BOTH, [self.example("hello")]).finish(LIMIT)
            self.assert_refused(ended, r"process \d on host h\d tries to reach 10\.77\.0\.\d|has not answered host h\d")

    def test_a_cut_between_two_hosts_of_many(self) -> None:
        """h1 and h3 do not watch each other in the ring of hosts; both reach all the others."""
        with Hosts(4) as self.hosts:
            job = self.running(",".join(self.hosts.names))
            begun = time.monotonic()
            self.hosts.lose("h1", "h3")
            ended = job.finish(LIMIT + 1, begun)
        self.assert_refused(ended, r"\(host h[13], 10\.77\.0\.[13]\) has not answered host h[13] for")

    def test_a_launcher_that_is_killed(self) -> None:
        job = self.running()
        begun = time.monotonic()
        job.process.kill()
        ended = job.finish(LIMIT, begun)
        self.assertEqual((ended.status, ended.left), (-signal.SIGKILL, {}))
        self.assertLess(ended.seconds, LIMIT)

    def test_a_launcher_that_is_told_to_end(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            job = self.running()
            begun = time.monotonic()
            job.process.send_signal(number)
            self.assert_refused(job.finish(LIMIT, begun))

    def test_a_launcher_that_is_told_to_end_gives_ranks_time(self) -> None:
        """To write a checkpoint."""
        saving = 'trap "sleep 2; echo saved on $(uname -n); exit 0" INT TERM; echo ready; while :; do sleep 0.1; done'
        for number in (signal.SIGINT, signal.SIGTERM):
            job = self.start(self.hosts, BOTH, ["sh", "-c", saving])
            job.wait_until_said("ready\\s+ready")
            begun = time.monotonic()
            job.process.send_signal(number)
            self.assert_refused(job.finish(LIMIT, begun), "saved on h1", "saved on h2", status=128 + number)

    def test_a_port_in_use(self) -> None:
        """The only port that the settings leave to the network library, or to MPICH's launcher."""
        settings, said = {
            "openmpi": (
                {"OMPI_MCA_btl_tcp_port_min_v4": f"{PORT}", "OMPI_MCA_btl_tcp_port_range_v4": "1"},
                r"bind\(\) failed: no port available in the range \[34000\.\.34001\]",
            ),
            "mpich": ({"MPIEXEC_PORT_RANGE": f"{PORT}:{PORT}"}, r"no port to bind"),
            "ucx": (
                {"UCX_TCP_PORT_RANGE": f"{PORT}-{PORT}"},
                rf"UCX cannot open the network.*Device is busy; .*UCX_TCP_PORT_RANGE={PORT}-{PORT}",
            ),
        }["ucx" if self.transport == "ucx" else self.kind]
        with self.hosts.listen(HEAD if "MPIEXEC_PORT_RANGE" in settings else "h2", PORT):
            ended = self.start(self.hosts, BOTH, [self.example("hello")], settings).finish(LIMIT)
        self.assert_refused(ended, said)

    # ---- hosts that differ ----

    def test_a_host_that_lacks_the_program(self) -> None:
        for host in (HEAD, "h1"):
            self.hosts.run(host, ["cp", self.example("hello"), "/dev/shm/hello"], check=True, timeout=10)
        ended = self.start(self.hosts, BOTH, ["/dev/shm/hello"]).finish(LIMIT)
        self.assert_refused(ended, r"\bh2\b", r"/dev/shm/hello")

    def test_a_host_with_another_build(self) -> None:
        library = self.other_build()
        script = f'[ "$host" = h1 ] || export LD_LIBRARY_PATH={library.parent}'
        ended = self.start(self.hosts, BOTH, self.by_host(script, self.example("hello"))).finish(LIMIT)
        self.assert_refused(ended, r"different builds of Hiroba: h1 has .*build \w+, and h2 has .*build \w+;")

    def other_build(self) -> pathlib.Path:
        """A copy of the library that says of itself that it is another."""
        folder = shutil.copytree(self.build / "lib", self.folder / "lib", symlinks=True)
        library = (folder / "libhiroba.so").resolve()
        data = bytearray(library.read_bytes())
        note = data.index(b"\3\0\0\0GNU\0")  # type and name of the note; the identifier follows
        data[note + 8] ^= 0xFF
        library.write_bytes(data)
        return library

    def test_hosts_with_different_options(self) -> None:
        script = '[ "$host" = h1 ] || export HIROBA_SPACE=4T'
        ended = self.start(self.hosts, BOTH, self.by_host(script, self.example("hello"))).finish(LIMIT)
        self.assert_refused(ended, r"option space differs: it is 8T on h1 and 4T on h2")

    def test_a_host_that_uses_our_addresses(self) -> None:
        script = f'[ "$host" = h1 ] || export LD_PRELOAD={self.build}/tests/hosts/squatter.so'
        ended = self.start(self.hosts, BOTH, self.by_host(script, self.example("hello"))).finish(LIMIT)
        self.assert_refused(ended, r"host h2 cannot reserve .* mapped among them: 200000000000-200000001000 r--p")

    def test_a_host_with_a_limit(self) -> None:
        for limit, said in (
            ("-n 20", "ulimit -n is 20"),
            ("-v 4194304", "ulimit -v is 4 GiB"),
            ("-f 2048", "ulimit -f is 1 MiB"),  # of 512 B, in sh
        ):
            script = f'[ "$host" = h1 ] || ulimit {limit}'
            ended = self.start(self.hosts, BOTH, self.by_host(script, self.example("hello"))).finish(LIMIT)
            self.assert_refused(ended, said)

    def test_a_program_for_the_other_mpi(self) -> None:
        program = self.program(f"beside_{OTHER[self.kind]}")
        if self.transport != "mpi" or not program.exists():
            self.skipTest(f"transport {self.transport} needs no MPI, or there is no {program.name} in this build")
        ended = self.start(self.hosts, BOTH, [program, "program"]).finish(LIMIT)
        linked = f"the program is linked with {OTHER[self.kind]}, but was started by the launcher of {self.kind}"
        self.assert_refused(ended, linked)

    # ---- ranks that do not do what the others do ----

    def test_a_rank_that_is_late(self) -> None:
        for case, where in (
            ("late_for_barrier", r"in sms_barrier, collective call 2, for rank 1 \(computing after sms_startup\)"),
            ("late_for_lock", r"in sms_lock\(5\), which rank 1 holds"),
        ):
            job = self.start(self.hosts, BOTH, [self.program("misuse"), case], {"HIROBA_TIMEOUT": "3"})
            self.assert_refused(job.finish(LIMIT + 3), r"hiroba: rank 0: waited 3 s \(option timeout\) " + where)

    def test_collective_calls_that_differ(self) -> None:
        for case, first, second in (
            ("unequal_size", r"sms_alloc\(8, 100, 0\) at \S+misuse\.c:\d+", r"sms_alloc\(8, 200, 0\)"),
            ("alloc_or_barrier", r"sms_alloc\(8, 100, 0\) at \S+misuse\.c:\d+", r"sms_barrier"),
        ):
            ended = self.start(self.hosts, BOTH, [self.program("misuse"), case]).finish(LIMIT)
            self.assert_refused(ended, rf"hiroba: .*rank 0 is in {first}, rank 1 is in {second}")


if __name__ == "__main__":
    main(Faults, __doc__.splitlines()[0])
