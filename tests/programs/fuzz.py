#!/usr/bin/env python3
"""Random programs (random.c) with new seeds, and now and then the litmus tests, over ever other configurations, until
the time is up or one goes wrong.

    fuzz.py --build BUILD [--seconds N] [--seed S] [--kill]

With --kill, each job loses a rank at a random moment (now and then the launcher itself), and must end within 5 seconds,
with a non-zero status and one message, leaving no process behind. A failure is printed with the command that repeats
it, made simpler where that is easy; the exit status is then 1.
"""

import argparse
import dataclasses
import os
import pathlib
import random
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import jobs

JOB_SECONDS = 300  # a job does some seconds of work; longer is a hang
KILL_SECONDS = 5
WAIT_SECONDS = 120  # --timeout of the job: names who waits for whom when it hangs


@dataclasses.dataclass(frozen=True)
class Setup:
    """One job: how it is started, and what it runs. Nothing or 0 is the default of what it stands for."""

    seed: int
    seeds: int
    ranks: int
    nodes: int
    phases: int = 0
    threads: int = 1
    scale: int = 1
    cache: str = ""
    tracking: str = ""
    twin: str = ""
    twins: int = 0
    readahead: str = ""
    check: str = ""
    chaos: int = 0
    litmus: int = 0  # rounds of litmus tests, instead of random programs

    def command(self, build: pathlib.Path) -> list[str]:
        words: list[object] = [
            build / "bin/hirobarun",
            "-n",
            self.ranks,
            "--nodes",
            self.nodes,
            "--timeout",
            WAIT_SECONDS,
        ]
        for name in ("cache", "tracking", "twin", "readahead", "check", "chaos"):
            if getattr(self, name):
                words += [f"--{name}", getattr(self, name)]
        if self.litmus:
            return [str(word) for word in [*words, build / "tests/programs/litmus", "--rounds", self.litmus]]
        words += [build / "tests/programs/random", "--seed", self.seed, "--seeds", self.seeds]
        for name, default in (("phases", 0), ("threads", 1), ("scale", 1), ("twins", 0)):
            if getattr(self, name) != default:
                words += [f"--{name}", getattr(self, name)]
        return [str(word) for word in words]


def draw_setup(dice: random.Random, seed: int, seeds: int) -> Setup:
    ranks = dice.choice([1, 2, 2, 3, 3, 4, 4, 5])
    tracking = dice.choice(["", "", "uffd-async", "uffd", "mprotect"])
    asynchronous = tracking not in ("uffd", "mprotect")  # what twins at the fetch need
    return Setup(
        seed=seed,
        seeds=seeds,
        ranks=ranks,
        nodes=dice.randint(1, ranks) if dice.random() < 0.5 else ranks,
        threads=dice.choice([1, 1, 2, 4]),
        scale=dice.choice([1, 1, 1, 3]),
        cache=dice.choice(["", "256K", "256K", "1M"]),
        tracking=tracking,
        twin=dice.choice(["", "write", "fetch"]) if asynchronous else "",
        twins=dice.choice([0, 1]) if asynchronous else 0,
        readahead=dice.choice(["", "4K", "64K", "1M"]),
        check=dice.choice(["", "", "yes"]),
        chaos=dice.choice([0, 0, dice.randint(1, 1 << 30)]),
        litmus=dice.choice([0] * 11 + [200]),
    )


def shown(job: jobs.Job) -> str:
    return " ".join(job.command)


def failure_of(setup: Setup, build: pathlib.Path) -> str:
    """What went wrong, or nothing."""
    job = jobs.Job(setup.command(build))
    job.finish(JOB_SECONDS)
    if job.hung:
        return f"not over after {JOB_SECONDS} s\n{job.err}"
    if job.status != 0 or job.messages() != 0 or job.left:
        return f"status {job.status}, left running: {job.left or 'nothing'}\n{job.err}"
    return ""


def failing_seed(setup: Setup, text: str) -> int:
    words = text.replace(",", " ").replace(":", " ").split()
    for i, word in enumerate(words[:-1]):
        if word == "seed" and words[i + 1].isdigit():
            return int(words[i + 1])
    return setup.seed


def simpler(setup: Setup, text: str) -> Iterator[Setup]:
    """Setups that differ from this one in one thing that is easier to look at."""
    if not setup.litmus:
        yield dataclasses.replace(setup, seed=failing_seed(setup, text), seeds=1)
    for phases in (1, 2, 4):
        if setup.phases == 0 and not setup.litmus:
            yield dataclasses.replace(setup, phases=phases)
    for field in dataclasses.fields(setup):
        default: Any = field.default
        optional = default is not dataclasses.MISSING and field.name not in ("phases", "litmus")
        if optional and getattr(setup, field.name) != default:
            yield dataclasses.replace(setup, **{field.name: default})
    for ranks in (2, 3):
        if ranks < setup.ranks:
            yield dataclasses.replace(setup, ranks=ranks, nodes=min(ranks, setup.nodes))


def simplified(setup: Setup, text: str, build: pathlib.Path, until: float) -> tuple[Setup, str]:
    """Takes every simplification with which it still goes wrong, in one of a few tries."""
    for candidate in simpler(setup, text):
        for _ in range(4):
            if time.monotonic() > until:
                return setup, text
            failed = failure_of(candidate, build)
            if failed:
                return simplified(candidate, failed, build, until)
    return setup, text


def soak(setup: Setup, build: pathlib.Path, dice: random.Random) -> str:
    """Kills a part of a job that would run for long. Returns what is wrong with how it ended, or nothing."""
    job = jobs.Job(dataclasses.replace(setup, seeds=10**9, litmus=0).command(build))
    launcher_too = dice.random() < 0.1
    time.sleep(dice.choice([0.02, 0.1, 0.5, 2]) * dice.random())
    ranks = [pid for pid, name in job.processes() if name == "random" and pid != job.process.pid]
    victim = job.process.pid if launcher_too or not ranks else dice.choice(ranks)
    faults = []
    if job.process.poll() is None:
        os.kill(victim, signal.SIGKILL)
    else:
        faults.append("ended before the kill")
    job.finish(KILL_SECONDS)
    if "sms_abort" in job.err:
        faults.append("wrong result")
    if job.hung:
        faults.append(f"not over {KILL_SECONDS} s after a kill")
    if job.left:
        faults.append(f"left running: {job.left}")
    if job.status == 0:
        faults.append("exit status 0")
    if victim != job.process.pid and job.messages() != 1:
        faults.append(f"{job.messages()} messages, expected one")
    if not faults:
        return ""
    return f"{'; '.join(faults)} (killed pid {victim})\n{shown(job)}\n{job.err}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="of the configurations and programs (default: the time)")
    parser.add_argument("--seeds", type=int, default=60, help="programs per job")
    parser.add_argument("--kill", action="store_true", help="kill ranks, and look at how jobs end")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    print(f"fuzz: --seed {seed}, {options.seconds:g} s", flush=True)
    dice = random.Random(seed)
    begun, told, done = time.monotonic(), time.monotonic(), 0
    files = jobs.named_leftovers()
    while time.monotonic() - begun < options.seconds / (3 if "TESTS_ONCE" in os.environ else 1):
        setup = draw_setup(dice, seed + done * options.seeds, options.seeds)
        text = soak(setup, options.build, dice) if options.kill else failure_of(setup, options.build)
        if text:
            print(f"fuzz: WRONG after {done} jobs: {text}\nfuzz: {' '.join(setup.command(options.build))}", flush=True)
            if not options.kill:
                setup, text = simplified(setup, text, options.build, time.monotonic() + 60)
                print(f"fuzz: to repeat: {' '.join(setup.command(options.build))}\n{text}")
            return 1
        done += 1
        if time.monotonic() - told > 10:
            told = time.monotonic()
            print(f"fuzz: {told - begun:.0f} s, {done} jobs, all right", flush=True)
    left = set(jobs.named_leftovers()) - set(files)
    print(f"fuzz: {done} jobs, {f'left in /dev/shm: {left}' if left else 'all right'}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
