#!/usr/bin/env python3
"""Pages that an OpenMP program uses at the same place again come without faults, and pages that it uses no more are not
fetched on. By the counters of option stats, so no time is measured.

openmp_regions.py HIROBARUN PROGRAM [OPTION OF HIROBARUN ...]
"""

import re
import subprocess
import sys

RANKS, STEPS, WIDE, NARROW = 3, 48, 16, 4
LEARNING = 24  # executions of a region until a change of what it uses has been noticed


def main() -> int:
    run, program, *options = sys.argv[1:]
    command = [run, "-n", str(RANKS), "--nodes", str(RANKS), "--threads", "1", "--stats", *options, program]
    job = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    rows = re.findall(r"large objects: (\d+) faults, (\d+) pages fetched", job.stderr)
    faults, fetched = (sum(int(row[i]) for row in rows) for i in range(2))
    due = STEPS * (WIDE + NARROW)
    most = RANKS * (due + LEARNING * WIDE)
    print(f"{faults} faults, {fetched} pages fetched of {RANKS * due} that were used")
    if job.returncode != 0 or job.stdout != "ok\n" or len(rows) != RANKS:
        print(job.stdout + job.stderr)
        return 1
    return 0 if faults <= RANKS * LEARNING and fetched <= most else 1


sys.exit(main())
