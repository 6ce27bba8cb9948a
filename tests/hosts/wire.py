"""A switch in user space, which delays, loses and slows down what passes. It needs no netem, which many small kernels
lack, and behaves the same everywhere. One thread; `pass_on` blocks until something is readable or due.

Each port is a packet socket on the switch's end of a host's cable. Frames come and go with their offload header
(PACKET_VNET_HDR), so the hosts' large segments pass whole and a Python loop is fast enough.
"""

import contextlib
import heapq
import random
import select
import socket
import time

SOL_PACKET, PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING = 263, 15, 23
SO_RCVBUFFORCE = 33
ETH_P_ALL = 3
HEADER = 10  # bytes of the offload header
LARGEST = HEADER + 14 + 65536
BACKLOG_S = 0.1  # what a slow port queues before it drops, as a switch's buffer does
BURST = 32


class Wire:
    def __init__(self, interfaces: list[str], delay_ms: float, loss_percent: float, rate_mbit: float) -> None:
        self._delay = delay_ms / 1e3
        self._loss = loss_percent / 100
        self._seconds_per_byte = 8e-6 / rate_mbit if rate_mbit else 0.0
        self._random = random.Random()
        self._ports = [_port(interface) for interface in interfaces]
        self._numbers = {port.fileno(): i for i, port in enumerate(self._ports)}
        self._free_at = [0.0] * len(self._ports)  # when a port has sent what was sent before
        self._place: dict[bytes, int] = {}  # hardware address -> port
        self._due: list[tuple[float, int, int, bytes]] = []
        self._count = 0

    def pass_on(self, *others: int) -> list[int]:
        """Works until one of the file descriptors `others` is readable; returns those that are."""
        while True:
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                _, _, to, frame = heapq.heappop(self._due)
                with contextlib.suppress(OSError):  # down, or its queue is full: lost
                    self._ports[to].send(frame)
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            readable, _, _ = select.select([*self._numbers, *others], [], [], wait)
            for number in readable:
                if number in self._numbers:
                    self._receive(self._numbers[number])
            if found := [other for other in others if other in readable]:
                return found

    def _receive(self, source: int) -> None:
        for _ in range(BURST):
            try:
                frame = self._ports[source].recv(LARGEST)
            except OSError:  # nothing more, or the cable has been pulled
                return
            self._place[frame[HEADER + 6 : HEADER + 12]] = source
            target = self._place.get(frame[HEADER : HEADER + 6])
            others = [port for port in range(len(self._ports)) if port != source]
            leaves = self._leaves(source, len(frame) - HEADER)
            for to in others if target is None else [target]:
                if leaves is not None and self._random.random() >= self._loss:
                    self._count += 1  # keeps equal times in order
                    heapq.heappush(self._due, (leaves + self._delay, self._count, to, frame))

    def _leaves(self, port: int, size: int) -> float | None:
        """When a frame has left the port that it came in by, or None if that port has too much to send."""
        now = time.monotonic()
        begin = max(now, self._free_at[port])
        if begin - now > BACKLOG_S:
            return None
        self._free_at[port] = begin + size * self._seconds_per_byte
        return self._free_at[port]


def _port(interface: str) -> socket.socket:
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    port.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    port.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    port.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 25)
    port.bind((interface, ETH_P_ALL))
    port.setblocking(False)
    return port
