"""#pragma SMint parallel for device(n), above a loop with a directive of OpenACC or of OpenMP's target: the loop
becomes a function that computes a share of its iterations with the addresses of its data on a device, by one call of
smint.h that gets the table of its affine accesses."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core import outline
from ..core.counted import is_set
from ..core.declarators import enclosing, may_be_use
from ..core.declared import ARRAY, FUNCTION, POINTER, Declared
from ..core.pragmas import DEVICE, PRAGMA
from ..core.shared import PREFIX
from ..core.source import Node
from ..core.spelling import GIVEN, How, Spelling, Variable
from ..core.text import quoted, words_with_brackets
from .affinity import owner_of
from .checks import touches
from .conflicts import Conflicts
from .device_reductions import SHARE, DeviceReduction, added_clauses, list_of_reductions, rewrite_clauses
from .independence import carried_dependence, conditional
from .outlined import OutlinedLoop, OutlinedReader
from .part import SharedLoop
from .reductions import ReductionReader

CLAUSES = ("for", "device", "affinity", "independent", "nowait", "reduction")
BEGINS = {"acc": ("parallel", "kernels", "serial"), "omp": ("target",)}
POINTERS = {"acc": "deviceptr", "omp": "is_device_ptr"}
INTERFACE = {"acc": "openacc", "omp": "openmp"}
MOST_ACCESSES = 32  # SMINT_ACCESSES
BY_HAND = "use hiroba_device_preload, _launch and _overload (device.h), or take `device` away"
ADD = "put `#pragma acc parallel loop` or `#pragma omp target teams distribute parallel for` below this line"
DATA = tuple(name for name in DEVICE if name not in ("host", "device"))
REFUSED = {
    **dict.fromkeys((*DATA, "deviceptr", "is_device_ptr", "has_device_addr", "no_create", "attach"),
                    "the data of the loop goes to devices by its subscripts: take the clause away"),
    **dict.fromkeys(("async", "nowait", "wait", "depend"), "devices work at the same time without it: take it away"),
    "in_reduction": "write `reduction`",
    **dict.fromkeys(("if", "self", "device", "device_num", "device_type", "dtype"),
                    "`device` of #pragma SMint chooses the devices: take it away"),
}  # fmt: skip


@dataclass
class Line:
    """The directive of another compiler by which the loop is computed on a device."""

    of: str  # "acc" or "omp"
    begin: int
    end: int
    words: str


@dataclass
class DeviceLoop(OutlinedLoop):
    conflicts: Conflicts | None = None
    reductions: list[DeviceReduction] = field(default_factory=list)
    used: list[DeviceReduction] = field(default_factory=list)  # those that the loop uses

    def lower(self) -> None:
        function = enclosing(self.loop, "function_definition")
        if function is None or not self._fits(CLAUSES, "device", "is not possible", "on devices"):
            return
        line = self._line()
        if line is None:
            return
        lines = self._lines()
        self._read_reductions(line, lines)
        reader = OutlinedReader(self.smint.rewriter, self.smint.declared, self.loop, self.counted)
        reader.apart = [each.of.name for each in self.reductions]
        reader.read()
        reader.out.shared = reader.out.shared[:1]
        if not self._is_affine(reader) or self._depends(reader):
            return
        wanted = next((argument for name, argument in self.clauses if name == "affinity"), "")
        owner = owner_of(reader, self.directive, wanted) if wanted else -1
        variables = self._captured(reader)
        if self.smint.clean:
            names = [each.of.name for each in self.reductions]
            self.smint.unit.same[self.loop.start_byte] = frozenset(names)
            self.smint.own.warn_of_loop(self.loop, reader, names, self.directive.end)
            rewrite_clauses(self.smint.source, lines, self.used)
            self._write(reader, function, line, owner, variables)

    # ---- what is refused ----

    def _line(self) -> Line | None:
        """Returns the directive for devices, after an error None."""
        text, found = self.smint.source.text, []
        for match in PRAGMA.finditer(text, self.directive.end, self.loop.start_byte):
            words = words_with_brackets(match[2])
            if words and words[0][0] in BEGINS[match[1]]:
                found.append(Line(match[1], match.start(2), match.end(), match[2]))
        if len(found) != 1:
            message = "without a directive by which its loop is computed there" if not found else "above two of them"
            self._error(self.directive.at, f"parallel for device {message}", ADD if not found else "take one away")
            return None
        for match in PRAGMA.finditer(text, self.directive.end, self.loop.end_byte):
            for name, _ in words_with_brackets(match[2]):
                if name in REFUSED:
                    at = match.start(2) + text[match.start(2) : match.end()].index(name)
                    self._error(at, f"`{name}` below #pragma SMint parallel for device", REFUSED[name])
                    return None
        return found[0]

    def _is_affine(self, reader: OutlinedReader) -> bool:
        wrong = reader.out.irregular[0] if reader.out.irregular else reader.shared_scalar()
        for access in reader.out.single:
            of = self.smint.declared.type_of(access.node)
            if of is not None and of.derived[:1] in ((ARRAY,), (POINTER,)):
                wrong = wrong or f"{access.text}: what is done with this address is not known"
        if not wrong and len(reader.out.accesses) > MOST_ACCESSES:
            wrong = f"it has {len(reader.out.accesses)} different accesses; at most {MOST_ACCESSES}"
        if wrong:
            self._error(self.directive.at, f"this loop cannot be computed on devices: {wrong}", BY_HAND)
        return not wrong

    def _depends(self, reader: OutlinedReader) -> bool:
        carried = carried_dependence(self.smint.rewriter, self.loop, reader.out, [])
        if carried is not None:
            write, other = carried
            self._error(
                write.node.start_byte,
                f"iterations of this loop depend on each other: `{write.text}` is written, and"
                + (" every iteration writes it" if other is write else f" another one uses it as `{other.text}`"),
                "write into a second array, or divide another loop",
            )
        self.conflicts = None if self._is_independent() else Conflicts(reader, lambda node: [])
        place = self.smint.source.place(self.directive.at)
        return carried is not None or (self.conflicts is not None and self.conflicts.report(place))

    def _is_independent(self) -> bool:
        return "independent" in [clause for clause, _ in self.clauses]

    # ---- reductions ----

    def _lines(self) -> list[tuple[int, str]]:
        """Returns the words of the directives of OpenACC and OpenMP above the loop, with their positions."""
        lines = PRAGMA.finditer(self.smint.source.text, self.directive.end, self.loop.start_byte)
        return [(match.start(2), match[2]) for match in lines]

    def _read_reductions(self, line: Line, lines: list[tuple[int, str]]) -> None:
        """Those below the directive hold for the ranks, too."""
        of_lines = [clause for _, words in lines for clause in words_with_brackets(words)]
        reader = ReductionReader(self.smint.rewriter, self.smint.declared, self.directive, self.loop)
        for one in reader.read([*self.clauses, *of_lines]):
            self.reductions.append(DeviceReduction(one))
            if one.first and line.of == "acc":
                self._error(
                    self.directive.place(one.text),
                    f"reduction of `{one.text}` above a directive of OpenACC, which reduces variables, no arrays",
                    "put `#pragma omp target teams distribute parallel for` below this line, or reduce variables",
                )

    # ---- variables ----

    def _captured(self, reader: OutlinedReader) -> list[Variable]:
        """Returns variables that the function gets from the one around the loop."""
        source, declared = self.smint.source, self.smint.declared
        spelling = Spelling(declared, self.smint.rewriter)
        accessed = {access.name for access in reader.out.accesses}
        out = []
        reduced = {each.of.name: each for each in self.reductions}
        for name, top in reader.outer_names(self.directive.at).items():
            if name in reduced:
                why = reduced[name].find(spelling, top)
                if why:
                    self._error(self.directive.at, f"a device cannot have `{name}`, because {why}", BY_HAND)
                continue
            how = self._how_of_data(top) if name in accessed else self._how(reader, name, top)
            variable = spelling.variable(name, top, how) if how is not None else None
            if isinstance(variable, Variable):
                out.append(variable)
            elif variable is not None:
                self._error(
                    self.directive.at,
                    f"a device cannot have `{name}`, because {variable}",
                    "declare it outside of the function, or use a pointer",
                )
        outline.refuse_types_of_block(source, declared, self.loop, "a loop on devices")
        self.used = [each for each in self.reductions if each.variable is not None]
        for number, each in enumerate(self.used):
            each.number = number
        return out

    def _how_of_data(self, top: Node) -> How:
        of = self.smint.declared.type_of_declarator(top)
        return How.ADDRESS if of is not None and of.derived[:1] == (ARRAY,) else How.COPY

    def _how(self, reader: OutlinedReader, name: str, top: Node) -> How | None:
        """Returns the form of a variable that is no data of devices; None: it is the same there, or an error."""
        of, local = self.smint.declared.type_of_declarator(top), Declared.is_local(top, self.loop)
        if of is None or of.derived[:1] in ((FUNCTION,), (ARRAY,)):
            return How.AGAIN if local and of is not None and of.derived[:1] == (FUNCTION,) else None
        function = enclosing(self.loop, "function_definition")
        uses = [u for u in self.smint.own.uses(function, name) if may_be_use(u)]
        inside = [use for use in uses if self.loop.start_byte <= use.start_byte < self.loop.end_byte]
        if name not in reader.assigned or not inside:
            return How.COPY
        after = next((use for use in uses if use.start_byte >= self.loop.end_byte), None)
        if not is_set(inside[0]):
            found = self.smint.own.combination(self.loop, inside[0])
            self._error(
                inside[0].start_byte,
                f"`{name}` has a value from before this loop and is changed in it, and devices have copies of it",
                f"declare it in the loop, or add {found.clause(name)}" if found.operator else "declare it in the loop",
            )
        elif after is not None and not is_set(after):
            self._error(
                after.start_byte, f"`{name}` is set by a loop on devices, each in a copy", "set it anew after the loop"
            )
        return How.OWN

    def _on_device(self, variable: Variable, bases: dict[str, int]) -> str:
        """Returns the variable's declaration in the function."""
        if variable.name not in bases:
            return variable.prologue
        base = f"{GIVEN}->{SHARE}.base[{bases[variable.name]}]"
        if variable.by_address:  # an array: a pointer to its rows
            return f"__typeof__((*({variable.declared('(*)')})0)[0])* const {variable.name} = {base};"
        variable.given = base
        return variable.prologue

    # ---- C ----

    def _bounds(self) -> str:
        """Gives the loop the bounds of a share, and returns their declarations."""
        each, source = self.counted, self.smint.source
        kind = each.declared or f"__typeof__({each.name})"
        n, self.smint.numbered = self.smint.numbered, self.smint.numbered + 1
        first, end = f"{PREFIX}first_{n}_0", f"{PREFIX}end_{n}_0"
        source.override(each.first.start_byte, each.first.end_byte, first)
        text = f"{each.name} {'<' if each.step > 0 else '>'} {end}"
        source.override(each.compare.start_byte, each.compare.end_byte, text)
        self.smint.unit.bounds.append((each.compare.start_byte, (first, end)))
        return f" const {kind} {first} = ({kind}){GIVEN}->{SHARE}.first, {end} = ({kind}){GIVEN}->{SHARE}.end;"

    def _name(self, function: Node) -> str:
        name = f"{outline.name_of(function)}_device_{self.smint.source.place(self.directive.at).line}"
        while name in self.smint.functions:
            name += "_"
        self.smint.functions.add(name)
        return name

    def _write(self, reader: OutlinedReader, function: Node, line: Line, owner: int, variables: list[Variable]) -> None:
        smint, source, place = self.smint, self.smint.source, self.smint.source.place(self.directive.at)
        smint.unit.covered.append((self.loop.start_byte, self.loop.end_byte))
        writer, analysis = smint.writer(self.loop), reader.out
        entries = [
            writer.entry(access, i == owner, access.writes and conditional(access.node, self.loop))
            for i, access in enumerate(analysis.accesses)
        ]
        used = list(dict.fromkeys(entries))
        bases: dict[str, int] = {}
        for access, entry in zip(analysis.accesses, entries, strict=True):
            if access.reads or access.writes:
                bases.setdefault(access.name if not access.base.startswith("(*") else access.base, used.index(entry))
        name = self._name(function)
        pointers = {base[2:-1]: number for base, number in bases.items() if base.startswith("(*")}
        smint.rewriter.keep(self.loop.start_byte, self.loop.end_byte, pointers)
        # One that only the bounds use is not used there, and one of its own only there.
        declared = "".join(f" {self._on_device(variable, bases)} (void){variable.name};" for variable in variables)
        used_there = "".join(f" (void){variable.name};" for variable in variables if variable.how is How.OWN)
        for pointer, number in pointers.items():
            declared += f" __typeof__({pointer}) const kept_{pointer} = {GIVEN}->{SHARE}.base[{number}];"
            declared += f" (void)kept_{pointer};"
        declared += self._bounds()
        declared += f" smint_use_{INTERFACE[line.of]}({GIVEN}->{SHARE}.gpu);"
        declared += "".join(each.begins for each in self.used)
        known = [*(f"kept_{pointer}" for pointer in pointers), *(base for base in bases if not base.startswith("(*"))]
        source.insert(line.end, f" {POINTERS[line.of]}({', '.join(known)})" if known else "")
        source.insert(line.end, added_clauses(line.of, self._lines(), self.used))
        members = " ".join([f"struct smint_share {SHARE};", *(v.members for v in variables if v.members),
                            *(each.members for each in self.used)])  # fmt: skip
        span = (self.directive.at, self.directive.end)
        ends = "".join(each.ends for each in self.used)
        outline.move(source, span, self.loop, function, name, members, declared, last=ends)
        names = [clause for clause, _ in self.clauses]
        flags = ["SMINT_KNOWN", "SMINT_DROP"] * (not reader.calls) + ["SMINT_NOWAIT"] * ("nowait" in names)
        touched = touches(writer, analysis, self.loop, [])
        text, opening, behind = writer.begin(
            used, touched, analysis.loops, 1, f"{place.file}:{place.line}", call="smint_devices", more=", &hiroba_loop"
        )
        devices = next(argument for clause, argument in self.clauses if clause == "device") or "0"
        captured = [*variables, *(each.variable for each in self.used if each.variable is not None)]
        values = [value for each in self.used for value in each.values]
        given = outline.given(name, values, [(variable, variable.name) for variable in captured]) + used_there
        label = quoted(outline.name_of(function))
        reduced, count = list_of_reductions(self.used)
        before = (
            f"{{ {''.join(f'{each.of.prepare()} ' for each in self.reductions)}{text}{given} {reduced}"
            f"const smint_device_loop hiroba_loop = {{{label}, {name}, &hiroba_data, sizeof hiroba_data,"
            f" (int)({devices}), smint_gpus_{INTERFACE[line.of]}(), {count}}};"
            f" {self.conflicts.at_run_time() if self.conflicts is not None else ''}{opening}"
        )
        after = "".join(f" {each.of.combine(f'{place.file}:{place.line}')}" for each in self.reductions)
        smint.loops.append(
            SharedLoop(self.directive, self.loop, (before, f"{behind}{after} }}"), flags, False,
                       self._explain(reader, flags), self.loop.end_byte)
        )  # fmt: skip

    def _explain(self, reader: OutlinedReader, flags: list[str]) -> int:
        """Returns the number of the line about the end."""
        place, say = self.smint.source.place(self.directive.at), self.smint.explain.append
        number = next(argument for clause, argument in self.clauses if clause == "device")
        say(f"{place}: parallel for over `{self.counted.name}`, on devices")
        say(f"  who: {number or 'all'} devices of each rank share its iterations by their speed")
        for access in reader.out.accesses:
            if access.reads or access.writes:
                moves = "goes to the device before it, and comes back" if access.writes else "goes to the device"
                say(f"  what: `{access.text}` {moves}: what these iterations use of `{access.name}`")
        for each in self.reductions:
            say(f"  reduction: `{each.of.text}` by {each.of.operator} over the devices of each rank, and all ranks")
        say(f"  end: {'sms_sync_drop' if 'SMINT_DROP' in flags else 'sms_barrier'}")
        return len(self.smint.explain) - 1
