#!/usr/bin/env python3
"""Runs every case of transactions_misuse.c as misuse.py does.

transactions_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import pathlib
import re
import sys
from typing import Any

from misuse import Case, main

SOURCE = pathlib.Path(__file__).parent / "transactions_misuse.c"


def place(name: str) -> str:
    """The line with the mark `first` in the function of that name, as messages show it."""
    lines = SOURCE.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"static void {name}(void)"))
    line = next(i for i in range(begin, len(lines)) if "/* first */" in lines[i])
    return rf"\S*transactions_misuse\.c:{line + 1}\b"


def case(name: str, *words: str, **more: Any) -> Case:
    return Case(name, [r"rank \d", *words], binary="transactions_misuse", **({"nodes": 1} | more))


def refused(name: str, call: str) -> Case:
    return case(name, place(name), call, "in the transaction that begins here", "hiroba_tx_irrevocable")


CASES = [
    refused("barrier", "sms_barrier"),
    refused("lock", "sms_lock"),
    refused("allocation", "sms_alloc"),
    refused("at_end", "sms_shutdown|the end of the job"),
    case("nested", r"at most 1000 \(HIROBA_TX_MOST_NESTED\)"),
    case("far_address", "out of range: index 8589934592"),
    case("far_address", place("far_address"), "out of range: index 8589934592", nodes=2),
    case("far_store", "out of range: index 8589934592"),
    case("far_store", place("far_store"), "out of range: index 8589934592", nodes=2),
    case("retry_nothing", place("retry_nothing"), "has read nothing would wait for ever"),
    case("abort_zero", place("abort_zero"), "0 is the value of a commit"),
    case("abort_alone", place("abort_alone"), "irrevocable"),
    case("outside", "hiroba_tx_abort outside of a transaction"),
    case(
        "endless",
        r"waited 1 s \(option timeout\)",
        r"the transaction of thread \d+ of rank 0",
        place("endless"),
        options=["--timeout", "1"],
    ),
    case("killed", "rank 0 .*killed by signal 9"),
    case("killed", "rank 0 .*killed by signal 9", nodes=2),
    Case("alone_may", [], good=True, binary="transactions_misuse", nodes=1),
]

if __name__ == "__main__":
    assert all(re.compile(word) for c in CASES for word in c.words)
    sys.exit(main(CASES))
