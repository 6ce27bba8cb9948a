"""Somebody who knocks at every door: sends random bytes to TCP ports, in several ways, and takes what comes back.

    stranger.py SECONDS MOST-CONNECTIONS SEED ADDRESS:PORT...

Prints how many connections it has made. Ends after so many seconds or connections, whichever is first.
"""

import contextlib
import random
import socket
import struct
import sys
import time

KEPT = 64  # connections that stay open to the end, as those of somebody who waits


def knock(chance: random.Random, target: tuple[str, int]) -> socket.socket:
    connection = socket.create_connection(target, timeout=1)
    with contextlib.suppress(OSError):  # it may hang up at any time
        connection.settimeout(0.02)
        for _ in range(chance.randrange(4)):
            connection.sendall(chance.randbytes(chance.choice((1, 7, 8, 64, 500, 20_000))))
            if chance.random() < 0.3:
                connection.recv(4096)
    if chance.random() < 0.5:  # hangs up by a reset
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return connection


def main() -> None:
    seconds, most, seed = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    targets = [(address, int(port)) for address, _, port in (word.rpartition(":") for word in sys.argv[4:])]
    chance = random.Random(seed)
    kept: list[socket.socket] = []
    made = 0
    end = time.monotonic() + seconds
    while made < most and time.monotonic() < end:
        target = chance.choice(targets)
        try:
            connection = knock(chance, target)
        except OSError:
            continue
        made += 1
        if len(kept) < KEPT and chance.random() < 0.1:
            kept.append(connection)
        else:
            connection.close()
    print(made)


if __name__ == "__main__":
    main()
