"""Finds parallel loops that must wait for all ranks before they begin: each rank executes statements outside of
directives at its own pace, so a late one would overwrite results of a loop that others have begun. By the operations
of core/facts.py and the pointers of core/flow.py, this module finds the loops that use shared memory which may have
been written since the last barrier, and inserts a barrier before the loop, before a serial loop around it, or before
the call that leads to it. If that is not certain, there is a barrier; without writes, none. A barrier before
anything but a loop, or a call that certainly leads to one, is inserted only where all ranks come."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.found import Directive
from ..core.operations import Access, Branch, Call, Function, Jump, Key, Loop, Mark, Operation, Region, Set
from ..core.source import Node
from .apart import Apart
from .memory import plain
from .nesting import may_wrap

if TYPE_CHECKING:
    from .part import Smint

# Shared memory, and one of the operations that have written it; or, as ("read", it), that have read it.
Written = dict[Key, Operation]
ANYTHING: Key = ("?", "")
MEETINGS = ("barrier", "sync_all", "sms_sync", "taskwait", "sms_shutdown", "mpc_exit", "xmp_finalize")


@dataclass(eq=False)
class Effect:
    """A function's effects on data written before its call."""

    uses: list[Key] = field(default_factory=list)  # in parallel loops, before the first barrier in it
    writes: list[Key] = field(default_factory=list)  # for certain
    loops: list[Region] = field(default_factory=list)
    meets: bool = False  # there is a barrier on all ways through it
    written: Written = field(default_factory=dict)  # and no barrier since


@dataclass(eq=False)
class Place:
    """A parallel loop, or a call that leads to one, that needs a barrier before it."""

    operation: Region | Call
    cause: Operation
    thing: Key
    called: bool = False  # a loop of a called function: no barrier can stand at the call


class Order:
    def __init__(self, smint: Smint) -> None:
        self.smint, self.flow, self.source = smint, smint.unit.flow, smint.source
        self.memory, self.apart = smint.memory, Apart(smint)
        self.loops: dict[int, tuple[Directive, Node, bool]] = {
            each.loop.start_byte: (each.directive, each.loop, "SMINT_NOWAIT" in each.flags) for each in smint.loops
        }
        self.loops |= {loop.start_byte: (directive, loop, False) for directive, loop in smint.task_loops}
        self.singles = {begin for begin, _, _ in smint.own.singles}
        self.meeting = {d.at for d in smint.found.directives if any(word in d.name.lower() for word in MEETINGS)}
        self.effects: dict[str, Effect | None] = {}
        self.found: dict[int, Place] = {}  # by the begin of the node
        self.hoisted: dict[int, tuple[Node, list[Place]]] = {}

    def insert(self) -> None:
        for name in self.flow.functions:
            self._effect(name)
        for place in self.found.values():
            self._insert(place.operation)
            self._explain(place, "")
        for node, places in self.hoisted.values():
            self._wrap(node.start_byte, node.end_byte)
            for place in places:
                self._explain(place, f" before the loop in line {self.source.place(node.start_byte).line}")

    def _effect(self, name: str) -> Effect:
        if name not in self.flow.functions:
            return Effect()
        if name not in self.effects:
            self.effects[name] = None  # for a recursive call nothing is known yet
            self.effects[name] = Path(self, self.flow.functions[name]).effect()
        return self.effects[name] or Effect()

    # ---- edits ----

    def _insert(self, operation: Region | Call) -> None:
        node = operation.node
        if isinstance(operation, Call):
            self.source.insert(node.start_byte, "(sms_barrier(), ")
            self.source.insert(node.end_byte, ")")
        else:
            directive, loop, _ = self.loops[node.start_byte]
            self._wrap(directive.at, loop.end_byte)

    def _wrap(self, begin: int, end: int) -> None:
        self.source.insert(begin, "{ sms_barrier(); ")
        self.source.insert(end, " }")

    def _explain(self, place: Place, where: str) -> None:
        operation = place.operation
        regions = [operation] if isinstance(operation, Region) else self._effect(operation.name).loops
        if isinstance(operation, Call) and not where:
            where = f" before the call in line {self.source.place(operation.node.start_byte).line}"
        at = self.source.place(place.cause.node.start_byte)
        name = self.memory.name(place.thing, place.cause)
        verb = "read" if isinstance(place.thing, tuple) and place.thing[0] == "read" else "write"
        text = f"  begin: sms_barrier{where}, because ranks may still {verb} `{name}` at {at.file}:{at.line},"
        text += " outside of directives"
        for region in regions:
            directive, _, _ = self.loops[region.node.start_byte]
            self.smint.explain_loop(directive, text)


class Path:
    """Goes through one function."""

    def __init__(self, order: Order, function: Function) -> None:
        self.order, self.function, self.memory = order, function, order.memory
        self.found: dict[int, Place] = {}
        self.exposed = Effect()  # collected where the marker ANYTHING arrives
        self.hoisted: dict[int, tuple[Node, list[Place]]] = {}
        self.breaks: list[Written | None] = []
        self.continues: list[Written | None] = []
        self.ends: Written | None = None
        self.fresh: set[Key] = set()  # arrays that the function itself has allocated, not used before

    def effect(self) -> Effect:
        marked = self._walk({ANYTHING: Operation(self.function.node)})
        exposed, self.exposed = self.exposed, Effect()
        self.found, self.hoisted = {}, {}
        after = self._walk({})
        self.order.found |= self.found
        self.order.hoisted |= self.hoisted
        written = {} if after is None else after
        return Effect(exposed.uses, exposed.writes, exposed.loops, marked is None or ANYTHING not in marked, written)

    def _walk(self, written: Written) -> Written | None:
        self.ends = None
        return merge(self._run(self.function.body, written, self.function.name == "main"), self.ends)

    def _run(self, block: list[Operation], written: Written | None, sure: bool) -> Written | None:
        for operation in block:
            if written is None:
                return None
            if isinstance(operation, Access):
                if operation.operator:
                    written = self._write(operation, operation.objects, written)
                else:
                    written = self._write(operation, self.memory.read_by(operation.objects), written)
            elif isinstance(operation, Set):
                made = {("placed", operation.key)}
                if ("to", ("placed", operation.key)) in operation.value.points:
                    self.fresh |= made
                    written = {thing: by for thing, by in written.items() if plain(thing) not in made}
            elif isinstance(operation, Call):
                written = self._call(operation, written, sure)
            elif isinstance(operation, Branch):
                written = merge(
                    self._run(operation.then, dict(written), False), self._run(operation.other, dict(written), False)
                )
            elif isinstance(operation, Loop):
                written = self._loop(operation, written, sure)
            elif isinstance(operation, Region):
                written = self._region(operation, written)
            elif isinstance(operation, Mark) and operation.at in self.order.meeting:
                written = {}
            elif isinstance(operation, Jump):
                self._jump(operation, written)
                written = None
        return written

    def _write(self, operation: Operation, things: set[Key], written: Written) -> Written:
        shared = sorted((thing for thing in things if self._may_be_shared(thing)), key=self.memory.place)
        return {**dict.fromkeys(shared, operation), **written}

    def _may_be_shared(self, thing: Key) -> bool:
        return any(map(self.memory.may_be_shared, self.memory.of(self.function, {thing})))

    def _jump(self, jump: Jump, written: Written) -> None:
        if jump.kind == "break" and self.breaks:
            self.breaks[-1] = merge(self.breaks[-1], written)
        elif jump.kind == "continue" and self.continues:
            self.continues[-1] = merge(self.continues[-1], written)
        else:
            self.ends = merge(self.ends, written)

    # ---- loops ----

    def _loop(self, loop: Loop, written: Written, sure: bool) -> Written | None:
        if written and not loop.is_switch and may_wrap(self.order.source, loop.node):
            first = self._trial(loop, written, sure)
            always = self._trial(loop, {}, sure) if first else {}
            only = [place for at, place in first.items() if at not in always]
            alike = all(not place.called and self._all_come(place.operation) for place in only)
            if only and alike and ANYTHING not in written:
                self.hoisted[loop.node.start_byte] = (loop.node, only)
                written = {}
        return self._turns(loop, written, sure)

    def _trial(self, loop: Loop, written: Written, sure: bool) -> dict[int, Place]:
        kept = (self.found, self.hoisted, self.ends, self.exposed)
        self.found, self.hoisted, self.exposed = {}, {}, Effect()
        self._turns(loop, written, sure)
        found = dict(self.found)
        for _, places in self.hoisted.values():
            found |= {place.operation.node.start_byte: place for place in places}
        self.found, self.hoisted, self.ends, self.exposed = kept
        return found

    def _turns(self, loop: Loop, written: Written, sure: bool) -> Written | None:
        head, after = written, None
        for _ in range(4):
            self.breaks.append(None)
            if not loop.is_switch:
                self.continues.append(None)
            at: Written | None = dict(head)
            if not loop.body_first:
                at = self._run(loop.test, at, sure)
                after = merge(after, at)
            at = self._run(loop.body, at, sure)
            if not loop.is_switch:
                at = merge(at, self.continues.pop())
            at = self._run(loop.update, at, sure)
            if loop.body_first:
                at = self._run(loop.test, at, sure)
                after = merge(after, at)
            after = merge(after, self.breaks.pop())
            again = merge(head, at)
            if loop.is_switch or again is None or again.keys() == head.keys():
                break
            head = again
        return after

    # ---- places of barriers ----

    def _region(self, region: Region, written: Written) -> Written | None:
        at = region.node.start_byte
        if at in self.order.singles:
            return {}
        if at not in self.order.loops:
            return self._run(region.body, written, False)
        uses, no_wait = self.memory.used_in(region.body), self.order.loops[at][2]
        self._need(region, (uses, self.memory.surely_written_in(region.body)), written, no_wait, [region], not no_wait)
        met = at in self.found
        return written if no_wait and not met else {}

    def _need(
        self,
        operation: Region | Call,
        used: tuple[set[Key], set[Key]],
        written: Written,
        surely: bool,
        loops: list[Region],
        certain: bool,
    ) -> bool:
        """Returns true if this needs a barrier before it; it uses some memory, and certainly writes some. `certain`:
        it has a barrier of all ranks anyway."""
        uses, writes = used
        if ANYTHING in written and any(map(self._may_be_shared, uses)) and not surely:
            self.exposed.uses += uses - self.fresh
            self.exposed.writes += writes - self.fresh
            self.exposed.loops += loops
        here = certain or self._all_come(operation)
        if not here and (not loops or self.order.apart.by_thread(operation)):
            return False
        known, changed = self.memory.of(self.function, uses), self.memory.one_of(self.function, writes)
        for symbol, cause in written.items():
            if symbol == ANYTHING and cause.node.id == self.function.node.id:
                continue
            for thing in self.memory.of(self.function, {symbol}):
                was_read = isinstance(thing, tuple) and thing[0] == "read"
                if thing in changed if was_read else any(self.memory.meet(thing, use, surely) for use in known):
                    for place in [operation] if here else self._waiting(loops):
                        at = place.node.start_byte
                        self.found.setdefault(at, Place(place, cause, thing, called=place is not operation))
                    return here
        return False

    def _waiting(self, loops: list[Region]) -> list[Region]:
        return [region for region in loops if not self.order.loops[region.node.start_byte][2]]

    def _all_come(self, operation: Region | Call) -> bool:
        apart = self.order.apart
        return not (
            self.function.name in apart.functions
            or apart.decides(self.function, operation.guard)
            or apart.by_thread(operation)
        )

    def _call(self, call: Call, written: Written, sure: bool) -> Written | None:
        name = call.name
        if name in self.order.flow.functions:
            effect = self.order._effect(name)
            uses = self.memory.given(call, effect.uses), self.memory.given(call, effect.writes)
            if self._need(call, uses, written, False, effect.loops, effect.meets) or effect.meets:
                written = {}
            return self._write(call, self.memory.given(call, effect.written), written)
        if any(word in name for word in MEETINGS) and self.order.flow.is_ours(name):
            return {}
        things, everywhere = self.memory.written_by(call)
        if everywhere and sure and self._need(call, (self.memory.reached_by(call), set()), written, True, [], False):
            written = {}
        return self._write(call, things | self.memory.read_of(call), written)


def merge(first: Written | None, second: Written | None) -> Written | None:
    if first is None or second is None:
        return first if second is None else second
    return {**second, **first}
