#!/usr/bin/env python3
"""What option check costs a stencil: prints the ratio of its whole time with --check to that without, the median of
three pairs, on one node and on two virtual ones; fails if it is above the limit, or if anything is reported.

    check_overhead.py HIROBARUN STENCIL_SMS
"""

import os
import statistics
import subprocess
import sys
import time

LIMIT = 5
PAIRS = 1 if "TESTS_ONCE" in os.environ else 3
PROGRAM = ["--size", "160", "--steps", "300", "--verify"]  # with fewer, the start of a check counts most


def seconds(words: list[str]) -> float:
    begin = time.monotonic()
    ended = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if ended.returncode != 0 or "check:" in ended.stderr:
        sys.exit(f"check_overhead: {' '.join(words)} ended with {ended.returncode}:\n{ended.stderr}")
    return time.monotonic() - begin


def main() -> None:
    hirobarun, stencil = sys.argv[1:3]
    worst = 0.0
    for nodes in ("1", "2"):
        job = [hirobarun, "-n", "2", "--nodes", nodes, "--threads", "1"]
        pairs = [
            (seconds([*job, "--check", stencil, *PROGRAM]), seconds([*job, stencil, *PROGRAM])) for _ in range(PAIRS)
        ]
        ratio = statistics.median(checked / plain for checked, plain in pairs)
        print(f"check_overhead: stencil of {PROGRAM[1]}^3, {nodes} node(s): {ratio:.2f}, limit {LIMIT}")
        worst = max(worst, ratio)
    sys.exit(0 if worst <= LIMIT else f"check_overhead: above {LIMIT}")


if __name__ == "__main__":
    main()
