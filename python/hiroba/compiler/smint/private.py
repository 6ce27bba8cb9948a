"""Warns about private memory that is written by one rank only, or by each rank for its iterations only: elements and
members of structures, by their names or through pointers. own.py does this for variables; this module uses the
pointers of core/flow.py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.counted import changes, identifiers, is_set, whole
from ..core.declared import POINTER
from ..core.every_rank import OPTION
from ..core.operations import Access, Call, Function, Key, Operation, Region, Set, all_in
from ..core.scopes import Declaration
from ..core.source import Node, base_of, text_of, walk
from .independence import may_repeat

if TYPE_CHECKING:
    from .loops import LoopReader
    from .part import Smint


@dataclass(eq=False)
class Summed:
    """A parallel loop whose sums may be in private memory."""

    loop: Node
    reader: LoopReader
    known: frozenset[str]  # reduced, or private by OpenMP
    independent: bool  # as the program says


def elements_of_iterations(reader: LoopReader) -> set[int]:
    """Returns accesses to elements that belong to one iteration each."""
    made = reader.out.made
    return {a.node.id for a in reader.out.single if any(made.get(k, k) == 0 for form in a.low for k in form.factors)}


class PrivateMemory:
    def __init__(self, smint: Smint) -> None:
        self.smint, self.source, self.memory = smint, smint.source, smint.memory
        self.regions = {
            region.node.start_byte: (function, region)
            for function in smint.unit.flow.functions.values()
            for region in all_in(function.body)
            if isinstance(region, Region)
        }

    def check(self) -> None:
        for summed in self.smint.summed:
            if summed.loop.start_byte in self.regions:
                self._check_loop(summed, *self.regions[summed.loop.start_byte])
        for begin, end, copied in self.smint.own.singles:
            if begin in self.regions:
                self._check_single(end, copied, *self.regions[begin])

    def _private(self, function: Function, objects: set[Key]) -> list[Declaration] | None:
        """Returns the variables that certainly have it; none for memory of malloc. Nothing if it may be shared."""
        things = self.memory.of(function, objects)
        known = [t for t in things if isinstance(t, Declaration) or (isinstance(t, tuple) and t[0] == "own")]
        if not things or len(known) < len(things) or any(map(self.memory.may_be_shared, things)):
            return None
        return [thing for thing in things if isinstance(thing, Declaration)]

    # ---- parallel for ----

    def _check_loop(self, summed: Summed, function: Function, region: Region) -> None:
        begin, end = summed.loop.start_byte, summed.loop.end_byte
        operations = all_in(region.body)
        affine = elements_of_iterations(summed.reader)
        told: set[str] = set()
        for access in operations:
            if not isinstance(access, Access) or not access.operator or access.root is None:
                continue
            change, made = changes(access.node), self._private(function, access.objects)
            if change is None or made is None or access.root.name in summed.known | told:
                continue
            target, _ = change
            outside = all(not begin <= each.at < end for each in [access.root, *made])
            if not outside and made and all(not begin <= each.at < end for each in made):
                outside = self._points_anywhere(access.root, summed.reader.body)
            if not outside or target.id in affine or not self.smint.own.combines(access.node, summed.loop):
                continue
            if self._is_set_before(access, operations) or self._of_a_thread(target):
                continue
            if not any(self._is_used_outside(each, begin, end) for each in made or [access.root]):
                continue
            told.add(access.root.name)
            self._say(summed.loop, access.node, access.root.name, target)
        for call in operations:
            if isinstance(call, Call) and call.name in self.memory.flow.functions:
                self._check_called(self.memory.flow.functions[call.name], summed, [])

    def _check_called(self, function: Function, summed: Summed, around: list[Function]) -> None:
        """Checks what a function of this file adds to variables at file scope, or that are static."""
        around, operations = [*around, function], all_in(function.body)
        told: set[str] = set()
        for each in operations:
            if isinstance(each, Call):
                called = self.memory.flow.functions.get(each.name)
                if called is not None and called not in around:
                    self._check_called(called, summed, around)
                continue
            made = each.root if isinstance(each, Access) else each.key if isinstance(each, Set) else None
            change = changes(each.node)
            if not isinstance(each, Access | Set) or not isinstance(made, Declaration) or change is None:
                continue
            lasting = (not made.block or "static" in made.words) and not self.memory.flow.is_shared(made)
            if not lasting or made.name in summed.known | told or not self.smint.own.combines(each.node, function.node):
                continue
            if self._of_a_thread(change[0]) or (isinstance(each, Access) and self._is_set_before(each, operations)):
                continue
            if self._is_read_outside(made, [summed.loop, *(one.node for one in around)]):
                told.add(made.name)
                self._say(function.node, each.node, made.name, change[0])

    def _is_read_outside(self, made: Declaration, nodes: list[Node]) -> bool:
        """Returns true if the value is used, in place of being set anew, outside of these nodes."""
        for at, each in self.smint.unit.scopes.uses():
            if each.entity is made.entity and not any(n.start_byte <= at < n.end_byte for n in nodes):
                use = self.smint.unit.root.descendant_for_byte_range(at, at + len(made.name))
                if use is not None and not is_set(whole(use)):
                    return True
        return False

    def _points_anywhere(self, root: Declaration, body: Node) -> bool:
        """Returns true if a pointer of the body is `&h[..]` of an element that iterations may share."""
        for node in walk(body):
            if node.type == "init_declarator" and root.at in range(node.start_byte, node.end_byte):
                value = node.child_by_field_name("value")
                return value is not None and value.type == "pointer_expression" and may_repeat(value, body)
        return False

    def _is_set_before(self, access: Access, operations: list[Operation]) -> bool:
        """Returns true if the iteration itself initialises it."""
        for other in operations:
            if other.node.start_byte >= access.node.start_byte:
                continue
            if isinstance(other, Access) and other.operator == "=" and not other.again:
                if other.objects & access.objects:
                    return True
            elif isinstance(other, Call) and any(points & access.objects for points in other.points):
                return True
        return False

    def _of_a_thread(self, target: Node) -> bool:
        """Returns true for h[omp_get_thread_num()][k] and h[MYPID][k]: partial sums that the program adds itself."""
        calls = any(node.type == "call_expression" for node in walk(target))
        return calls or "sms_rank" in identifiers(target)

    def _is_used_outside(self, made: Declaration, begin: int, end: int) -> bool:
        uses = (at for at, each in self.smint.unit.scopes.uses() if each.entity is made)
        return any(not begin <= at < end for at in uses)

    def _say(self, body: Node, node: Node, name: str, target: Node) -> None:
        """`body`: the loop, or the function, that has the change."""
        base = target
        while base.type in ("subscript_expression", "parenthesized_expression"):
            base = base_of(base)
        of = self.smint.declared.type_of(base) if base.type == "identifier" else None
        found = self.smint.own.combination(body, target)
        if not found.operator:
            remedy = found.why
        elif base.type != "identifier":
            clause = found.clause("variable")
            remedy = f"compute it in a variable of its own, with {clause}, and assign it behind the loop"
        elif of is not None and POINTER in of.derived[:1]:
            remedy = f"add {found.clause(f'{name}[0:n]')} to the directive, n its length"
        else:
            remedy = f"add {found.clause(name)} to the directive"
        shown = name if base.type == "identifier" else " ".join(text_of(target).split())
        self.source.complain(OPTION, node.start_byte, f"each rank gets a `{shown}` of its own iterations only", remedy)

    # ---- single ----

    def _check_single(self, end: int, copied: frozenset[str], function: Function, region: Region) -> None:
        begin, told = region.node.start_byte, set()
        for operation in all_in(region.body):
            if isinstance(operation, Access) and operation.operator:
                objects, node = operation.objects, operation.node
            elif isinstance(operation, Call):
                objects, node = self.memory.written_by(operation)[0], operation.node
            else:
                continue
            for made in self._private(function, objects) or []:
                if made.name in copied or made in told or begin <= made.at < end:
                    continue
                said = isinstance(operation, Call) and re.search(rf"&\s*{made.name}\s*[,)]", text_of(node))
                if not said and self.smint.own.used_by_all(function.node, made.name, end):
                    told.add(made)
                    self._say_single(made, node, operation)

    def _say_single(self, made: Declaration, node: Node, operation: Operation) -> None:
        change = changes(node) if isinstance(operation, Access) else None
        shown = " ".join(text_of(change[0]).split()) if change is not None else made.name
        self.source.warn(
            node.start_byte,
            f"only rank 0 sets `{shown}` here, and the other ranks go on with what they had",
            f"say `single copy({made.name})`, or declare `{made.name}` shared, with ::[](0,1), or set it on all",
        )
