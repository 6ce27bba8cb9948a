"""The first process of one host: makes the host of fresh namespaces, serves remote commands there, and cleans up.

It is started by switch.py in new namespaces for network, host name, IPC and mounts, which live as long as a process in
them. Standard input is its lifeline: at end of file, whatever the reason, it kills all processes of the host and ends.
Remote commands come from agent.py as three TCP connections (port 514, that of rsh): standard input and output, standard
error, and exit status. So they cross the network like those of ssh, and a host that is cut off cannot be commanded.
"""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading

from namespaces import kill_all_in, namespace_of

PORT = 514
STREAMS = ("io", "err", "status")


def run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=10)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")


def make_host(name: str, hosts: str) -> None:
    socket.sethostname(name)
    quiet = pathlib.Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if quiet.exists():
        quiet.write_text("1")  # so that only what was asked for crosses the network
    # Shared memory is the host's own, and goes with it. /sys must show this host's interfaces.
    run("mount", "-t", "tmpfs", "-o", "mode=1777", "hiroba-host", "/dev/shm")
    run("mount", "-t", "sysfs", "sysfs", "/sys")
    table = pathlib.Path("/dev/shm/hosts")
    table.write_text(hosts)
    run("mount", "--bind", str(table), "/etc/hosts")
    table.unlink()
    run("ip", "link", "set", "lo", "up")


class Commands:
    """Serves each connection in a thread of its own; the last of a command's three starts it."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._waiting: dict[str, dict[str, socket.socket]] = {}
        self._listener = socket.create_server(("", PORT), backlog=128)

    def serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._join, args=(connection,), daemon=True).start()

    def _join(self, connection: socket.socket) -> None:
        connection.settimeout(20)
        header = b""
        # Byte by byte: what follows the line belongs to the command.
        while not header.endswith(b"\n"):
            try:
                byte = connection.recv(1)
            except OSError:
                byte = b""
            if not byte:
                return
            header += byte
        connection.settimeout(None)
        request = json.loads(header)
        with self._lock:
            streams = self._waiting.setdefault(request["session"], {})
            streams[request["stream"]] = connection
            complete = len(streams) == len(STREAMS)
            if complete:
                del self._waiting[request["session"]]
        if complete:
            self._execute(request["command"], streams)

    def _execute(self, command: str, streams: dict[str, socket.socket]) -> None:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=streams["io"].fileno(),
            stdout=streams["io"].fileno(),
            stderr=streams["err"].fileno(),
            env=self._environment,
            cwd=self._environment["HOME"],
            start_new_session=True,
        )
        streams["io"].close()
        streams["err"].close()
        status = process.wait()
        with contextlib.suppress(OSError):  # whoever asked has gone
            streams["status"].sendall(b"%d\n" % (status if status >= 0 else 128 - status))
        streams["status"].close()


def main() -> None:
    tag, name, address = sys.argv[1:4]
    os.setsid()
    os.chdir("/")
    make_host(name, json.loads(sys.stdin.readline()))
    print("made", flush=True)
    sys.stdin.readline()  # eth0 has been plugged in
    run("ip", "address", "add", f"{address}/24", "dev", "eth0")
    run("ip", "link", "set", "eth0", "up")
    # What a command finds is what sshd gives: nothing of the caller's environment. TMPDIR is the host's own, too.
    environment = {
        "HOME": os.environ.get("HOME", "/"),
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": "/bin/sh",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "TMPDIR": "/dev/shm",
        "TEST_HOST": f"{tag}/{name}",
    }
    threading.Thread(target=Commands(environment).serve, daemon=True).start()
    print("ready", flush=True)
    while sys.stdin.readline():
        pass
    namespace = namespace_of("self")
    assert namespace is not None
    kill_all_in(namespace, spare=os.getpid())


if __name__ == "__main__":
    main()
