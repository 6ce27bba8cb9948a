"""The process that owns one set of hosts: starts them, is the switch between them, and ends them.

It is started by hosts.py in a network namespace of its own, which holds the switch's end of every host's cable and, if
nothing is to be delayed, lost or slowed down, a bridge of the kernel's. When all hosts are there it prints one line.
The set ends with end of file on standard input (the creator has closed it, or died) or SIGTERM; with --stay, SIGTERM
alone. If this process is killed, the hosts see it by their own lifelines. Nothing is ever named in a file system.
"""

import argparse
import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import sys

from namespaces import kill_all_in, namespace_of
from wire import Wire

HERE = pathlib.Path(__file__).resolve().parent
HEAD = "h0"


def addresses(count: int) -> dict[str, str]:
    return {HEAD: "10.77.0.254", **{f"h{i}": f"10.77.0.{i}" for i in range(1, count + 1)}}


class Host:
    def __init__(self, tag: str, name: str, address: str) -> None:
        self.name = name
        unshare = ["unshare", "--net", "--uts", "--ipc", "--mount", "--propagation", "slave"]
        self.process = subprocess.Popen(
            [*unshare, sys.executable, "-S", str(HERE / "hostd.py"), tag, name, address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.namespace: int | None = None

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def expect(self, line: str) -> None:
        assert self.process.stdout is not None
        if self.process.stdout.readline() != line + "\n":
            raise RuntimeError(f"{self.name} did not come up")
        self.namespace = namespace_of(self.process.pid)

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def end(self) -> None:
        try:
            self.process.wait(8)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.namespace is not None:
            kill_all_in(self.namespace)  # nothing, unless the host's first process was killed


def plug_in(hosts: list[Host], bridge: bool, small: bool) -> None:
    """One cable for each host: eth0 in the host, its name here. `small` frames: the loss of one is the loss of one."""
    quiet = pathlib.Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if quiet.exists():
        quiet.write_text("1")
    lines = ["link add switch type bridge", "link set switch up"] if bridge else []
    segments = "gso_max_segs 1" if small else ""
    for host in hosts:
        lines.append(f"link add {host.name} type veth peer name eth0 {segments} netns {host.process.pid}")
        lines.append(f"link set {host.name} up" + (" master switch" if bridge else ""))
    done = subprocess.run(
        ["ip", "-batch", "-"], input="\n".join(lines), capture_output=True, text=True, check=False, timeout=30
    )
    if done.returncode != 0:
        raise RuntimeError(f"ip: {done.stderr.strip()}")


def serve(hosts: list[Host], wire: Wire | None, stay: bool) -> None:
    """Until the set is to end."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's is for the creator
    print(json.dumps({"pid": os.getpid(), "hosts": {host.name: host.process.pid for host in hosts}}), flush=True)
    ends = [reading] if stay else [reading, 0]
    if wire:
        with contextlib.suppress(OSError):
            os.nice(-15)
        wire.pass_on(*ends)
    else:
        select.select(ends, [], [])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tag")
    parser.add_argument("count", type=int)
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--stay", action="store_true")
    arguments = parser.parse_args()
    os.setsid()
    os.chdir("/")
    table = addresses(arguments.count)
    emulated = bool(arguments.delay or arguments.loss or arguments.rate)
    lines = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in table.items())
    hosts: list[Host] = []
    try:
        hosts += [Host(arguments.tag, name, address) for name, address in table.items()]
        for host in hosts:
            host.tell(json.dumps(lines))
        for host in hosts:
            host.expect("made")
        plug_in(hosts, bridge=not emulated, small=bool(arguments.loss or arguments.rate))
        names = [host.name for host in hosts]
        wire = Wire(names, arguments.delay, arguments.loss, arguments.rate) if emulated else None
        for host in hosts:
            host.tell("plugged in")
        for host in hosts:
            host.expect("ready")
        serve(hosts, wire, arguments.stay)
    except (OSError, RuntimeError) as error:
        sys.exit(str(error))
    finally:
        for host in hosts:
            host.hang_up()
        for host in hosts:
            host.end()


if __name__ == "__main__":
    main()
