"""The work of SMint on one file: its directives in the order of the text, and the common state of loops."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from ..core.declarators import enclosing, outermost
from ..core.declared import ARRAY
from ..core.found import Directive
from ..core.notation import Notation, Part, Unit
from ..core.scopes import Kind
from ..core.source import Node, subscripts, text_of, walk
from . import nesting
from .later import SERIAL, loops_to_settle
from .loops import Access
from .memory import Memory
from .order import Order
from .own import OwnVariables
from .plan import Writer
from .private import PrivateMemory, Summed
from .sums import SharedSums
from .wait import wait_for_tasks


@dataclass
class SharedLoop:
    """A parallel loop whose beginning is written last, because its barrier depends on its surroundings."""

    directive: Directive
    loop: Node
    opening: tuple[str, str]  # before and after the flags
    flags: list[str]
    alone: bool  # accesses only the elements of its subscripts, and has only a barrier at its end
    explained: int  # the line of the explanation about its end
    end: int  # of the text that the beginning replaces


class Smint(Part):
    def __init__(self, notation: Notation, unit: Unit) -> None:
        super().__init__(notation, unit)
        self.loops: list[SharedLoop] = []
        self.summed: list[Summed] = []
        self.task_loops: list[tuple[Directive, Node]] = []  # loops whose tiles are tasks
        self.functions: set[str] = set()  # their functions
        self.tables: dict[int, str] = {}  # private arrays from which their subscripts are read, by declarator
        self.filled: set[int] = set()  # arrays that they write
        self.numbered = 0  # loops that have a number, for the names of their variables

    @cached_property
    def own(self) -> OwnVariables:
        return OwnVariables(self.rewriter, self.declared, self.unit.functions)

    @cached_property
    def called_again(self) -> set[str]:
        """Functions that serial loops of the file call."""
        calls = [node for node in walk(self.rewriter.root) if node.type == "call_expression"]
        return {text_of(c.child_by_field_name("function")) for c in calls if enclosing(c, *SERIAL) is not None}

    def writer(self, loop: Node) -> Writer:
        def is_enumerator(name: str) -> bool:
            denoted = self.unit.scopes.visible(name, loop.start_byte)
            return denoted is not None and denoted.kind is Kind.ENUMERATOR

        def is_sized(access: Access) -> bool:
            if access.base.startswith("(*"):
                return True
            of = self.declared.type_of(subscripts(access.node)[0])
            return of is not None and len(of.derived) == 1

        return Writer(is_enumerator, is_sized)

    def may_be_shared(self, access: Access) -> bool:
        """Returns false for an array of each rank's own."""
        of = self.declared.type_of(subscripts(access.node)[0])
        return access.base.startswith("(*") or of is None or of.derived[:1] != (ARRAY,)

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.unit)

    def first_use(self) -> int | None:
        return next((d.at for d in self.found.declarations if d.directive), super().first_use())

    def starts_by_header(self) -> bool:
        text = self.source.text
        is_main = re.search(r"^[^#\n]*\bmain\b[\s)]*\(", text, re.MULTILINE) is not None
        return is_main and "smint_start" in text and not self.unit.self_starting

    def start(self) -> str:
        return "smint_start" if self.first_use() is not None or self.starts_by_header() else ""

    def rewrite(self) -> None:
        nesting.check(self.rewriter, self.directives, self.statements)
        self.lower(self.directives)
        self._settle()
        self._keep_copies()
        wait_for_tasks(self)
        for each in self.loops:
            before, behind = each.opening
            opening = before + (" | ".join(each.flags) or "0") + behind
            self.source.replace(each.directive.at, each.end, opening)

    def finish(self) -> None:
        if self.loops or self.task_loops:
            Order(self).insert()

    def explain_loop(self, directive: Directive, line: str) -> None:
        """Adds a line to the explanation of a loop by --explain."""
        end = next((each.explained for each in self.loops if each.directive is directive), None)
        if end is not None:
            self.explain[end] = f"{line}\n{self.explain[end]}"
            return
        first = f"{self.source.place(directive.at)}: parallel for"
        at = next((i for i, text in enumerate(self.explain) if text.startswith(first)), None)
        if at is not None:
            self.explain[at] += f"\n{line}"

    def check(self) -> None:
        self.own.warn_of_singles()
        private, sums = PrivateMemory(self), SharedSums(self)
        private.check()
        for summed in self.summed:
            if summed.loop.start_byte in private.regions:
                sums.check_loop(summed, *private.regions[summed.loop.start_byte])

    def _settle(self) -> None:
        """In a serial loop that does nothing else with shared data, barriers are deferred to the next loop."""
        for serial in loops_to_settle(self.rewriter, [each.loop for each in self.loops if each.alone]):
            for each in self.loops:
                if serial.start_byte <= each.loop.start_byte < serial.end_byte:
                    each.flags.append("SMINT_LATER")
                    self.explain[each.explained] = (
                        "  end: the next loop waits for those ranks only that it shares data with;"
                        " all meet behind the loop around it"
                    )
            self.source.insert(serial.start_byte, "{ ")
            self.source.insert(serial.end_byte, " smint_settle(); }")

    def _keep_copies(self) -> None:
        """A loop that leaves accesses to the page cache uses copies of earlier executions; so where a serial loop
        executes it again and again, the other loops there do not drop all copies at their ends."""
        leaving = [each for each in self.loops if not {"SMINT_KNOWN", "SMINT_DROP"} & set(each.flags)]
        for serial in filter(None, (outermost(each.loop, *SERIAL) for each in leaving)):
            for each in self.loops:
                inside = serial.start_byte <= each.loop.start_byte < serial.end_byte
                if inside and "SMINT_DROP" in each.flags and "SMINT_LATER" not in each.flags:
                    each.flags.remove("SMINT_DROP")
                    self.explain[each.explained] = (
                        "  end: sms_barrier, because another loop of the serial loop around uses the page cache"
                    )
