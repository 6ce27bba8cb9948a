"""Refuses sums and counts in shared memory whose iterations all change the same element: `total += x[i]` and, for a
parallel loop over i, `y[j] += a[i][j]`. Each rank would lose changes of others. This module uses the pointers of
core/flow.py, and finds by names if an element depends on the iteration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.counted import changes, identifiers
from ..core.declarators import innermost
from ..core.every_rank import OPTION
from ..core.functions import LOCKS
from ..core.operations import RANK, Access, Call, Function, Key, Region, all_in
from ..core.source import Node, text_of, walk
from .private import Summed

if TYPE_CHECKING:
    from .part import Smint

CONDITIONS = ("if_statement", "switch_statement", "conditional_expression")


class SharedSums:
    def __init__(self, smint: Smint) -> None:
        self.source, self.memory, self.own = smint.source, smint.memory, smint.own

    def check_loop(self, summed: Summed, function: Function, region: Region) -> None:
        if summed.independent:
            return
        operations, follows = all_in(region.body), Follows(summed)
        alone = {id(each) for inner in operations if isinstance(inner, Region) for each in all_in(inner.body)}
        if any(isinstance(each, Call) and LOCKS.search(each.name) for each in operations):
            return
        for each in operations:
            if id(each) in alone or (isinstance(each, Access) and not each.operator):
                continue
            if isinstance(each, Access):
                target, things = changes(each.node), self.memory.of(function, each.objects)
                if target is None or (each.root is not None and each.root.name in summed.known):
                    continue
                if not follows.is_same(target[0]) or follows.chooses(each.node, target[0]):
                    continue
                if self._is_sum(each, things, summed.loop):
                    self._say(summed.loop, each.node, target[0])
                elif self._is_unknown(things) and self.own.combines(each.node, summed.loop):
                    self._say_unknown(summed.loop, each.node, target[0])
            elif isinstance(each, Call) and not follows.chooses(each.node):
                self._check_call(each, function, follows)

    def _is_sum(self, access: Access, things: set[Key], body: Node) -> bool:
        return bool(things) and all(map(self.memory.flow.is_shared, things)) and self.own.combines(access.node, body)

    @staticmethod
    def _is_unknown(things: set[Key]) -> bool:
        """Returns true if this is memory of callers in other files."""
        return bool(things) and all(isinstance(thing, tuple) and thing[0] == "?" for thing in things)

    def _check_call(self, call: Call, function: Function, follows: Follows) -> None:
        """Checks what a function of this file adds to, if it is one variable, or that of an argument."""
        summary = self.memory.flow.summaries.get(call.name)
        given = call.node.child_by_field_name("arguments")
        moving = {
            ("p", k) for k, each in enumerate(given.named_children if given is not None else ())
            if follows.differs(each)
        }  # fmt: skip
        for change in summary.changes.values() if summary is not None else ():
            access = change.operation
            if not isinstance(access, Access) or not access.operator or RANK in change.decided:
                continue
            if moving & (change.decided | change.objects):
                continue
            things = self.memory.of(function, self.memory.given(call, change.objects))
            target = changes(access.node)
            one = target is not None and re.fullmatch(r"\*?\s*\w+", text_of(target[0])) is not None
            if target is not None and one and self._is_sum(access, things, change.function.node):
                self._say(change.function.node, access.node, target[0])

    def _clause(self, body: Node, target: Node) -> str:
        found = self.own.combination(body, target)
        return found.clause("name") if found.operator else "reduction(op:name)"

    def _say(self, body: Node, node: Node, target: Node) -> None:
        """`body`: the loop, or the function, that has the change."""
        clause = self._clause(body, target)
        self.source.complain(
            OPTION,
            node.start_byte,
            f"iterations of different ranks change the same element `{text_of(target)}`, and lose changes",
            f"combine in private memory, with {clause}, and assign the result under single, behind the loop",
        )

    def _say_unknown(self, loop: Node, node: Node, target: Node) -> None:
        clause, shown = self._clause(loop, target), " ".join(text_of(target).split())
        self.source.complain(
            OPTION,
            node.start_byte,
            f"each rank gets a `{shown}` of its own iterations only, or, if it is shared, loses changes of others",
            f"combine in a variable of this function, with {clause}, and assign the result behind the loop",
            "warning",
        )


class Follows:
    """Finds the names of a loop's body whose values depend on its variable."""

    def __init__(self, summed: Summed) -> None:
        self.sources: dict[str, set[str]] = {}  # names that a name of the body gets its values from
        self.moved: set[str] = set()  # changed by their old values
        self.variable, self.body = summed.reader.counted.name, summed.reader.body
        for node in walk(self.body):
            change = changes(node)
            if node.type == "init_declarator":
                self._set(node.child_by_field_name("declarator"), node.child_by_field_name("value"))
            elif change is not None and change[0].type == "identifier" and change[1] == "=":
                self._set(change[0], node.child_by_field_name("right"))
            elif change is not None and change[0].type == "identifier":
                self.moved.add(text_of(change[0]))

    def _set(self, target: Node | None, value: Node | None) -> None:
        name = innermost(target) if target is not None else None
        if name is not None and value is not None:
            self.sources.setdefault(text_of(name), set()).update(identifiers(value))

    def differs(self, node: Node) -> bool:
        """Returns true if an expression has different values in different iterations, or may have."""
        if any(each.type == "call_expression" for each in walk(node)):
            return True
        names, waiting = set[str](), identifiers(node)
        while waiting:
            name = waiting.pop()
            if name in (self.variable, "sms_rank") or (name in self.moved and name not in self.sources):
                return True
            names.add(name)
            waiting |= self.sources.get(name, set()) - names
        return False

    def is_same(self, target: Node) -> bool:
        """Returns true if all iterations mean the same element, or one after the other the same elements."""
        return target.type == "identifier" or not self.differs(target)

    def chooses(self, node: Node, target: Node | None = None) -> bool:
        """Returns true if a condition around it may select one iteration, or a rank. That of a maximum compares the
        target."""
        own = text_of(target) if target is not None else ""
        at = node.parent
        while at is not None and at.start_byte >= self.body.start_byte:
            condition = at.child_by_field_name("condition") if at.type in CONDITIONS else None
            text = text_of(condition)
            is_own = own != "" and own in text
            if (
                condition is not None
                and not is_own
                and ("sms_rank" in text or ("=" in text and self.differs(condition)))
            ):
                return True
            at = at.parent
        return False
