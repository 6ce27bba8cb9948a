"""Values that differ from rank to rank, and targets of pointers, at each place of a program: a data flow analysis
over the operations of facts.py, function by function, callees first. states.py defines the states."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .functions import ALLOCATES, ENDS, LOCKS, OURS, SAME, TIMES, UNLOCKS
from .operations import (
    RANK,
    RANKS,
    Access,
    Branch,
    Call,
    Function,
    Jump,
    Key,
    Label,
    Loop,
    Operation,
    Region,
    Set,
    Value,
)
from .scopes import Declaration
from .shared import Shared
from .states import NONE, Atoms, Change, State, Summary, join

RANK_ONLY: Atoms = frozenset({RANK})
LEFT, BROKEN, CONTINUED = "left", "broken", "continued"  # conditions by which others have left it
LOCKED = "locked"  # one rank at a time is here
OPENED = "opened"  # a function of another file has been called
OTHERS = ("x", "o")  # atoms that only a link knows
LEAVING = {"return": LEFT, "goto": LEFT, "break": BROKEN, "continue": CONTINUED}
MAX_CHAIN, MAX_ROUNDS = 8, 12


class Flow:
    """`watched`: returns true for calls that are recorded as changes; `common`: variables of several files;
    `addressed`: functions that may be called through pointers."""

    def __init__(self, functions: list[Function], shared: Mapping[Key, Shared], of_system: Callable[[str], bool],
                 watched: Callable[[Call], bool], common: set[Declaration], addressed: set[str]) -> None:  # fmt: skip
        self.functions = {function.name: function for function in functions}
        self.shared, self.of_system, self.watched, self.common = shared, of_system, watched, common
        self.addressed = addressed
        self.members: set[str] = set()  # members of structs that differ from rank to rank
        self.summaries: dict[str, Summary] = {}
        self.in_order: list[Function] = []  # callees first
        before, self.recursive = -1, False
        while before != (before := len(self.members)):
            self.in_order = self._callees_first()
            for function in self.in_order * (3 if self.recursive else 1):
                self.summaries[function.name] = Walk(self, function).summary
            for summary in self.summaries.values():
                self.members |= {key[1] for key, atoms in summary.atoms.items()
                                 if isinstance(key, tuple) and key[0] == "field" and RANK in atoms}  # fmt: skip
        self.pointed = self._targets_of_members()

    def _callees_first(self) -> list[Function]:
        out: dict[str, Function] = {}
        under_way: set[str] = set()
        last_first = [*self.functions.values()][::-1]
        last_first.sort(key=lambda each: each.name in self.addressed)
        stack = [(function, False) for function in last_first]
        while stack:
            function, done = stack.pop()
            if done:
                out[function.name] = function
                under_way.discard(function.name)
            elif function.name in under_way:
                self.recursive = True
            elif function.name not in out:
                under_way.add(function.name)
                stack.append((function, True))
                stack += [(self.functions[c.name], False) for c in function.calls if c.name in self.functions]
        return list(out.values())

    @staticmethod
    def is_ours(name: str) -> bool:
        return name.startswith(OURS)

    def is_foreign(self, name: str) -> bool:
        """Returns true for a function of another file of the program, and for one that is not known."""
        return not (name in self.functions or name in RANKS or self.is_ours(name) or self.of_system(name))

    def is_shared(self, thing: Key) -> bool:
        return thing in self.shared or (isinstance(thing, tuple) and thing[0] in ("placed", "heap"))

    def known(self, objects: Atoms) -> Atoms:
        """Returns the objects with the targets that the file gives to members of structures."""
        out = NONE
        for thing in objects:
            is_member = isinstance(thing, tuple) and len(thing) == 3
            out |= self.pointed.get(thing[2], {thing}) if is_member and isinstance(thing, tuple) else {thing}
        return out

    def _targets_of_members(self) -> dict[str, Atoms]:
        called = {call.name for function in self.functions.values() for call in function.calls} - self.addressed
        out: dict[str, Atoms] = {}
        for name, summary in self.summaries.items():
            for key, points in summary.added.items() if name not in called else ():
                if isinstance(key, tuple) and key[0] == "field":
                    sure = {thing for thing in points if self.is_shared(thing) or isinstance(thing, Declaration)}
                    out[key[1]] = out.get(key[1], NONE) | (sure if len(sure) == len(points) else {("?", "")})
        return out

    def declaration(self, thing: Key) -> Shared | None:
        """Returns the shared declaration of an object; None if it has none."""
        if isinstance(thing, tuple):
            made = thing[1] if thing[0] == "placed" else None
            return Shared(made.name, "", made.at, 1, [], made.begin, made.end) if made is not None else None
        return self.shared.get(thing)


class Walk:
    """Iterates over one function until nothing new is found."""

    def __init__(self, flow: Flow, function: Function) -> None:
        self.flow, self.function, self.summary = flow, function, Summary()
        self.own = {made.entity: k for k, made in enumerate(function.parameters) if made is not None}
        self.jumps: dict[str, Atoms] = {}
        self.loops: list[tuple[bool, dict[str, list[State]]]] = []  # true for a switch; leaving states
        self.labels: dict[str, State | None] = {}
        self.scattered: Atoms = NONE  # the atoms of conditions for jumps in this function
        start = State({made: frozenset({("p", k)}) for made, k in self.own.items()},
                      {made: frozenset({("p", k)}) for made, k in self.own.items()})  # fmt: skip
        self._until_stable(start)

    def _until_stable(self, start: State) -> None:
        for _ in range(MAX_ROUNDS):
            before, scattered = dict(self.labels), self.scattered
            end = self._run(self.function.body, start.copy(), self.scattered)
            if end is not None:
                self._end(end)
            if not self.function.labels or (before == self.labels and scattered == self.scattered):
                return

    def _end(self, state: State) -> None:
        self.summary.locks |= LOCKED in state.atoms
        self.summary.opens |= OPENED in state.atoms

    # ---- values ----

    def default(self, key: Key, points: bool) -> Atoms:
        if isinstance(key, Declaration):
            if key in self.own:
                return frozenset({("p", self.own[key])})
            return NONE if key.block or key in self.flow.shared else frozenset({("g", key)})
        if isinstance(key, tuple) and key[0] in ("p", "g") and not points:
            return frozenset({key})
        return NONE

    def atoms_of(self, key: Key, state: State) -> Atoms:
        if key == RANK:
            return RANK_ONLY
        if isinstance(key, tuple):
            if key[0] == "inside":
                return self._inside(self.objects(Value(points=frozenset({(key[1], key[2])})), state), state)
            if key[0] == "field":
                return RANK_ONLY if key[1] in self.flow.members else state.atoms.get(key, NONE)
            if key[0] == "x":
                return frozenset({key})
        found = state.atoms.get(key)
        return self._opened(key, state) | (self.default(key, False) if found is None else found)

    def _opened(self, key: Key, state: State) -> Atoms:
        return frozenset({("o", key)}) if OPENED in state.atoms and key in self.flow.common else NONE

    def _inside(self, objects: Atoms, state: State) -> Atoms:
        """Returns the atoms of the contents of objects. All ranks read the same in shared arrays."""
        out = NONE
        for thing in objects:
            if not self.flow.is_shared(thing):
                found = state.atoms.get(thing)
                out |= self._opened(thing, state) | (self.default(thing, False) if found is None else found)
        return out

    def atoms(self, value: Value, state: State) -> Atoms:
        out = NONE
        for key in value.uses:
            out |= self.atoms_of(key, state)
        return out

    def objects(self, value: Value, state: State) -> Atoms:
        out = NONE
        for kind, key in value.points:
            if kind == "to":
                out |= {key}
            elif kind == "unknown":
                out |= {("?", *key) if isinstance(key, tuple) else ("?", key)}
            elif kind == "in" and isinstance(key, tuple):
                out |= self._pointed(key[0], key[1], state)
            else:
                known = state.points.get(("call", key) if kind == "call" else key)
                out |= self.default(key, True) if known is None else known
        return out

    def _pointed(self, point: tuple[str, Key], base: str, state: State) -> Atoms:
        """Returns the targets of a pointer in memory."""
        out = NONE
        for thing in self.objects(Value(points=frozenset({point})), state):
            known = state.points.get(thing)
            out |= self.default(thing, True) if known is None else known
        return out or frozenset({("?", base)})

    def set(self, key: Key, atoms: Atoms, points: Atoms, state: State, strong: bool) -> None:
        for table, new, of_points in ((state.atoms, atoms, False), (state.points, points, True)):
            if not strong:
                old = table.get(key)
                new = new | (self.default(key, of_points) if old is None else old)
            if new or self.default(key, of_points):
                table[key] = new
            else:
                table.pop(key, None)
        if isinstance(key, Declaration) and not key.block:
            self._add(key, atoms, points)

    def _add(self, key: Key, atoms: Atoms, points: Atoms) -> None:
        """Adds to the effects that a caller gets."""
        for table, new in ((self.summary.atoms, atoms), (self.summary.added, points)):
            if new:
                table[key] = table.get(key, NONE) | new

    def guard(self, state: State, guard: Atoms) -> Atoms:
        for key in (LEFT, BROKEN, CONTINUED, LOCKED):
            guard |= state.atoms.get(key, NONE)
        return guard

    # ---- operations ----

    def _run(self, block: list[Operation], state: State | None, guard: Atoms) -> State | None:
        for operation in block:
            if isinstance(operation, Label):
                state = join(state, self.labels.get(operation.label), self.default)
            if state is None:
                continue
            if isinstance(operation, Set):
                atoms = self.atoms(operation.value, state) | self.guard(state, guard)
                points = self.objects(operation.value, state)
                self.set(operation.key, atoms, points, state, operation.strong)
            elif isinstance(operation, Access):
                self._access(operation, state, guard)
            elif isinstance(operation, Call):
                state = self._call(operation, state, guard)
            elif isinstance(operation, Branch):
                state = self._branch(operation, state, guard)
            elif isinstance(operation, Loop):
                state = self._loop(operation, state, guard)
            elif isinstance(operation, Region):
                state = self._region(operation, state, guard)
            elif isinstance(operation, Jump):
                self._jump(operation, state, guard)
                state = None
        return state

    def _region(self, region: Region, state: State, guard: Atoms) -> State | None:
        region.guard |= self.guard(state, guard)
        after = self._run(region.body, state, guard | RANK_ONLY)
        if after is not None:
            for key in region.same:
                self.set(key, guard, after.points.get(key, NONE), after, True)
        return after

    def _access(self, access: Access, state: State, guard: Atoms) -> None:
        objects = self.objects(access.target, state)
        access.objects |= objects
        if not access.operator:
            return
        decided = self.guard(state, guard)
        atoms = self.atoms(access.value, state) | self.atoms(access.target, state) | decided
        points = self.objects(access.value, state)
        if access.member:
            self.set(("field", access.member), atoms, NONE, state, False)
            self._add(("field", access.member), atoms, points)
        for thing in objects:
            if not self.flow.is_shared(thing) and not access.member:
                self.set(thing, atoms, points, state, False)
                if isinstance(thing, tuple) and thing[0] in ("p", "g"):
                    self._add(thing, atoms, points)
        if any(isinstance(thing, tuple) and thing[0] == "?" for thing in objects) and access.root is not None:
            self.set(access.root, self.atoms_of(access.root, state) | atoms,
                     state.points.get(access.root, NONE) or self.default(access.root, True), state, True)  # fmt: skip
        who = decided | self.atoms(access.target, state)
        self._changed((access.node.id,), Change(access, objects, who, self.function))

    def _changed(self, key: tuple[int, ...], change: Change) -> None:
        old = self.summary.changes.setdefault(key, change)
        old.objects, old.decided = old.objects | change.objects, old.decided | change.decided
        for mine, others in ((old.given, change.given), (old.points, change.points)):
            mine[:] = [one | other for one, other in zip(mine, others, strict=True)]

    def _branch(self, branch: Branch, state: State, guard: Atoms) -> State | None:
        inner = guard | self.atoms(branch.condition, state)
        outer, self.jumps = self.jumps, {}
        true = frozenset({("true", self.own[branch.tested])}) if branch.tested in self.own else NONE
        ends = [self._run(branch.then, state.copy(), inner | true), self._run(branch.other, state.copy(), inner)]
        after, jumps = join(ends[0], ends[1], self.default), self.jumps
        self.jumps = outer
        for kind, atoms in jumps.items():
            self.jumps[kind] = self.jumps.get(kind, NONE) | atoms
            if after is not None and atoms:
                left = LEAVING[kind]
                after.atoms[left] = after.atoms.get(left, NONE) | atoms
        return after

    def _loop(self, loop: Loop, state: State, guard: Atoms) -> State | None:
        entry = {key: state.atoms.get(key, NONE) for key in (BROKEN, CONTINUED)}
        head, inner = state, guard
        for _ in range(MAX_ROUNDS):
            leaving: dict[str, list[State]] = {"break": [], "continue": []}
            self.loops.append((loop.is_switch, leaving))
            before = inner
            ends: list[State] = []
            at: State | None = head.copy()
            if not loop.body_first and at is not None:
                at = self._run(loop.test, at, inner)
                if at is not None:
                    inner |= self.atoms(loop.condition, at)
                    ends.append(at.copy())
            at = self._run(loop.body, at, inner)
            for other in leaving["continue"]:
                at = join(at, other, self.default)
            if at is not None:
                self._restore(at, CONTINUED, entry)
            at = self._run(loop.update, at, inner)
            if loop.body_first:
                at = self._run(loop.test, at, inner)
                if at is not None:
                    inner |= self.atoms(loop.condition, at)
                    ends.append(at.copy())
            self.loops.pop()
            ends += leaving["break"]
            again = join(head, at, self.default)
            if loop.is_switch or again is None or (again == head and before == inner):
                break
            head = again
        after: State | None = None
        for end in ends:
            after = join(after, end, self.default)
        if after is not None:
            for key in loop.declares:
                after.atoms.pop(key, None)
                after.points.pop(key, None)
        for kind in ("break", "continue"):
            if kind == "break" or not loop.is_switch:
                self.jumps.pop(kind, None)
                if after is not None:
                    self._restore(after, LEAVING[kind], entry)
        return after

    @staticmethod
    def _restore(state: State, key: str, entry: dict[str, Atoms]) -> None:
        state.atoms.pop(key, None)
        if entry[key]:
            state.atoms[key] = entry[key]

    def _jump(self, jump: Jump, state: State, guard: Atoms) -> None:
        decided = self.guard(state, guard)
        self.jumps[jump.kind] = self.jumps.get(jump.kind, NONE) | decided
        if jump.kind == "return":
            self.summary.returns |= self.atoms(jump.value, state) | decided
            self.summary.points |= self.objects(jump.value, state)
            self._end(state)
        elif jump.kind == "goto":
            decided |= self.atoms(jump.value, state)
            self.scattered |= {atom for atom in decided if atom == RANK or is_of_others(atom)}
            for label in [jump.label] if jump.label else self.function.labels:
                self.labels[label] = join(self.labels.get(label), state, self.default)
        else:
            around = [leaving for is_switch, leaving in self.loops if jump.kind == "break" or not is_switch]
            if around:
                around[-1][jump.kind].append(state)

    # ---- calls ----

    def _call(self, call: Call, state: State, guard: Atoms) -> State | None:
        decided = self.guard(state, guard) | self.atoms(call.called, state)
        call.guard |= decided
        points = [self.objects(argument, state) for argument in call.arguments]
        call.points = [old | new for old, new in zip(call.points or [set()] * len(points), points, strict=True)]
        given = [self.atoms(argument, state) | self._inside(things, state)
                 for argument, things in zip(call.arguments, points, strict=True)]  # fmt: skip
        call.given = [old | new for old, new in zip(call.given or [set()] * len(given), given, strict=True)]
        if call.name in ENDS:
            return None
        result, foreign = ("call", call.number), self.flow.is_foreign(call.name)
        targets = self._targets(call, state)
        if self.flow.watched(call) or (foreign and call.name):
            self._changed((call.node.id,), Change(call, NONE, decided, self.function, list(given), list(points)))
        state.atoms[result], state.points[result] = NONE, NONE
        for target in targets:
            self._call_known(call, target, Bound(self, state, given, points), decided)
        if not targets:
            self._call_other(call, state, given, points, decided)
        if not state.atoms.get(result, True):
            state.atoms.pop(result)
        self._lock(call.name, state)
        return state

    def _targets(self, call: Call, state: State) -> list[str]:
        """Returns the functions of this file that it calls; none if that is not certain."""
        if call.name:
            return [call.name] if call.name in self.flow.functions else []
        things = self.objects(call.called, state)
        names = sorted(thing.name for thing in things if isinstance(thing, Declaration))
        return names if len(names) == len(things) and self.flow.functions.keys() >= set(names) else []

    def _lock(self, name: str, state: State) -> None:
        known = self.flow.summaries.get(name)
        if known.unlocks if known is not None else UNLOCKS.search(name):
            self.summary.unlocks |= LOCKED not in state.atoms
            state.atoms.pop(LOCKED, None)
        if known.locks if known is not None else LOCKS.search(name):
            state.atoms[LOCKED] = RANK_ONLY

    def _call_known(self, call: Call, name: str, bound: Bound, decided: Atoms) -> None:
        summary, state = self.flow.summaries.get(name, Summary()), bound.state
        returns, returned = bound.atoms(summary.returns), bound.objects(summary.points)
        added = [(key, bound.atoms(summary.atoms.get(key, NONE)), bound.objects(summary.added.get(key, NONE)))
                 for key in {**summary.atoms, **summary.added}]  # fmt: skip
        for chain, change in list(summary.changes.items()):
            never = any(("true", k) in change.decided for k in call.zeros)
            if len(chain) < MAX_CHAIN and not never:
                who, objects = decided | bound.atoms(change.decided), bound.objects(change.objects)
                arguments = [list(map(bound.atoms, change.given)), list(map(bound.objects, change.points))]
                new = Change(change.operation, objects, who, change.function, *arguments)
                self._changed((call.node.id, *chain), new)
        for key, atoms, points in added:
            is_object = isinstance(key, tuple) and key[0] in ("p", "g")
            for thing in bound.objects(frozenset({key})) if is_object else (key,):
                if not self.flow.is_shared(thing):
                    self.set(thing, atoms | decided if atoms else atoms, points, state, False)
                if isinstance(thing, tuple) and thing[0] in ("p", "g", "field"):
                    self._add(thing, atoms | decided if atoms else atoms, points)
        state.atoms[("call", call.number)] |= returns
        state.points[("call", call.number)] |= returned
        if summary.opens:
            state.atoms[OPENED] = RANK_ONLY

    def _call_other(self, call: Call, state: State, given: list[Atoms], points: list[Atoms], decided: Atoms) -> None:
        name, any_given = call.name, NONE.union(*given)
        ours = name.startswith(OURS)
        foreign = frozenset({("x", name)}) if self.flow.is_foreign(name) else NONE
        if foreign:
            state.atoms[OPENED] = RANK_ONLY
        same = ours and any(word in name for word in SAME)
        out = NONE if same else any_given | (RANK_ONLY if ours or name in RANKS or name in TIMES else foreign)
        result = ("call", call.number)
        state.atoms[result] = out
        if ours and "alloc" in name:
            state.points[result] = frozenset({("heap", call.number)})
        elif name in ALLOCATES:
            state.points[result] = frozenset({("own", call.number)})
        elif self.flow.of_system(name):
            state.points[result] = NONE.union(*points)
        else:
            state.points[result] = frozenset({("?", "")})
        for k, things in enumerate(points):
            others = NONE.union(*(atoms for i, atoms in enumerate(given) if i != k))
            told = (RANK_ONLY if ours or name in TIMES else others | foreign) | decided if not same else NONE
            for thing in things:
                if told and not self.flow.is_shared(thing):
                    self.set(thing, told, NONE, state, False)
                    if isinstance(thing, tuple) and thing[0] in ("p", "g"):
                        self._add(thing, told, NONE)


def is_of_others(atom: Key) -> bool:
    return isinstance(atom, tuple) and atom[0] in OTHERS


class Bound:
    """Returns the local meaning of a called function's atoms and objects."""

    def __init__(self, walk: Walk, state: State, given: list[Atoms], points: list[Atoms]) -> None:
        self.walk, self.state, self.given, self.points = walk, state, given, points

    def atoms(self, atoms: Atoms) -> Atoms:
        out = NONE
        for atom in atoms:
            if atom == RANK or is_of_others(atom):
                out |= {atom}
            elif isinstance(atom, tuple) and atom[0] == "p":
                out |= self.given[atom[1]] if atom[1] < len(self.given) else NONE
            elif isinstance(atom, tuple) and atom[0] == "g":
                out |= self.walk.atoms_of(atom[1], self.state)
        return out

    def objects(self, objects: Atoms) -> Atoms:
        out = NONE
        for thing in objects:
            if isinstance(thing, tuple) and thing[0] == "p":
                out |= self.points[thing[1]] if thing[1] < len(self.points) else NONE
            elif isinstance(thing, tuple) and thing[0] == "g":
                found = self.state.points.get(thing[1])
                out |= self.walk.default(thing[1], True) if found is None else found
            elif not (isinstance(thing, Declaration) and thing.block and thing not in self.walk.flow.shared):
                out |= {thing}
        return out
