#!/usr/bin/env python3
"""Test hosts: several "machines" in one, joined by a network that can be slow, lossy and cut. A library, and a command.

Each host is a set of namespaces: an own network (eth0 10.77.0.N, lo), host name (h1, h2, ...), /etc/hosts, System V
memory and /dev/shm. Processes, users and files are the machine's. h0 is the head, where launchers run: it has a cable
like the others, so that any of them can be cut off from it. Nothing is named outside: no link, no file, no `ip netns`
entry, so sets do not meet, may have equal addresses, and vanish with their last process. Who owns what: `Hosts` owns
the set and ends it on leaving the `with` block; if the creator dies in whatever way, the set ends by itself.
Entering takes about half a second; everything blocks for its own time only. Needs root: what it cannot have is
`Unavailable`, with one sentence that says why.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import mpi
from namespaces import command_line, environment, kill_all_in, namespace_of, pids, processes_in

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77  # exit status of what cannot run on this machine
MOST = 100
HEAD = "h0"
MARK = "TEST_HOST"  # variable by which processes on hosts are found again: SET/HOST
MARKED = re.compile(rf"{MARK}=(hosts-\d+-[0-9a-f]{{6}})/h\d+")


class Unavailable(RuntimeError):  # noqa: N818 (a state of the machine, not a fault)
    """This machine cannot do it; the text says what is missing."""


class Hosts:
    """A set of hosts; from one thread at a time.

    delay_ms is added to every packet on its way from one host to another, so a round trip takes twice as long;
    loss_percent of the packets are lost; rate_mbit is what each host can send.
    """

    def __init__(
        self, count: int, delay_ms: float = 0, loss_percent: float = 0, rate_mbit: float = 0, stay: bool = False
    ) -> None:
        if not 1 <= count <= MOST:
            raise ValueError(f"{count} hosts: there can be 1 to {MOST}")
        if delay_ms < 0 or rate_mbit < 0 or not 0 <= loss_percent < 100:
            raise ValueError("delay and rate must not be negative, and loss must be from 0 to less than 100 percent")
        self._count = count
        self._settings = {"delay": delay_ms, "loss": loss_percent, "rate": rate_mbit}
        self._stay = stay
        self._switch: subprocess.Popen[str] | None = None
        self.first_processes: dict[str, int] = {}
        self.namespaces: dict[str, int] = {}
        self._switch_pid = 0
        self.tag = f"hosts-{os.getpid()}-{os.urandom(3).hex()}"

    # ---- beginning and end ----

    def __enter__(self) -> "Hosts":
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> None:
        require()
        sweep()
        settings = [word for name, value in self._settings.items() if value for word in (f"--{name}", str(value))]
        program = [sys.executable, "-S", str(HERE / "switch.py")]
        command = ["unshare", "--net", *program, self.tag, str(self._count), *settings]
        with tempfile.TemporaryFile("w+") as errors:
            # The pipe to its standard input is the lifeline: the kernel closes it even if we are killed.
            self._switch = subprocess.Popen(
                [*command, "--stay"] if self._stay else command,
                stdin=subprocess.DEVNULL if self._stay else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
            assert self._switch.stdout is not None
            line = self._switch.stdout.readline()
            if not line:
                self.end()
                errors.seek(0)
                why = errors.read().strip().splitlines() or ["its first process ended"]
                raise Unavailable(f"test hosts cannot be made on this machine: {why[-1]}")
        told = json.loads(line)
        self._know(told["pid"], told["hosts"])

    def end(self) -> None:
        """Ends the hosts and all that runs there. Harmless when they have ended."""
        if self._switch is None:
            return
        if self._switch.stdin:
            self._switch.stdin.close()
        elif self._switch.poll() is None:
            self._switch.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._switch.wait(20)
        assert self._switch.stdout is not None
        self._switch.stdout.close()
        self._switch = None
        for namespace in self.namespaces.values():
            kill_all_in(namespace)  # nothing, unless the switch was killed

    def _know(self, switch: int, hosts: dict[str, int]) -> None:
        self._switch_pid = switch
        self.first_processes = hosts
        for name, pid in hosts.items():
            namespace = namespace_of(pid)
            if namespace is None:
                raise Unavailable(f"host {name} has ended")
            self.namespaces[name] = namespace

    @classmethod
    def attach(cls, tag: str | None = None, staying: bool = False) -> "Hosts":
        """The set of that name made by somebody else (if need be, by `up`), or the only one made by `up`."""
        require()
        found = sets() if tag and not staying else sets(staying=True)
        if tag is None and len(found) > 1:
            raise ValueError(f"there are {len(found)} sets of hosts: choose one with --set: {' '.join(sorted(found))}")
        if not found or (tag is not None and tag not in found):
            wanted = "are no hosts" if tag is None else f"is no set of hosts '{tag}'" + staying * " made by `up`"
            raise ValueError(f"there {wanted}; see `hosts list`, or make some: hosts up 2")
        tag = next(iter(found)) if tag is None else tag
        switch, hosts = found[tag]
        attached = cls(max(1, len(hosts) - 1))
        attached.tag = tag
        attached._know(switch, hosts)
        return attached

    # ---- what there is ----

    @property
    def names(self) -> list[str]:
        """h1, h2, ...; without the head."""
        return [name for name in self.first_processes if name != HEAD]

    @property
    def addresses(self) -> dict[str, str]:
        """By name, with the head's."""
        return {name: command_line(pid)[-1] for name, pid in self.first_processes.items()}

    def processes(self, host: str) -> list[int]:
        """The pids of what runs there, but for the host's own first process."""
        return [pid for pid in processes_in(self.namespaces[self._known(host)]) if pid != self.first_processes[host]]

    def traffic(self, host: str) -> tuple[int, int]:
        """Bytes that the host has received and sent over its cable so far."""
        for line in pathlib.Path(f"/proc/{self.first_processes[self._known(host)]}/net/dev").read_text().splitlines():
            name, _, numbers = line.partition(":")
            if name.strip() == "eth0":
                return int(numbers.split()[0]), int(numbers.split()[8])
        raise Unavailable(f"host {host} has no eth0")

    # ---- running things ----

    def command(self, host: str, command: Sequence[str | os.PathLike[str]]) -> list[str]:
        """What to give to subprocess to run a command there, in this folder. It replaces itself by the command, so
        signals reach it and its exit status comes back."""
        enter = [
            "nsenter",
            "--target",
            str(self.first_processes[self._known(host)]),
            "--net",
            "--uts",
            "--ipc",
            "--mount",
            "--",
        ]
        settings = [f"--chdir={pathlib.Path.cwd()}", f"{MARK}={self.tag}/{host}", "TMPDIR=/dev/shm"]
        return [*enter, "env", *settings, *(os.fspath(word) for word in command)]

    def run(self, host: str, command: Sequence[str | os.PathLike[str]], **options: Any) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(host, command), **options)

    def mpirun(
        self,
        kind: str,
        ranks_per_host: Sequence[int],
        command: Sequence[str | os.PathLike[str]],
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> tuple[list[str], dict[str, str]]:
        """The command, and its environment, that runs an MPI job from the head.

        ranks_per_host[0] ranks run on h1, and so on; kind is "openmpi" or "mpich"; `env` reaches the ranks; `options`
        go to mpirun before the command.
        """
        if len(ranks_per_host) > len(self.names):
            raise ValueError(f"ranks for {len(ranks_per_host)} hosts, but there are {len(self.names)}")
        ranks = {name: n for name, n in zip(self.names, ranks_per_host, strict=False) if n > 0}
        try:
            words, settings = mpi.job(kind, ranks, [os.fspath(word) for word in command], dict(env or {}), options)
        except FileNotFoundError as error:
            raise Unavailable(str(error)) from None
        return self.command(HEAD, words), {**os.environ, **settings}

    def listen(self, host: str, port: int) -> socket.socket:
        """A socket of this process that listens on that host."""
        made: list[socket.socket] = []

        def enter_and_listen() -> None:  # in a thread of its own, because only that enters the host's network
            with pathlib.Path(f"/proc/{self.first_processes[self._known(host)]}/ns/net").open() as network:
                if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), 0) != 0:
                    raise OSError(ctypes.get_errno(), f"cannot enter the network of {host}")
            made.append(socket.create_server(("", port)))

        thread = threading.Thread(target=enter_and_listen)
        thread.start()
        thread.join()
        return made[0]

    # ---- accidents ----

    def cut(self, host: str) -> None:
        """Pulls the host's cable at the switch: nothing comes or goes, and nobody is told."""
        self._cable(host, "down")

    def mend(self, host: str) -> None:
        self._cable(host, "up")

    def lose(self, sender: str, receiver: str) -> None:
        """From now on what one host sends to the other is lost on its way, and nobody is told."""
        gone = ["lladdr", "02:00:00:00:ff:ff", "dev", "eth0", "nud", "permanent"]
        self.run(sender, ["ip", "neigh", "replace", self.addresses[receiver], *gone], check=True, timeout=10)

    def refuse(self, sender: str, receiver: str) -> None:
        """From now on the sender knows no route to the receiver."""
        self.run(sender, ["ip", "route", "add", "unreachable", self.addresses[receiver]], check=True, timeout=10)

    def _cable(self, host: str, state: str) -> None:
        self._known(host)
        into_switch = ["nsenter", "--target", str(self._switch_pid), "--net", "--"]
        subprocess.run([*into_switch, "ip", "link", "set", host, state], check=True, timeout=10)

    def _known(self, host: str) -> str:
        if host not in self.first_processes:
            raise ValueError(f"there is no host '{host}'; there are: {' '.join(self.first_processes)}")
        return host


def require() -> None:
    """Refuses what can be seen to be impossible."""
    if os.geteuid() != 0:
        raise Unavailable("test hosts are network namespaces, which only root may make: run it as root, or with sudo")
    for tool, package in (("ip", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux")):
        if shutil.which(tool) is None:
            raise Unavailable(f"test hosts need the program '{tool}': install the package {package}")
    tried = subprocess.run(
        ["unshare", "--net", "--mount", "--uts", "--ipc", "true"], capture_output=True, text=True, check=False
    )
    if tried.returncode != 0:
        raise Unavailable(
            f"this machine lets nobody make namespaces, not even root ({tried.stderr.strip()}): a container?"
        )


def sets(staying: bool = False) -> dict[str, tuple[int, dict[str, int]]]:
    """All sets that have a living switch, or those that outlive their creator: by tag, the switch's pid, and the pid of
    each host's first process. Those of other copies of this folder are among them."""
    switches: dict[str, int] = {}
    hosts: dict[str, dict[str, int]] = {}
    for pid in sorted(pids()):
        match command_line(pid)[2:]:
            case [program, tag, *settings] if program.endswith("hosts/switch.py"):
                if "--stay" in settings or not staying:
                    switches[tag] = pid
            case [program, tag, name, _] if program.endswith("hosts/hostd.py"):
                hosts.setdefault(tag, {})[name] = pid
    return {
        tag: (pid, dict(sorted(hosts.get(tag, {}).items(), key=lambda item: int(item[0][1:]))))
        for tag, pid in switches.items()
    }


def sweep() -> int:
    """Kills what is left of sets whose switch and hosts were all killed; returns how many processes that were."""
    swept = 0
    for pid in pids():
        marks = [found.group(1) for setting in environment(pid) if (found := MARKED.fullmatch(setting))]
        # Sets are looked up after the process was seen: a set is there before its processes, and ends after them.
        if marks and pid != os.getpid() and marks[-1] not in sets():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                swept += 1
    return swept


def down(tag: str) -> None:
    """Ends a set made by somebody else, and waits for its end."""
    switch, hosts = sets()[tag]
    os.kill(switch, signal.SIGTERM)
    end = time.monotonic() + 20
    while time.monotonic() < end and any(command_line(pid) for pid in (switch, *hosts.values())):
        time.sleep(0.02)


if __name__ == "__main__":
    import command

    sys.exit(command.main())
