#!/usr/bin/env python3
"""How endings.c may end, on one node and between nodes: the job's status, the one message, and all that the program has
written before.

endings.py --build BUILD [--wire TRANSPORT[-MPI]]
"""

import argparse
import os
import pathlib
import re
import signal
import sys
import tempfile

from jobs import MESSAGE, Job

LINES = ("a line in a file\n", "handler after the start\n", "handler before the start\n")
LINE = "a line on stdout\n"
STDOUT = LINE + "and its rest"
EARLY = r"rank {last}: the program ended with status {status}.*, by exit or by returning from main, before sms_shutdown"
STACK = r"(\n    .*)*\n    main \(endings\.c:\d+\)"


class Ending:
    def __init__(self, how: str, status: int, message: str = "", file: tuple[str, ...] = (), out: str = STDOUT) -> None:
        self.how, self.status, self.message, self.file, self.out = how, status, message, file, out


def early(how: str, status: int, kept: int, more: str = "") -> Ending:
    message = EARLY.replace("{status}", f"{status}{more}")
    return Ending(how, kept, message, LINES)


def signalled(number: int, message: str) -> Ending:
    return Ending(f"raise={int(number)}", 128 + number, message, out=LINE)


ENDINGS = [
    early("exit=3", 3, 3),
    early("exit=0", 0, 1),
    early("return=1", 1, 1),
    early("exit=256", 256, 1, ", of which the system keeps 0"),
    Ending("after=256", 1, r"rank {last} \(pid \d+\) exited with status 256, of which the system keeps 0", LINES),
    Ending("before=512", 1, r"exited with status 512, of which the system keeps 0", LINES[2:], out=""),
    Ending("misuse", 1, r"sms_unlock\(5\)", LINES[:1]),
    Ending("outside", 139, r"index 1048576, 0 bytes past the end.*" + STACK, LINES[:1]),
    Ending("abort", 134, "abort was called; the program crashed here:" + STACK, out=LINE),
    signalled(signal.SIGABRT, "abort was called; the program crashed here:" + STACK),
    signalled(signal.SIGSEGV, r"has sent itself signal 11 \(Segmentation fault\):" + STACK),
    signalled(signal.SIGBUS, r"has sent itself signal 7 \(Bus error\):" + STACK),
    signalled(signal.SIGFPE, r"has sent itself signal 8 .*:" + STACK),
    signalled(signal.SIGUSR1, r"rank {last} \(pid \d+\) was killed by signal 10"),
    Ending(f"ignored={int(signal.SIGSEGV)}", 0, "", LINES),
    Ending("mapped", 139, r"which is not in a shared array; the program crashed here:" + STACK, out=LINE),
    Ending(
        "calls",
        1,
        r"rank 0 is in sms_free.* at main \(endings\.c:\d+\), rank {last} is in sms_barrier at main \(endings\.c:\d+\)",
    ),
]
HANDLED = [
    Ending(f"handled={int(number)}", 128 + number, message, out=LINE)
    for number, message in (
        (signal.SIGSEGV, r"has sent itself signal 11"),
        (signal.SIGABRT, r"was killed by signal 6"),
        (signal.SIGTERM, r"was killed by signal 15"),
    )
]


def run(build: pathlib.Path, ending: Ending, ranks: int, words: list[str]) -> list[str]:
    """What is wrong with it."""
    program = build / "tests" / "programs" / "endings"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "file")
        start = [build / "bin" / "hirobarun", "-n", ranks, *words] if ranks > 0 else []
        job = Job([*start, program, ending.how, file])
        job.finish(30)
        text = file.read_text() if file.exists() else ""
    wrong = []
    if job.hung:
        wrong.append("did not end")
    if job.status not in (ending.status, ending.status - 128 if ranks > 0 else 128 - ending.status):
        wrong.append(f"status {job.status} instead of {ending.status}")
    message = ending.message.replace("{last}", str(max(ranks, 1) - 1))
    if ending.message and not re.search(message, job.err):
        wrong.append(f"does not say {message}")
    if len(MESSAGE.findall(job.err)) != (1 if ending.message else 0):
        wrong.append("not one message")
    wrong += [f"lost in the file: {line!r}" for line in ending.file if line not in text]
    if "went on" in job.err:
        wrong.append("went on after the crash")
    if ending.out not in job.out:
        wrong.append(f"lost on stdout: {ending.out!r}")
    if "bytes for a line" in job.out:
        wrong.append("lines come in pieces")
    if ending.how.startswith("handled") and "handled\n" not in job.out:
        wrong.append("the program's handler was not called")
    shown = f"{ending.how} on {ranks} ranks {' '.join(words)}"
    return [f"{shown}: {what}\n{job.out}{job.err}" for what in wrong]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--wire")
    given = parser.parse_args()
    if os.geteuid() == 0:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    wrong: list[str] = []
    if given.wire:
        transport, _, mpi = given.wire.partition("-")
        words = ["--nodes", "2", "--transport", transport, *(["--mpi", mpi] if mpi else [])]
        for ending in ENDINGS:
            if ending.how in ("exit=3", "exit=256", "misuse", "abort", "calls", f"raise={int(signal.SIGSEGV)}"):
                # Open MPI kills the other ranks soon after the first one has ended. On a busy machine they may not have
                # flushed by then, so a loss has to come twice.
                attempts = 2 if mpi == "openmpi" else 1
                if mpi == "mpich" and ending.how == "calls":
                    ending.out = LINE  # Hydra gives the other ranks no time, so they lose a line without an end
                found = [run(given.build, ending, 2, words) for _ in range(attempts)]
                wrong += [] if [] in found else found[0]
    else:
        for ending in (*ENDINGS, *HANDLED):
            wrong += run(given.build, ending, 3, ["--nodes", "2"])
        for ending in ENDINGS[:3]:
            wrong += run(given.build, ending, 0, [])
            wrong += run(given.build, ending, 1, [])
            wrong += run(given.build, ending, 2, ["--check"])
    print("\n".join(wrong) or "all well")
    return 1 if wrong else 0


sys.exit(main())
