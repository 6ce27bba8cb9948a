"""Errors and warnings of a file. All checks report here, and continue; at the end they are printed in the order of
the text, each message once, and at most MOST errors."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

MOST = 20  # errors that are printed


@dataclass(frozen=True)
class Diagnostic:
    kind: str  # error, warning
    at: int
    text: str


@dataclass
class Diagnostics:
    found: list[Diagnostic] = field(default_factory=list)

    def add(self, kind: str, at: int, text: str) -> None:
        new = Diagnostic(kind, at, text)
        if new not in self.found:
            self.found.append(new)

    @property
    def errors(self) -> int:
        return sum(one.kind == "error" for one in self.found)

    def print(self) -> None:
        told = 0
        for one in sorted(self.found, key=lambda one: one.at):
            told += one.kind == "error"
            if told <= MOST:
                print(one.text, file=sys.stderr)
        if told > MOST:
            more = told - MOST
            print(f"hirobacc: {more} more error{'s' * (more > 1)} in this file", file=sys.stderr)
        self.found.clear()
