"""Finds operations that every rank does although one should: statements outside of directives that change shared
data by its old value, and that read the standard input, which only rank 0 has. flow.py finds the guard of a
statement: a condition that depends on the rank, a directive, a lock, or a changed element that depends on the rank.
If that is in another file, a link finds it, by what summaries.py says of each file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .declarators import enclosing
from .flow import is_of_others
from .operations import RANK, Access, Call
from .shared import Rewriter, Shared
from .source import Node, text_of

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
            if not any(atom == RANK or is_of_others(atom) for atom in c.decided)
            and self.source.of_user(c.operation.node.start_byte)
        ]  # fmt: skip
        changes.sort(key=lambda change: change.operation.node.start_byte)
        told: set[tuple[int, str]] = set()
        for change in changes:
            if isinstance(change.operation, Call):
                if reads_input(change.operation):
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
        found = [self.flow.declaration(thing) for thing in self.flow.known(change.objects)]
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
        self.source.complain(OPTION, node.start_byte, changed_by_all(shared.name), share(node, bool(shared.dims)))

    def _say_input(self, call: Call) -> None:
        self.source.complain(OPTION, call.node.start_byte, read_by_all(call), read_on_one(call))

    def for_link(self, change: Change) -> tuple[str, str, str] | None:
        """Returns the kind of a message about a change, its text, if the names of shared arrays are not in it, and the
        remedy; None if there is none."""
        operation = change.operation
        if OPTION in self.source.silenced:
            return None
        kind = "warning" if OPTION in self.source.downgraded else "error"
        if isinstance(operation, Access):
            return (kind, "", share(operation.node, True)) if operation.again else None
        return (kind, read_by_all(operation), read_on_one(operation)) if reads_input(operation) else None


def changed_by_all(name: str) -> str:
    return f"every rank does this, so shared `{name}` is changed as many times as there are ranks"


def share(node: Node, is_array: bool) -> str:
    loop = enclosing(node, *LOOPS)
    if loop is None or not is_array:
        return "put `#pragma SMint single` above it, or write if (MYPID == 0) before it"
    if loop.type != "for_statement":
        return "write its loop as for (i = first; i < end; i++), with `#pragma SMint parallel for` above it"
    return "put `#pragma SMint parallel for` above its loop"


def read_by_all(call: Call) -> str:
    return f"every rank calls {call.name} here, and only rank 0 has the standard input"


def read_on_one(call: Call) -> str:
    words = text_of(call.node.child_by_field_name("arguments"))
    out = re.findall(r"&\s*([A-Za-z_]\w*)", words) or re.findall(r"^\(\s*([A-Za-z_]\w*)\s*,", words)
    names = ", ".join(dict.fromkeys(out)) or "x"
    return f"put `#pragma SMint single copy({names})` above this statement: rank 0 reads, and all get its `{names}`"
