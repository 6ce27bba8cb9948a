#!/usr/bin/env python3
"""A Slurm of its own on this one machine, to try out what `srun` starts. A library, and a command.

One munged, one controller and a slurmd for each virtual node (n1, n2, ...) run as the present user on loopback ports
that were free, with all they write in one temporary folder; the system's own Slurm and munge, if any, are neither used
nor met. Virtual nodes share the machine's host name, network and processors; a node has its own name
(SLURMD_NODENAME, SLURM_NODEID) and its own folder for temporary files (TMPDIR). Who owns what: `Slurm` owns daemons,
jobs and folder, and ends them all on leaving the `with` block; if the creator dies in whatever way, a keeper process
does it. Entering takes less than a second on an idle machine and is given up after START_S; `run` blocks until the job
has ended or its limit is over. What cannot be had is `Unavailable`, with one sentence that says why.
"""

import argparse
import contextlib
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

SKIPPED = 77  # exit status of what cannot run on this machine
MOST = 16
START_S = 120
END_S = 10
SYSTEM_FOLDERS = "/usr/sbin:/sbin"  # where daemons lie, which are not on every user's path
PACKAGES = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client"}
# What would make a program or command think that it belongs to another job, or to another Slurm.
FOREIGN = ("SLURM", "SBATCH_", "SALLOC_", "PMI_", "PMIX_", "OMPI_COMM_", "HYDI_")
# Debian 12's Slurm (22.05) has two ways to let PMIx clients of several nodes meet; in the other, `tree`, which it also
# mixes in unless told, some leave before all have come, or none ever, and Open MPI crashes or hangs in MPI_Init.
SURE_FENCE = {"SLURM_PMIX_FENCE": "ring"}
LONGEST_FOLDER = 60  # Slurm puts sockets into it, whose paths must be under 108 bytes

# OverSubscribe: a job need not wait until the one before is swept up. config_overrides: more processors than there are.
# TmpFS: the PMIx plug-ins of two nodes on one host would meet in /tmp.
CONFIGURATION = """\
ClusterName=virtual
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
TmpFS={folder}/tmp/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={folder}/prolog
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/linear
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
MpiDefault=none
CommunicationParameters={communication}
ReturnToService=2
KillWait=1
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:64
"""

# Runs before each task; what it prints is the task's environment. Open MPI names its shared memory after the host and
# the rank's number on its node, so two nodes of one host must keep it apart; and it avoids loopback unless told.
PROLOG = """\
#!/bin/sh
own={folder}/tmp/$SLURMD_NODENAME
echo "export TMPDIR=$own"
echo "export OMPI_MCA_btl_vader_backing_directory=$own"
echo "export OMPI_MCA_btl_tcp_if_include=lo"
"""


class Unavailable(RuntimeError):  # noqa: N818 (a state of the machine, not a fault)
    """This machine cannot do it; the text says what is missing."""


class Slurm:
    """A Slurm with `nodes` virtual nodes, each of which takes `cpus` tasks; from one thread at a time."""

    def __init__(self, nodes: int = 2, cpus: int = 16) -> None:
        if not 1 <= nodes <= MOST or not 1 <= cpus <= 1024:
            raise ValueError(
                f"{nodes} nodes with {cpus} processors each: there can be 1 to {MOST} nodes, with 1 to 1024"
            )
        self.nodes = [f"n{i + 1}" for i in range(nodes)]
        self.environment: dict[str, str] = {}  # with it, any Slurm command speaks to this Slurm
        self._cpus = cpus
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._started: list[subprocess.Popen[str]] = []
        self._keeper: subprocess.Popen[str] | None = None
        self._folder = pathlib.Path()

    # ---- beginning and end ----

    def __enter__(self) -> "Slurm":
        require()
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
        self._keeper = start_keeper(self._folder)
        try:
            self._prepare()
            self._begin()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Ends daemons, jobs and commands, and removes the folder. Harmless when that is done."""
        if self._keeper is None:
            return
        complaint, _ = self._keeper.communicate()  # closes its lifeline, and waits for the end of its output
        self._keeper = None
        if complaint:
            raise RuntimeError(complaint.strip())
        for daemon in self._daemons.values():
            daemon.wait()  # it is dead; nobody else collects it
        for command in self._started:
            command.wait()
            for pipe in (command.stdin, command.stdout, command.stderr):
                if pipe:
                    pipe.close()
        self._daemons.clear()
        self._started.clear()

    def _prepare(self) -> None:
        folder = self._folder
        if len(str(folder)) > LONGEST_FOLDER:
            raise Unavailable(
                f"the temporary folder {folder} has {len(str(folder))} characters and Slurm's sockets need it to have "
                f"at most {LONGEST_FOLDER}; set TMPDIR to a shorter one"
            )
        for name in ("munge", "state", *(f"{kind}/{node}" for kind in ("spool", "tmp") for node in self.nodes)):
            (folder / name).mkdir(parents=True)
        folder.chmod(0o711)
        (folder / "munge").chmod(0o711)
        key = folder / "munge/key"
        key.touch(0o600)
        key.write_bytes(os.urandom(64))
        host = socket.gethostname().partition(".")[0]
        ports = free_ports(1 + len(self.nodes))
        nodes = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self._cpus} State=UNKNOWN"
            for name, port in zip(self.nodes, ports[1:], strict=True)
        ]
        values = {"host": host, "user": user_name(), "folder": folder, "communication": communication()}
        (folder / "slurm.conf").write_text(CONFIGURATION.format(ports=ports, nodes="\n".join(nodes), **values))
        (folder / "prolog").write_text(PROLOG.format(folder=folder))
        (folder / "prolog").chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.environment = {**kept, **SURE_FENCE, "SLURM_CONF": str(folder / "slurm.conf")}

    def _begin(self) -> None:
        munge = self._folder / "munge"
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed"}
        options = [f"--{option}={munge / name}" for option, name in files.items()]
        deadline = time.monotonic() + START_S
        self._start_daemon("munged", "--foreground", "--force", "--num-threads=2", *options)
        self._wait("munged makes no socket", (munge / "socket").exists, deadline)
        self._start_daemon("slurmctld", "-D", "-i")
        self._wait("the controller does not answer", lambda: "UP" in self._ask("scontrol", "ping"), deadline)
        for node in self.nodes:
            self._start_daemon("slurmd", "-D", "-N", node)
        ready = ["idle"] * len(self.nodes)
        self._wait("nodes do not come up", lambda: self._ask("sinfo", "-hN", "-o%T").split() == ready, deadline)

    def _start_daemon(self, program: str, *options: str) -> None:
        name = f"{program}-{options[-1]}" if program == "slurmd" else program
        with (self._folder / f"{name}.log").open("wb") as log:
            command = [find(program) or program, *options]
            self._daemons[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment, start_new_session=True
            )

    def _wait(self, failure: str, done: Callable[[], bool], deadline: float) -> None:
        while not done():
            dead = [name for name, daemon in self._daemons.items() if daemon.poll() is not None]
            if dead or time.monotonic() > deadline:
                reason = f"{dead[0]} has ended" if dead else f"{failure} within {START_S} s"
                raise Unavailable(f"Slurm does not start on this machine: {reason}; {self._last_words(dead)}")
            time.sleep(0.05)

    def _last_words(self, names: Sequence[str]) -> str:
        """The last line of each daemon's log."""
        files = [self._folder / f"{name}.log" for name in names or self._daemons]
        logs = {file.stem: file.read_text(errors="replace").strip().splitlines() for file in files}
        return "; ".join(f"{name} said: {lines[-1]}" for name, lines in logs.items() if lines) or "nothing was said"

    def _ask(self, *command: str) -> str:
        """What a command of Slurm says; nothing if the controller does not answer yet."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=5)
            return done.stdout
        return ""

    # ---- use ----

    def run(
        self, arguments: Sequence[str | pathlib.Path], limit: float = 120, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """`srun` with these arguments, and what it printed. TimeoutExpired, and the job is ended, after `limit` s."""
        process = self.start(arguments, env)
        try:
            stdout, stderr = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.terminate()  # srun then ends the job
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def start(
        self, arguments: Sequence[str | pathlib.Path], env: Mapping[str, str] | None = None, shown: bool = False
    ) -> subprocess.Popen[str]:
        """`srun` in the background; its output goes to pipes, or if `shown` to our own standard output and error."""
        kept = None if shown else subprocess.PIPE
        process = subprocess.Popen(
            ["srun", *map(str, arguments)],
            stdin=None if shown else subprocess.DEVNULL,
            stdout=kept,
            stderr=kept,
            text=True,
            env={**self.environment, **(env or {})},
        )
        self._started.append(process)
        return process

    def mpi_plugins(self) -> list[str]:
        """What `srun --mpi` takes here, such as none, pmi2 and pmix."""
        listed = subprocess.run(
            ["srun", "--mpi=list"], env=self.environment, capture_output=True, text=True, check=True, timeout=START_S
        )
        lines = (listed.stdout + listed.stderr).splitlines()
        return [line.strip() for line in lines if line[:1].isspace()]


# ---- what the machine has ----


def find(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}")


def require() -> None:
    missing = [package for program, package in PACKAGES.items() if not find(program)]
    if missing:
        raise Unavailable(f"Slurm is not installed here; missing are Debian's packages: {' '.join(missing)}")


def user_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise Unavailable(f"Slurm needs a user with a name, and user {os.geteuid()} has none on this machine") from None


def communication() -> str:
    """Listen on loopback only. Where there is nothing else, Slurm finds no address unless it also asks for IPv6."""
    try:
        socket.getaddrinfo("127.0.0.1", 0, socket.AF_INET, flags=socket.AI_ADDRCONFIG)
    except socket.gaierror:
        return "NoCtldInAddrAny,NoInAddrAny,EnableIPv6"
    return "NoCtldInAddrAny,NoInAddrAny"


def free_ports(count: int) -> list[int]:
    """Below the range from which the kernel gives ports to those who ask for any, so that they stay free."""
    found: list[int] = []
    for port in random.sample(range(20000, 32000), 200):
        with socket.socket() as trial, contextlib.suppress(OSError):
            trial.bind(("", port))
            found.append(port)
        if len(found) == count:
            return found
    raise Unavailable(f"Slurm needs {count} free ports, and of 200 tried between 20000 and 32000 {len(found)} are free")


# ---- the keeper, which ends everything ----


def mark(folder: pathlib.Path) -> str:
    """What all processes of this Slurm, its jobs included, have in their environment."""
    return f"SLURM_CONF={folder / 'slurm.conf'}"


def processes_of(folder: pathlib.Path) -> set[int]:
    """Those that bear the mark, and what they have started, which may have emptied its environment."""
    found: set[int] = set()
    parents: dict[int, int] = {}
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has just ended, or is somebody else's
            state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
            if state in "ZX":
                continue
            parents[int(process.name)] = int(parent)
            if mark(folder).encode() in (process / "environ").read_bytes().split(b"\0"):
                found.add(int(process.name))
    while below := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= below
    return found


def start_keeper(folder: pathlib.Path) -> subprocess.Popen[str]:
    """It lives until its standard input, the lifeline, is closed, which the kernel does even if we are killed."""
    return subprocess.Popen(
        [sys.executable, "-SB", __file__, "keep", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def keep(folder: pathlib.Path) -> int:
    if os.fork():
        return 0  # whoever kills our creator and its children does not find us
    sys.stdin.read()
    deadline = time.monotonic() + END_S
    nobody = 0
    while nobody < 2 and time.monotonic() < deadline:  # a process that becomes another program has no mark for a moment
        left = processes_of(folder)
        nobody = 0 if left else nobody + 1
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)
    if nobody < 2 or folder.exists():
        print(f"Slurm could not be ended within {END_S} s; processes: {left or 'none'}, folder: {folder}")
    return 0


# ---- the command ----

HELP = """\
A Slurm of its own on this one machine, for the time of one command: virtual nodes n1, n2, ... of the machine's cores.

  slurm.py run -N 2 -n 4 hostname                  4 tasks over 2 nodes
  slurm.py run -N 2 -n 4 --mpi pmix ./program      an Open MPI program
  slurm.py run -N 2 -n 4 --mpi pmi2 ./program      an MPICH program
  slurm.py run -N 3 -- --label printenv SLURMD_NODENAME        what stands behind -- goes to srun

Nothing is set up before or left behind, and no root is needed. The nodes share this machine's host name, network and
files; a program tells them apart by SLURMD_NODENAME or SLURM_NODEID. Ends with the status of srun, or with 77 if Slurm
cannot run on this machine, and a message that says why.
"""


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="slurm.py", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="name", metavar="COMMAND", required=True)
    usage = "slurm.py run [-N NODES] [-n TASKS] [--mpi MPI] [--] [OPTIONS OF SRUN] COMMAND..."
    what = "start Slurm, run a command with srun, stop Slurm"
    run = commands.add_parser("run", usage=usage, description=what, help=what, allow_abbrev=False)
    run.add_argument("-N", dest="nodes", type=int, default=2, help=f"virtual nodes, 1 to {MOST} (default: 2)")
    run.add_argument("-n", dest="tasks", type=int, help="tasks over all nodes (default: one for each node)")
    run.add_argument(
        "--mpi", default="none", help="none, pmi2 or pmix: what the tasks find each other by (default: none)"
    )
    run.add_argument("words", nargs=argparse.REMAINDER, metavar="[--] COMMAND...")
    arguments = parser.parse_args(words)
    if arguments.words[:1] == ["--"]:
        del arguments.words[0]
    if not arguments.words:
        parser.error("which command? For example: slurm.py run -N 2 -n 4 hostname")
    return arguments


def execute(arguments: argparse.Namespace) -> int:
    options = [f"--nodes={arguments.nodes}", f"--ntasks={arguments.tasks or arguments.nodes}", f"--mpi={arguments.mpi}"]
    with Slurm(arguments.nodes) as slurm:
        process = slurm.start([*options, *arguments.words], shown=True)
        while True:
            try:
                status = process.wait()
                return status if status >= 0 else 128 - status
            except KeyboardInterrupt:
                pass  # srun has got it too


def main() -> int:
    if sys.argv[1:2] == ["keep"]:
        return keep(pathlib.Path(sys.argv[2]))
    try:
        return execute(parse(sys.argv[1:]))
    except Unavailable as error:
        print(f"slurm.py: {error}", file=sys.stderr)
        return SKIPPED
    except ValueError as error:
        print(f"slurm.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
