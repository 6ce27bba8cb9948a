#!/usr/bin/env python3
"""Runs every mistake of transactions_sent.c as misuse.py does, over memory that all ranks reach, and over messages.

transactions_sent.py --build BUILD [--jobs N] [CASE ...]
"""

import sys
from typing import Any

from misuse import Case, main

UCX = {"HIROBA_TRANSPORT": "ucx"}
MISTAKES = {
    "rank": [r"rank 0: hiroba_atomic_on\(2, \.\.\): rank 2 does not exist; ranks are 0 to 1"],
    "large": [r"an argument of 1025 bytes; at most 1024 \(HIROBA_TX_MOST_SENT\)", "pointer to shared memory"],
    "library": ["the function is not one of the program itself"],
    "null": ["the function is not one of the program itself"],
    "collective": ["hiroba_atomic_on: sms_barrier in the transaction that begins here"],
    "nested": ["hiroba_atomic_on: hiroba_atomic_on in the transaction that begins here"],
    "inside": [r"transactions_sent\.c:\d+: hiroba_atomic_on in the transaction that begins here"],
}


def cases(**more: Any) -> list[Case]:
    return [Case(name, words, binary="transactions_sent", **more) for name, words in MISTAKES.items()]


if __name__ == "__main__":
    sys.exit(main([*cases(), *cases(settings=UCX)]))
