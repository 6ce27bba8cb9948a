"""#pragma SMint parallel for tasks: the tiles of a loop nest become tasks, by one call of smint.h that gets the table
of its affine accesses. The nest becomes a function that computes one tile."""

from __future__ import annotations

import re
from dataclasses import replace

from ..core import outline
from ..core.counted import Counted
from ..core.declarators import enclosing, may_be_use
from ..core.declared import ARRAY, FUNCTION, Declared
from ..core.shared import PREFIX
from ..core.source import Node, subscripts
from ..core.spelling import GIVEN, How, Spelling, Variable
from ..core.text import quoted, split_list
from .checks import exact, key
from .independence import carried_dependence, provably_shared
from .loops import Access
from .outlined import OutlinedLoop
from .own import is_set
from .plan import write_access
from .tiles import Made, TileReader

BY_HAND = "write #pragma hiroba task in(..) out(..) above what is to be a task, or take `tasks` away"
CLAUSES = ("for", "tasks", "tile", "independent", "collapse")
REFUSAL = ("is for loops that are divided among ranks", "whose tiles are tasks")
TILE = f"struct smint_tile {GIVEN}_tile;"


class TaskLoop(OutlinedLoop):
    def lower(self) -> None:
        function = enclosing(self.loop, "function_definition")
        reader = TileReader(self.smint.rewriter, self.smint.declared, self.loop, self.counted)
        if (
            function is None
            or not self._fits(CLAUSES, "tasks", *REFUSAL)
            or not self._is_affine(reader)
            or not self._knows(reader)
        ):
            return
        sizes = self._tiles(reader)
        if self._depends(reader, sizes):
            return
        variables = self._captured(reader)
        if self.smint.clean:
            self._write(reader, function, sizes, variables)

    def _is_affine(self, reader: TileReader) -> bool:
        wrong = reader.read_spans() or reader.shared_scalar()
        if wrong:
            self._error(self.directive.at, f"this loop cannot become tasks: {wrong}", BY_HAND)
        return not wrong

    def _knows(self, reader: TileReader) -> bool:
        """Tables of subscripts are read when tasks are created, so no task may fill them."""
        at = self.smint.declared.declarator
        self.smint.tables |= {top.id: name for name, node in reader.tables.items() if (top := at(node)) is not None}
        bases = [subscripts(access.node)[0] for access in reader.out.single if access.writes]
        self.smint.filled |= {top.id for base in bases if (top := at(base)) is not None}
        both = self.smint.filled & self.smint.tables.keys()
        if both:
            self._error(
                self.directive.at,
                f"subscripts are read from `{self.smint.tables[both.pop()]}` when tasks are created, and tasks fill it",
                "fill it in a loop without directive, which every rank runs",
            )
        return not both

    def _tiles(self, reader: TileReader) -> list[str]:
        """Returns the size of tiles, by loop, as C."""
        given = next((argument for name, argument in self.clauses if name == "tile"), "auto")
        sizes = ["SMINT_TILE_AUTO" if size == "auto" else size for size in split_list(given)]
        deep = len(reader.out.shared)
        if not given or "" in sizes:
            self._error(self.directive.place("tile"), "`tile` has nothing in its bracket", "write tile(128,128)")
        elif len(sizes) > deep:
            self._error(
                self.directive.place("tile"),
                f"tile({given}) has {len(sizes)} sizes, but only"
                f" {', '.join(f'`{each.name}`' for each in reader.out.shared)} can be cut",
                "name fewer sizes: loops inside are cut if they are perfectly nested, with affine bounds",
            )
        return sizes

    def _depends(self, reader: TileReader, sizes: list[str]) -> bool:
        carried = carried_dependence(self.smint.rewriter, self.loop, reader.out, [])
        if carried is not None:
            self._error(
                carried[0].node.start_byte,
                f"iterations of this loop depend on each other: `{carried[0].text}` is written, and"
                + (" every iteration writes it" if carried[1] is carried[0] else f" used as `{carried[1].text}`"),
                "write into a second array, or leave `#pragma SMint parallel for tasks` to a loop inside",
            )
            return True
        collapse = max([int(text) for name, text in self.clauses if name == "collapse" and text.isdigit()], default=0)
        wanted = len(sizes) - 1  # tiles of a loop in independent ones may be in the order of the program
        if wanted > 1 and provably_shared(reader, reader.out, [], max(collapse, 1)) < wanted:
            self._error(
                self.directive.place("tile"),
                f"tiles in {len(sizes)} loops, and it is not known that iterations of the second one are independent",
                f"say collapse({wanted}), if they are",
            )
        return not self.smint.clean

    def _captured(self, reader: TileReader) -> list[tuple[Variable, Node]]:
        """Returns variables of which the nest has copies: those of the function around it, and those that the
        program may change before the task runs."""
        source, declared = self.smint.source, self.smint.declared
        spelling = Spelling(declared, self.smint.rewriter)
        out = []
        for name, top in reader.outer_names(self.directive.at).items():
            how = self._how(reader, name, top)
            variable = spelling.variable(name, top, how) if how is not None else None
            if isinstance(variable, Variable):
                out.append((variable, top))
            elif variable is not None:
                outline.refuse_variable(
                    source, self.directive.at, name, variable, "declare it outside of the function, or use a pointer"
                )
        outline.refuse_types_of_block(source, declared, self.loop)
        return out

    def _how(self, reader: TileReader, name: str, top: Node) -> How | None:
        """Returns the nest's form of a variable around it; None: the variable itself, or an error."""
        declared, of = self.smint.declared, self.smint.declared.type_of_declarator(top)
        array = of is not None and of.derived[:1] == (ARRAY,)
        local = Declared.is_local(top, self.loop)
        written = next((a for a in reader.out.single if a.name == name and a.writes), None)
        if not local and array and written is not None:
            self._refuse_both(reader, name, written)
        if not local and (of is None or array or of.derived[:1] == (FUNCTION,)):
            return None
        in_function = [
            u for u in self.smint.own.uses(enclosing(self.loop, "function_definition"), name) if may_be_use(u)
        ]
        uses = [use for use in in_function if self.loop.start_byte <= use.start_byte < self.loop.end_byte]
        how = outline.by_storage(declared, self.loop, top, How.COPY) if local else How.COPY
        if array and written is not None:
            self._error(
                written.node.start_byte,
                f"`{name}` is an array of this function, of which each task has a copy",
                "declare it shared, or static at file scope",
            )
        if how is How.ADDRESS and uses:  # a static variable has a name only in its function
            self._error(uses[0].start_byte, f"`{name}` is static in this function", "declare it at file scope")
            return None
        if how is How.COPY and not array and uses and name in reader.assigned:
            after = next((use for use in in_function if use.start_byte >= self.loop.end_byte), None)
            if is_set(uses[0]) and after is not None and not is_set(after):
                self._error(after.start_byte, f"`{name}` is set by tasks, each in a copy", "set it anew after the loop")
            if is_set(uses[0]):
                return How.OWN
            self._error(
                uses[0].start_byte,
                f"`{name}` has a value from before this loop and is changed in it; each task would change a copy",
                "declare it in the loop, or sum up into an element of a shared array",
            )
        return how

    def _refuse_both(self, reader: TileReader, name: str, written: Access) -> None:
        """Refuses a task that writes both: it runs on one rank only, so the others would not have the private array."""
        shared = next((a for a in reader.out.single if a.writes and a.base.startswith("(*")), None)
        if shared is not None:
            self._error(
                written.node.start_byte,
                f"`{name}` is each rank's own, and a task of this loop runs on one rank, because it writes"
                f" `{shared.name}`, which is shared",
                "declare it shared, or write it in a loop of its own",
            )

    def _accesses(self, reader: TileReader, variables: list[tuple[Variable, Node]]) -> list[str]:
        """Returns each once; arrays of which tasks have copies need no order."""
        copies = {variable.name for variable, _ in variables if variable.array}
        known = exact(reader.out, self.loop, []).items()
        words = [
            self._written(replace(access, reads=access.reads or self._reads_old(reader, place, access)), perhaps)
            for place, (access, perhaps) in known
            if access.name not in copies
        ]
        return list(dict.fromkeys(words))

    @staticmethod
    def _reads_old(reader: TileReader, place: tuple[object, ...], write: Access) -> bool:
        """Returns true if these elements are read before they are written for the first time."""
        assignment = enclosing(write.node, "assignment_expression")
        end = assignment.end_byte if assignment is not None else write.node.end_byte
        return any(a.reads and key(a) == place and a.node.start_byte < end for a in reader.out.single)

    @staticmethod
    def _written(access: Access, perhaps: bool) -> str:
        return write_access(access, False, perhaps and access.writes)

    def _head(self, n: int, each: Counted, reader: TileReader) -> None:
        """In its function, loop n has the values of the tile."""
        source, down = self.smint.source, each.step < 0
        step, suffix = reader.out.loops[n].step, "_down" if down else ""
        begin, end = (f"{GIVEN}->{GIVEN}_tile.{side}[{n}]" for side in ("first", "end"))
        kind = f"(__typeof__({each.name}))"
        source.insert(each.first.start_byte, f"{kind}smint_from{suffix}(")
        source.insert(each.first.end_byte, f", {end if down else begin}, {step})")
        text = f"{each.name} {'>' if down else '<'} {kind}smint_until{suffix}"
        text += f"({reader.end_of(each)}, {begin if down else end})"
        source.override(each.compare.start_byte, each.compare.end_byte, text)

    @staticmethod
    def _subscripts(reader: TileReader, name: str, variables: list[tuple[Variable, Node]]) -> str:
        """Defines a function for each subscript that is not affine."""
        out = ""
        for number, made in enumerate(reader.spans):
            if not isinstance(made, Made):
                continue
            made.function = f"{name}_{number}"
            words = [f"static int64_t {made.function}(const void* {PREFIX}argument, int64_t {PREFIX}value) {{"]
            words += [f"const struct {name}* const {GIVEN} = {PREFIX}argument; (void){GIVEN};"]
            used = set(re.findall(r"[A-Za-z_]\w*", made.text)) - {made.variable}
            words += [variable.prologue for variable, _ in variables if variable.name in used]
            words += [f"const int64_t {made.variable} = {PREFIX}value; return (int64_t)({made.text}); }} "]
            out += " ".join(words)
        return out

    def _write(
        self, reader: TileReader, function: Node, sizes: list[str], variables: list[tuple[Variable, Node]]
    ) -> None:
        smint, source, place = self.smint, self.smint.source, self.smint.source.place(self.directive.at)
        smint.unit.covered.append((self.loop.start_byte, self.loop.end_byte))
        name = f"{outline.name_of(function)}_tasks_{place.line}"
        while name in smint.functions:
            name += "_"
        smint.functions.add(name)
        for n in range(len(sizes)):
            self._head(n, reader.out.shared[n], reader)
        accesses = self._accesses(reader, variables)
        pointers = dict.fromkeys(a.base[2:-1] for a in reader.out.single if a.base.startswith("(*"))
        smint.rewriter.keep(self.loop.start_byte, self.loop.end_byte, pointers)
        declared = "".join(f" {variable.prologue}" for variable, _ in variables)
        declared += "".join(f" __typeof__({p}) const kept_{p} = {p}; (void)kept_{p};" for p in pointers)
        members = " ".join([TILE, *(v.members for v, _ in variables if v.members)])
        begin = (self.directive.at, self.directive.end)
        others = self._subscripts(reader, name, variables)
        outline.move(source, begin, self.loop, function, name, members, declared, others)
        given = outline.given(name, [], [(variable, variable.name) for variable, _ in variables])
        used = f"(const smint_access[]){{{', '.join(accesses)}}}" if accesses else "(const smint_access*)0"
        label = f"{quoted(outline.name_of(function))}, {place.literal}"
        known = "".join(f" smint_known({t}, {quoted(t)}, hiroba_label.place);" for t in reader.tables)
        text = (
            f"{{ static const smint_label hiroba_label = {{{label}}}; {given}{known} smint_tasks({name}, &hiroba_data,"
            f" sizeof hiroba_data, {used}, {len(accesses)},"
            f" (const smint_span[]){{{', '.join(map(str, reader.spans))}}}, {len(reader.spans)},"
            f" (const int64_t[]){{{', '.join(sizes)}}}, {len(sizes)}, &hiroba_label); }}"
        )
        source.replace(self.directive.at, self.loop.end_byte, text)
        smint.task_loops.append((self.directive, self.loop))
        smint.explain.append(f"{place}: parallel for over `{self.counted.name}`, whose tiles are tasks")
        for access in reader.out.single:
            smint.explain.append(f"  what: `{access.text}` is {'written' if access.writes else 'read'}")
