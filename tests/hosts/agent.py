#!/usr/bin/env python3
"""Runs a command on another test host, called like ssh: agent.py [OPTIONS] HOST COMMAND...

For `mpirun --mca plm_rsh_agent` and `mpiexec -launcher ssh -launcher-exec`. The words of the command are joined and
given to a shell over there, with an empty environment but for what a login gives. Ends with the command's exit status;
with 255 if the host cannot be reached. As with ssh, the command does not end because this process does, and a host that
is cut off meanwhile is noticed only with -o ServerAliveInterval=SECONDS (and -o ServerAliveCountMax=TIMES, else 3).
Other options are those of ssh, without effect.
"""

import contextlib
import json
import os
import socket
import sys
import threading
import uuid

PORT = 514
STREAMS = ("io", "err", "status")
CONNECT_S = 10  # unless -o ConnectTimeout says else
WITH_VALUE = "bcDEeFIiJLlmOopQRSWw"  # ssh's options that take a value


def parse(words: list[str]) -> tuple[str, str, dict[str, int]]:
    """Host, command, and those of ssh's settings (-o) that are numbers."""
    settings = {}
    while words and words[0].startswith("-"):
        option, value = words[0][:2], words.pop(0)[2:]
        if option[1:] in WITH_VALUE and not value and words:
            value = words.pop(0)
        name, _, number = value.partition("=")
        if option == "-o" and number.isdigit():
            settings[name] = int(number)
    if len(words) < 2:
        sys.exit("usage: agent.py [SSH OPTIONS] HOST COMMAND...")
    return words[0].rpartition("@")[2], " ".join(words[1:]), settings


def watch(connection: socket.socket, settings: dict[str, int]) -> None:
    """Makes the kernel give up when the other side has not answered for so long."""
    interval = settings.get("ServerAliveInterval", 0)
    times = settings.get("ServerAliveCountMax", 3)
    if interval > 0:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, interval)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, interval)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, times)
        # Keep-alive is silent while data waits for an answer.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, interval * times * 1000)


def connect(host: str, command: str, settings: dict[str, int]) -> dict[str, socket.socket]:
    session = uuid.uuid4().hex
    connections = {}
    try:
        for stream in STREAMS:
            limit = settings.get("ConnectTimeout", CONNECT_S)
            connections[stream] = socket.create_connection((host, PORT), timeout=limit)
            header = json.dumps({"session": session, "stream": stream, "command": command})
            connections[stream].sendall(header.encode() + b"\n")
            connections[stream].settimeout(None)
            watch(connections[stream], settings)
    except OSError as error:
        print(f"agent.py: cannot reach {host}: {error.strerror or error}", file=sys.stderr)
        sys.exit(255)
    return connections


def copy(source: int, target: int) -> None:
    """To the end of the source, or until nobody reads the target."""
    with contextlib.suppress(OSError):
        while data := _read(source):
            while data:
                data = data[os.write(target, data) :]


def _read(source: int) -> bytes:
    try:
        return os.read(source, 1 << 16)
    except OSError:
        return b""


def send_input(target: socket.socket) -> None:
    copy(0, target.fileno())
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def main() -> None:
    host, command, settings = parse(sys.argv[1:])
    streams = connect(host, command, settings)
    threading.Thread(target=send_input, args=(streams["io"],), daemon=True).start()
    outputs = [
        threading.Thread(target=copy, args=(streams["io"].fileno(), 1), daemon=True),
        threading.Thread(target=copy, args=(streams["err"].fileno(), 2), daemon=True),
    ]
    for output in outputs:
        output.start()
    status = _read(streams["status"].fileno())
    for output in outputs:
        output.join()
    if not status:
        print(f"agent.py: lost the connection to {host}", file=sys.stderr)
    sys.stdout.flush()
    os._exit(int(status) if status else 255)  # at once: a thread may wait for input


if __name__ == "__main__":
    main()
