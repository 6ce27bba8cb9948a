"""Tests of the test hosts. Argument: network, openmpi or mpich. Ends with 77, which ctest shows as skipped, where the
machine has not what it takes."""

import functools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable

import mpi
from hosts import MARK, SKIPPED, Hosts, Unavailable, require
from namespaces import environment, pids, processes_in

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 30

# Prints the seconds that opening a connection takes: one round trip.
CONNECT = """
import socket, sys, time
begin = time.monotonic()
socket.create_connection((sys.argv[1], 514), timeout=3)
print(time.monotonic() - begin)
"""


def outside() -> dict[str, list[str]]:
    """What hosts must not change."""
    return {
        "links": sorted(path.name for path in pathlib.Path("/sys/class/net").iterdir()),
        "namespaces": sorted(
            str(path) for place in ("/run/netns", "/etc/netns") for path in pathlib.Path(place).glob("*")
        ),
        "mounts": [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if "hiroba-host" in line],
        "sessions of MPI": sorted(str(path) for path in pathlib.Path("/tmp").glob("ompi.h*")),
        "hosts file": pathlib.Path("/etc/hosts").read_text().splitlines(),
        "name": [os.uname().nodename],
    }


def marked(tag: str) -> list[int]:
    return [pid for pid in pids() if any(setting.startswith(f"{MARK}={tag}/") for setting in environment(pid))]


def round_trip(hosts: Hosts, source: str, target: str, attempts: int = 3) -> float:
    """The quickest of several: the first also finds the hardware address."""
    done = [
        hosts.run(source, [sys.executable, "-S", "-c", CONNECT, target], capture_output=True, text=True, timeout=LIMIT)
        for _ in range(attempts)
    ]
    if any(one.returncode != 0 for one in done):
        raise ConnectionError(done[-1].stderr)
    return min(float(one.stdout) for one in done)


def busy(hosts: Hosts) -> bool:
    return all(hosts.processes(name) for name in hosts.addresses)


class HostsTest(unittest.TestCase):
    def wait_for(self, condition: Callable[[], bool], limit: float = 5) -> None:
        end = time.monotonic() + limit
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not happen in time")
            time.sleep(0.02)

    def assert_nothing_left(self, hosts: Hosts, namespaces: list[int], before: dict[str, list[str]]) -> None:
        self.assertEqual([pid for namespace in namespaces for pid in processes_in(namespace)], [])
        self.assertEqual(marked(hosts.tag), [])
        self.assertEqual(outside(), before)


class Network(HostsTest):
    def test_hosts_have_names_addresses_and_memory_of_their_own(self) -> None:
        with Hosts(2) as hosts, Hosts(1) as others:
            self.assertEqual(hosts.names, ["h1", "h2"])
            self.assertEqual(hosts.addresses, {"h0": "10.77.0.254", "h1": "10.77.0.1", "h2": "10.77.0.2"})
            for name, address in hosts.addresses.items():
                script = 'uname -n; getent hosts "$(uname -n)"; ls /sys/class/net; ls /dev/shm'
                told = hosts.run(name, ["sh", "-c", script], capture_output=True, text=True, timeout=LIMIT)
                self.assertEqual(told.stdout.split(), [name, address, name, "eth0", "lo"])
            hosts.run("h1", ["touch", "/dev/shm/mine"], check=True, timeout=LIMIT)
            self.assertNotEqual(hosts.run("h2", ["test", "-e", "/dev/shm/mine"], timeout=LIMIT).returncode, 0)
            # Both sets have an h1 at 10.77.0.1, and only one is asked and answers.
            round_trip(hosts, "h2", "h1")
            self.assertEqual(others.traffic("h1")[1], 0)

    def test_commands_have_the_environment_the_folder_and_the_exit_status(self) -> None:
        with Hosts(1) as hosts:
            script = 'echo "$HOSTS_TEST"; pwd; exit 3'
            settings = {**os.environ, "HOSTS_TEST": "a b"}
            done = hosts.run("h1", ["sh", "-c", script], env=settings, stdout=subprocess.PIPE, text=True, timeout=LIMIT)
            self.assertEqual((done.stdout, done.returncode), (f"a b\n{pathlib.Path.cwd()}\n", 3))
            process = subprocess.Popen(hosts.command("h1", ["sleep", "60"]))
            time.sleep(0.2)
            process.terminate()
            self.assertEqual(process.wait(LIMIT), -signal.SIGTERM)

    def test_the_agent_is_like_ssh(self) -> None:
        with Hosts(1) as hosts:
            agent = [mpi.AGENT, "-x", "-o", "BatchMode=yes", "-oPort=22"]
            script = 'cat; echo "$HOSTS_TEST:$TMPDIR" "$(uname -n)"; echo oops >&2; exit 5'
            settings = {**os.environ, "HOSTS_TEST": "not seen over there"}
            done = hosts.run(
                "h0",
                [*agent, "root@h1", *script.split()],
                env=settings,
                input="in\n",
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
            self.assertEqual((done.stdout, done.stderr, done.returncode), ("in\n:/dev/shm h1\n", "oops\n", 5))
            process = subprocess.Popen(hosts.command("h0", [*agent, "h1", "sleep", "60"]), stdin=subprocess.DEVNULL)
            self.wait_for(lambda: bool(hosts.processes("h1")))
            process.kill()
            process.wait(LIMIT)
            time.sleep(0.2)
            self.assertTrue(hosts.processes("h1"), "a remote command must outlive its ssh")

    def test_packets_are_delayed(self) -> None:
        with Hosts(2, delay_ms=20) as hosts:
            self.assertGreater(round_trip(hosts, "h1", "h2"), 0.040)
            self.assertLess(round_trip(hosts, "h1", "h2"), 0.080)
        with Hosts(2) as hosts:
            self.assertLess(round_trip(hosts, "h1", "h2"), 0.030)

    def test_what_is_sent_slowly_and_what_is_lost_arrives_in_the_end(self) -> None:
        megabyte = ["sh", "-c", f"head -c 1000000 /dev/zero | {mpi.AGENT} h2 wc -c"]
        for rate, loss, least, most in ((20, 0, 0.4, 3.0), (0, 2, 0.0, 20.0)):
            with Hosts(2, rate_mbit=rate, loss_percent=loss) as hosts:
                begin = time.monotonic()
                done = hosts.run("h1", megabyte, capture_output=True, text=True, timeout=LIMIT)
                seconds = time.monotonic() - begin
                self.assertEqual(done.stdout.strip(), "1000000", done.stderr)
                self.assertTrue(least < seconds < most, f"rate {rate}, loss {loss}: {seconds:.2f} s")

    def test_a_cut_host_is_silent_until_it_is_mended(self) -> None:
        for delay in (0, 1):  # the kernel's bridge, and our own
            with Hosts(3, delay_ms=delay) as hosts:
                hosts.cut("h2")
                with self.assertRaises(ConnectionError):
                    round_trip(hosts, "h1", "h2", attempts=1)
                round_trip(hosts, "h1", "h3", attempts=1)
                refused = hosts.run("h0", [mpi.AGENT, "h2", "true"], capture_output=True, text=True, timeout=LIMIT)
                self.assertEqual(refused.returncode, 255)
                self.assertIn("cannot reach h2", refused.stderr)
                hosts.mend("h2")
                round_trip(hosts, "h1", "h2", attempts=1)

    def test_nothing_is_left(self) -> None:
        before = outside()
        for accident in ("none", "exception", "hosts killed"):
            hosts = Hosts(2)
            try:
                with hosts:
                    namespaces = list(hosts.namespaces.values())
                    for name in hosts.addresses:
                        subprocess.Popen(hosts.command(name, ["sh", "-c", "trap '' TERM HUP; setsid sleep 60 & wait"]))
                    self.wait_for(functools.partial(busy, hosts))
                    if accident == "exception":
                        raise KeyError
                    if accident == "hosts killed":
                        for pid in hosts.first_processes.values():
                            os.kill(pid, signal.SIGKILL)
            except KeyError:
                pass
            self.assert_nothing_left(hosts, namespaces, before)

    CREATOR = (
        "import subprocess, sys, time\n"
        "from hosts import Hosts\n"
        "with Hosts(2) as hosts:\n"
        "    subprocess.Popen(hosts.command('h1', ['sleep', '60']))\n"
        "    print(hosts.tag, *hosts.namespaces.values(), flush=True)\n"
        "    time.sleep(60)\n"
    )

    def test_nothing_is_left_by_a_creator_that_is_killed(self) -> None:
        before = outside()
        for number in (signal.SIGTERM, signal.SIGKILL):
            creator = subprocess.Popen(
                [sys.executable, "-c", self.CREATOR], cwd=HERE, stdout=subprocess.PIPE, text=True
            )
            assert creator.stdout is not None
            tag, *namespaces = creator.stdout.readline().split()
            creator.send_signal(number)
            creator.wait(LIMIT)
            creator.stdout.close()
            self.wait_for(lambda: not any(processes_in(int(one)) for one in namespaces))  # noqa: B023
            self.assertEqual(marked(tag), [])
        self.assertEqual(outside(), before)

    def test_the_command_line(self) -> None:
        def told(*words: str) -> tuple[int, str, str]:
            done = subprocess.run(
                [sys.executable, HERE / "hosts.py", *words], capture_output=True, text=True, timeout=LIMIT, check=False
            )
            return done.returncode, done.stdout, done.stderr

        status, made, _ = told("up", "2", "--delay", "1")
        self.assertEqual(status, 0)
        tag = made.partition(":")[0]
        try:
            self.assertIn(tag, told("list")[1])
            self.assertEqual(told("--set", tag, "run", "h2", "uname", "-n"), (0, "h2\n", ""))
            self.assertEqual(told("--set", tag, "run", "h1", "sh", "-c", "exit 4")[0], 4)
            status, _, message = told("--set", tag, "run", "h3", "true")
            self.assertEqual((status, message), (2, "hosts: there is no host 'h3'; there are: h0 h1 h2\n"))
            self.assertEqual(told("--set", tag, "cut", "h2")[0], 0)
        finally:
            self.assertEqual(told("--set", tag, "down"), (0, f"{tag}: ended\n", ""))
        self.assertEqual(told("--set", tag, "list")[1].count(tag), 0)
        self.assertEqual(marked(tag), [])


class OverMpi(HostsTest):
    kind = ""
    ends = True
    folder: "tempfile.TemporaryDirectory[str]"
    program: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory(prefix="hosts-test-")
        cls.program = pathlib.Path(cls.folder.name) / "pingpong"
        source = HERE / "pingpong.c"
        subprocess.run([mpi.compiler(cls.kind), "-O2", source, "-o", cls.program], check=True, timeout=LIMIT)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def ping_pong(self, hosts: Hosts, ranks: list[int], rounds: int, size: int) -> tuple[list[str], int]:
        """On which host each rank was, and how many bytes h2 has received meanwhile."""
        before = hosts.traffic("h2")[0]
        with self.start(hosts, ranks, rounds, size) as process:
            told = self.read_until(process, "GB/s")
            received = hosts.traffic("h2")[0] - before
            if not self.ends:
                process.kill()
            status = process.wait(LIMIT)
        self.assertEqual(status, 0 if self.ends else -signal.SIGKILL)
        return re.findall(r"rank \d of 2 on (\w+)", told), received

    def start(self, hosts: Hosts, ranks: list[int], rounds: int, size: int) -> "subprocess.Popen[str]":
        command, settings = hosts.mpirun(self.kind, ranks, [self.program, str(rounds), str(size)])
        return subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def read_until(self, process: "subprocess.Popen[str]", what: str) -> str:
        told = ""
        assert process.stdout is not None
        for line in process.stdout:
            told += line
            if what in line:
                return told
        raise AssertionError(f"the job ended before it said '{what}': {told}")

    def test_messages_cross_the_network(self) -> None:
        with Hosts(2) as hosts:
            places, received = self.ping_pong(hosts, [1, 1], 100, 100_000)
            self.assertEqual(places, ["h1", "h2"])
            self.assertGreater(received, 100 * 100_000)
            self.assertLess(received, 120 * 100_000 + 500_000)

    def test_messages_on_one_host_do_not(self) -> None:
        with Hosts(2) as hosts:
            places, received = self.ping_pong(hosts, [0, 2], 100, 100_000)
            self.assertEqual(places, ["h2", "h2"])
            self.assertLess(received, 1_000_000)

    def test_settings_reach_the_ranks(self) -> None:
        with Hosts(2) as hosts:
            show = ["sh", "-c", 'echo "$(uname -n) $HOSTS_TEST"']
            command, settings = hosts.mpirun(self.kind, [2, 1], show, env={"HOSTS_TEST": "a b"})
            done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=LIMIT, check=True)
            self.assertEqual(sorted(done.stdout.splitlines()), ["h1 a b", "h1 a b", "h2 a b"])

    def test_nothing_is_left_of_a_running_job(self) -> None:
        before = outside()
        with Hosts(2) as hosts:
            namespaces = list(hosts.namespaces.values())
            process = self.start(hosts, [1, 1], 0, 8)
            self.read_until(process, "running")
        process.communicate(timeout=LIMIT)
        self.assert_nothing_left(hosts, namespaces, before)


class OpenMpi(OverMpi):
    kind = "openmpi"

    def test_a_job_ends_when_a_host_is_cut_off(self) -> None:
        with Hosts(2) as hosts:
            process = self.start(hosts, [1, 1], 0, 8)
            self.read_until(process, "running")
            time.sleep(1)  # what the start has said must have arrived: see mpi.py
            hosts.cut("h2")
            self.assertNotEqual(process.wait(15), 0)
            process.communicate()
            self.wait_for(lambda: not any(hosts.processes(name) for name in hosts.names), 15)


class Mpich(OverMpi):
    kind = "mpich"
    ends = False  # MPI_Finalize of Debian's MPICH may hang: see mpi.py


def main() -> None:
    parts: dict[str, type[HostsTest]] = {"network": Network, "openmpi": OpenMpi, "mpich": Mpich}
    part = parts[sys.argv.pop(1)]
    try:
        require()
        if issubclass(part, OverMpi):
            mpi.compiler(part.kind)
    except (Unavailable, FileNotFoundError) as error:
        print(f"SKIPPED: {error}")
        sys.exit(SKIPPED)
    loader = unittest.defaultTestLoader.loadTestsFromTestCase(part)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(loader).wasSuccessful())


if __name__ == "__main__":
    main()
