"""Finds operations that every rank does although one should: statements outside of directives that change shared
data by its old value, and that read the standard input, which only rank 0 has. flow.py finds the guard of a
statement: a condition that depends on the rank, a directive, a lock, or a changed element that depends on the rank."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .declarators import enclosing
from .operations import RANK, Access, Call
from .shared import Rewriter, Shared
from .source import text_of

if TYPE_CHECKING:
    from .flow import Flow
    from .states import Change

OPTION = "every-rank"  # for -Wno-error=
CONTROLS = ("if_statement", "for_statement", "while_statement", "do_statement", "switch_statement")
LOOPS = ("for_statement", "while_statement", "do_statement")
# Functions that read the standard input: always, or if a word of their arguments names it.
READS = {"scanf", "vscanf", "getchar", "gets", "getchar_unlocked"}
READS_FROM = {"fscanf", "fgets", "fread", "getline", "getdelim", "fgetc", "getc"}


def reads_input(call: Call) -> bool:
    if call.name not in READS_FROM and call.name != "read":
        return call.name in READS
    words = text_of(call.node.child_by_field_name("arguments"))
    if call.name == "read":
        return re.match(r"\(\s*(0|STDIN_FILENO)\s*,", words) is not None
    return re.search(r"\bstdin\b", words) is not None


class EveryRank:
    def __init__(self, rewriter: Rewriter, flow: Flow) -> None:
        self.rewriter, self.flow, self.source = rewriter, flow, rewriter.source

    def check(self) -> None:
        """Reports the operations of main without a condition. Functions that nothing in the file calls belong to
        another file."""
        main = self.flow.summaries.get("main")
        changes = [] if main is None else [
            c for c in main.changes.values()
            if RANK not in c.decided and self.source.of_user(c.operation.node.start_byte)
        ]  # fmt: skip
        changes.sort(key=lambda change: change.operation.node.start_byte)
        told: set[tuple[int, str]] = set()
        for change in changes:
            if isinstance(change.operation, Call):
                self._say_input(change.operation)
                continue
            shared = self._shared(change) if change.operation.again else None
            if shared is not None and (change.function.node.id, shared.name) not in told:
                told.add((change.function.node.id, shared.name))
                self._say_change(change, shared)
        if self.source.errors:
            return
        for change in changes:
            access = change.operation
            if not isinstance(access, Access) or access.root is None or access.again:
                continue
            named = self._shared(change) if access.root in self.flow.shared else None
            if named is not None and (change.function.node.id, named.name) not in told:
                if not named.directive:
                    self._warn_of_scalar(change, named)
                    continue
                told.add((change.function.node.id, named.name))
                self.source.warn(
                    access.node.start_byte,
                    f"every rank writes shared `{named.name}` here",
                    "put `#pragma SMint single` above this statement, or `parallel for` above its loop",
                )

    def _shared(self, change: Change) -> Shared | None:
        """Returns one of the shared arrays that a change certainly modifies."""
        found = [self.flow.declaration(thing) for thing in change.objects]
        known = [shared for shared in found if shared is not None]
        return min(known, key=lambda shared: shared.at) if known and len(known) == len(found) else None

    def _warn_of_scalar(self, change: Change, shared: Shared) -> None:
        """If ranks share work by their numbers, each does the unconditional operations of main."""
        node, function = change.operation.node, change.function
        if function.name == "main" and not enclosing(node, *CONTROLS) and not shared.dims and not shared.codims:
            self.source.warn(
                node.start_byte,
                f"every rank writes shared `{shared.name}` here",
                f"write if (MYPID == 0) {text_of(node)}; and a barrier after it",
            )

    def _say_change(self, change: Change, shared: Shared) -> None:
        node = change.operation.node
        loop = enclosing(node, *LOOPS)
        above = "put `#pragma SMint single` above it, or write if (MYPID == 0) before it"
        if loop is not None and shared.dims:
            above = "put `#pragma SMint parallel for` above its loop"
            if loop.type != "for_statement":
                above = "write its loop as for (i = first; i < end; i++), with `#pragma SMint parallel for` above it"
        self.source.complain(
            OPTION,
            node.start_byte,
            f"every rank does this, so shared `{shared.name}` is changed as many times as there are ranks",
            above,
        )

    def _say_input(self, call: Call) -> None:
        words = text_of(call.node.child_by_field_name("arguments"))
        out = re.findall(r"&\s*([A-Za-z_]\w*)", words) or re.findall(r"^\(\s*([A-Za-z_]\w*)\s*,", words)
        names = ", ".join(dict.fromkeys(out)) or "x"
        self.source.complain(
            OPTION,
            call.node.start_byte,
            f"every rank calls {call.name} here, and only rank 0 has the standard input",
            f"put `#pragma SMint single copy({names})` above this statement: rank 0 reads, and all get its `{names}`",
        )
