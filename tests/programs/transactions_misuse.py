#!/usr/bin/env python3
"""Runs every case of transactions_misuse.c as misuse.py does.

transactions_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import dataclasses
import os
import pathlib
import re
import sys
from typing import Any

from misuse import Case, main

SOURCE = pathlib.Path(__file__).parent / "transactions_misuse.c"


def place(name: str, mark: str = "first") -> str:
    """The line with the mark in the function of that name, as messages show it."""
    lines = SOURCE.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"static void {name}(void)"))
    line = next(i for i in range(begin, len(lines)) if f"/* {mark} */" in lines[i])
    return rf"transactions_misuse\.c:{line + 1}\b"


def case(name: str, *words: str, **more: Any) -> Case:
    return Case(name, [r"rank \d", *words], binary="transactions_misuse", **({"nodes": 1} | more))


def refused(name: str, call: str) -> Case:
    return case(name, place(name), call, "in the transaction that begins here", "hiroba_tx_irrevocable")


def freed(name: str, verb: str, **more: Any) -> Case:
    return case(name, place(name), verb, rf"in {name} \({place(name, 'second')}\)", f"before in {name}", **more)


def late(name: str, **more: Any) -> Case:
    words = [r"waited 1 s \(option timeout\)", r"the transaction of thread \d+ of rank 0", place(name)]
    return case(name, *words, options=["--timeout", "1"], **more)


def unchanged(**more: Any) -> Case:
    """Nothing that the transaction has read changes after its retry."""
    words = rf"waited 1 s \(option timeout\) in retry in the transaction at \S*{place('retry_for_ever')}"
    return case("retry_for_ever", words, options=["--timeout", "1"], **more)


def planted(name: str, *words: str, settings: dict[str, str], **more: Any) -> Case:
    """With a library of planted.py."""
    plugins = {"HIROBA_PLUGINS": str(pathlib.Path(sys.argv[sys.argv.index("--build") + 1], "lib/hiroba").resolve())}
    found = case(name, *words, settings=plugins | settings | more.pop("network", {}), **more)
    return dataclasses.replace(found, binary="transactions_misuse_planted")


def killed(step: str, **more: Any) -> Case:
    """Rank 0 is killed when it comes to this step of a commit; nobody sees half of it."""
    settings = {"PLANTED_DEATH": f"{step}:40"}
    return planted("killed", "rank 0 .*killed by signal 9", settings=settings, **more)


def half(**more: Any) -> Case:
    """If commits lock nothing, the program finds that it sees half of one."""
    return planted("killed", "half of a commit", settings={"PLANTED_BUGS": "no_locks", "PLANTED_DELAYS": "1"}, **more)


UCX = {"nodes": 2, "settings": {"HIROBA_TRANSPORT": "ucx"}}
CASES = [
    refused("barrier", "sms_barrier"),
    refused("lock", "sms_lock"),
    refused("allocation", "sms_alloc"),
    refused("at_end", "sms_shutdown|the end of the job"),
    refused("fence_inside", "hiroba_tx_fence"),
    refused("locks_across", "sms_unlock"),
    refused("breaks", "sms_barrier"),
    refused("task_inside", "a task"),
    refused("taskwait_inside", "hiroba_taskwait"),
    refused("mfree_inside", "sms_mfree.*hiroba_tx_free waits for the commit"),
    refused("prints", "printf"),
    refused("puts_line", "puts"),
    refused("to_file", "fprintf"),
    refused("writes", "write"),
    refused("opens", "fopen"),
    Case("stream", [r"transactions\.cpp:\d+", "fwrite in the transaction"], binary="transactions", nodes=1),
    Case("may_print", [], good=True, binary="transactions_misuse"),
    freed("load_freed", "uses"),
    freed("store_freed", "uses"),
    freed("store_freed", "uses", nodes=2),
    freed("store_freed_malloc", "uses"),
    freed("read_freed", "uses"),
    freed("free_twice", "frees 0x[0-9a-f]+ twice"),
    freed("free_twice", "frees 0x[0-9a-f]+ twice", nodes=2),
    case("free_array", "of shared memory", "sms_free gives an array back"),
    Case("free_undone", [], good=True, binary="transactions_misuse", nodes=1),
    Case("free_undone", [], good=True, binary="transactions_misuse"),
    case("not_aligned", place("not_aligned"), "8 bytes at 0x[0-9a-f]+, which is not a multiple of 8"),
    case("not_aligned_load", place("not_aligned_load"), "not a multiple of 8", nodes=2),
    case("not_aligned_load", place("not_aligned_load"), "not a multiple of 8", options=["--check"]),
    case("null_load", r"segmentation fault at address \(nil\)", "    null_load .transactions_misuse.c"),
    case("null_store", r"segmentation fault at address \(nil\)", "    null_store .transactions_misuse.c"),
    case("null_store", r"segmentation fault at address \(nil\)", "    null_store .transactions_misuse.c", nodes=2),
    case("returns", r"at most 1000 \(HIROBA_TX_MOST_NESTED\)", "does return or break leave a block"),
    case("exits", "before sms_shutdown"),
    case("commit_twice", "hiroba_tx_commit outside of a transaction"),
    case("negative_rank", "rank -3 does not exist"),
    case("no_rank", "rank 99 does not exist"),
    case("retry_alone", place("retry_alone"), "irrevocable"),
    case("restart_alone", place("restart_alone"), "irrevocable"),
    case("nested", r"at most 1000 \(HIROBA_TX_MOST_NESTED\)"),
    case("far_address", "out of range: index 8589934592"),
    case("far_address", place("far_address"), "out of range: index 8589934592", nodes=2),
    case("far_store", "out of range: index 8589934592"),
    case("far_store", place("far_store"), "out of range: index 8589934592", nodes=2),
    case("retry_nothing", place("retry_nothing"), "has read nothing would wait for ever"),
    unchanged(),
    unchanged(**UCX),
    case("abort_zero", place("abort_zero"), "0 is the value of a commit"),
    case("abort_alone", place("abort_alone"), "irrevocable"),
    case("outside", "hiroba_tx_abort outside of a transaction"),
    late("endless"),
    late("endless", **UCX),
    late("reads_for_ever"),
    late("alone_for_ever"),
    case("killed", "rank 0 .*killed by signal 9"),
    case("killed", "rank 0 .*killed by signal 9", nodes=2),
    *(killed(step) for step in ("lock", "locked", "store", "stored")),
    *(killed(step, nodes=2) for step in ("lock", "locked", "validated", "store", "stored", "version")),
    *(killed(step, nodes=2, network=UCX["settings"]) for step in ("lock", "locked", "validated", "stored", "version")),
    *(half(**more) for more in ({"nodes": 1}, {"nodes": 2})),
    Case("alone_may", [], good=True, binary="transactions_misuse", nodes=1),
]

# What the address sanitizer has functions of its own for.
SANITIZED = {"prints", "puts_line", "to_file", "writes", "opens", "stream", "null_load", "null_store"}

if __name__ == "__main__":
    assert all(re.compile(word) for c in CASES for word in c.words)
    sys.exit(main([c for c in CASES if "SANITIZED" not in os.environ or c.name not in SANITIZED]))
