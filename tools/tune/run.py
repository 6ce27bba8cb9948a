"""Measures which algorithms of Hiroba's collective operations are the fastest for which sizes on this machine, and
writes them to a file that option tuning reads:

    hiroba tune -n 4 --output tuning.txt
    hirobarun --tuning tuning.txt -n 4 ./program          # or HIROBA_TUNING=tuning.txt

Blocks up to lane_copied bytes, and up to lane_combined bytes where they are combined, go by lanes of shared memory.
From `sliced` bytes on, each rank combines a slice of a reduction, instead of each rank the whole."""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))
from hiroba import own_files

Times = dict[str, float]  # seconds by "OPERATION_BYTES"
LANE_MOST = 32 << 10  # what a lane can hold
NEVER = 1 << 40
COPIED, COMBINED = ("allgather", "bcast"), ("allreduce",)
DEFAULTS = {"lane_copied": 8 << 10, "lane_combined": LANE_MOST, "sliced": LANE_MOST + 1}


class TuneError(Exception):
    """What cannot be done, and what to do instead."""


def text_of(settings: Mapping[str, int]) -> str:
    return "".join(f"{name} {value}\n" for name, value in settings.items())


def sizes(times: Times, operation: str) -> list[int]:
    return sorted(int(key.partition("_")[2]) for key in times if key.partition("_")[0] == operation)


def ratio(times: Times, others: Times, operations: tuple[str, ...], size: int) -> float:
    """times / others, as the geometric mean over the operations."""
    logarithms = [math.log(times[f"{name}_{size}"] / others[f"{name}_{size}"]) for name in operations]
    return math.exp(statistics.mean(logarithms))


def last_faster(times: Times, others: Times, operations: tuple[str, ...], most: int) -> int:
    """The largest size up to `most` before which `times` is never slower by more than 5 %; 0 if there is none."""
    found = 0
    for size in sizes(times, operations[0]):
        if size > most or ratio(times, others, operations, size) > 1.05:
            break
        found = size
    return found


def first_faster(times: Times, others: Times, operations: tuple[str, ...]) -> int:
    """The smallest size from which on `times` is never slower by more than 5 %; NEVER if there is none."""
    found = NEVER
    for size in reversed(sizes(times, operations[0])):
        if ratio(times, others, operations, size) > 1.05:
            break
        found = size
    return found


def choose(by_lane: Times, without_lane: Times, by_slices: Times) -> dict[str, int]:
    """by_lane: up to LANE_MOST, without slices; without_lane: every rank combines the whole; by_slices: slices only."""
    best = {key: min(value, by_lane[key]) for key, value in without_lane.items()}
    return {
        "lane_copied": last_faster(by_lane, without_lane, COPIED, LANE_MOST),
        "lane_combined": last_faster(by_lane, without_lane, COMBINED, LANE_MOST),
        "sliced": first_faster(by_slices, best, COMBINED),
    }


def measure(command: list[str], settings: Mapping[str, int], rounds: int) -> Times:
    """Medians over some runs."""
    runs: list[Times] = []
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text_of(settings))
        file.flush()
        for _ in range(rounds):
            environment = os.environ | {"HIROBA_TUNING": file.name}
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
            if done.returncode != 0:
                raise TuneError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
            runs.append(json.loads(done.stdout.strip().splitlines()[-1]))
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def program_of(prefix: Path) -> Path:
    places = [*prefix.glob("lib*/hiroba/collective-times"), prefix / "bench" / "collective" / "collective_private"]
    for place in places:
        if place.exists():
            return place
    raise TuneError(f"this installation has no lib/hiroba/collective-times below {prefix}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="hiroba tune", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=os.cpu_count() or 1, dest="ranks", help="ranks (default: one per CPU)")
    parser.add_argument("--output", type=Path, default=Path("hiroba-tuning.txt"), help="the file to write")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each setting (default: 5)")
    parser.add_argument("--most", type=int, default=1 << 20, help="the largest block, in bytes (default: 1 MiB)")
    parser.add_argument("--build", type=Path, required=True, help=argparse.SUPPRESS)  # where Hiroba is
    options = parser.parse_args()
    if options.ranks < 2 or options.rounds < 1 or options.most < 8:
        parser.error("there must be 2 ranks, a round and a block of 8 bytes at least")
    return options


def main() -> int:
    options = arguments()
    command = [
        *(str(options.build / "bin" / "hirobarun"), "-n", str(options.ranks)),
        *(str(program_of(options.build)), "0.01", str(options.most // 8)),
    ]
    lanes = {"lane_copied": LANE_MOST, "lane_combined": LANE_MOST, "sliced": NEVER}
    settings = {
        "lanes": lanes,
        "no lanes": {"lane_copied": 0, "lane_combined": 0, "sliced": NEVER},
        "slices": {"lane_copied": 0, "lane_combined": 0, "sliced": 1},
    }
    found = {}
    for name, values in settings.items():
        print(f"measuring {name} with {options.ranks} ranks", file=sys.stderr)
        found[name] = measure(command, values, options.rounds)
    chosen = choose(found["lanes"], found["no lanes"], found["slices"])
    print(f"{'allreduce of':>14}  " + "  ".join(f"{name:>10}" for name in found) + "   (us)")
    for size in sizes(found["lanes"], "allreduce"):
        print(f"{size:>12} B  " + "  ".join(f"{1e6 * times[f'allreduce_{size}']:10.2f}" for times in found.values()))
    for name, value in chosen.items():
        print(f"{name:>14}: {'never' if value == NEVER else value}, by default {DEFAULTS[name]}")
    try:
        own_files.write_whole(options.output, f"# hiroba tune -n {options.ranks}\n{text_of(chosen)}", own_files.SHARED)
    except OSError as error:
        raise TuneError(f"cannot write {options.output}: {error.strerror}") from error
    print(f"\nkept in {options.output}; use it by: hirobarun --tuning {options.output} ...")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TuneError as error:
        sys.exit(f"hiroba tune: {error}")
