"""#pragma SMint: each directive becomes calls of smint.h around the statement that follows it."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from functools import cached_property

from . import nesting
from .affine import Form
from .arithmetic import name_of
from .checks import touches
from .counted import REAL, Counted, assigned_names, identifiers, read_for
from .declarators import enclosing
from .declared import ARRAY, Declared
from .every_rank import OPTION, EveryRank
from .independence import carried_dependence, may_repeat, provably_shared, worth_sharing
from .later import loops_to_settle
from .loops import Access, Analysis, LoopReader, clauses_in, clauses_of, table, write_access
from .notation import OMP, Directive, meant
from .own import OwnVariables, changes
from .reductions import Reduced, ReductionReader
from .shared import Shared
from .source import Node, text_of, walk
from .statements import Statements

CONTROLS = ("if_statement", "for_statement", "while_statement", "do_statement", "switch_statement")
CLAUSES = ("for", "reduction", "nowait", "affinity", "schedule", "collapse", "repeat", "independent")
# Clauses of OpenMP that a parallel for of ranks does not have: what is true here.
FOREIGN = {
    "private": "each rank has its own `{}` already, and threads get theirs by OpenMP: leave it out, or put "
    "`#pragma omp parallel for private({})` below this line",
    "firstprivate": "each rank has its own `{}`, with its value from before the loop: leave it out",
    "lastprivate": "each rank keeps the `{}` of its own last iteration: after the loop, set it anew, or keep it in a "
    "shared variable",
    "shared": "what is declared shared is, and `{}` is each rank's own if not: declare it with `#pragma SMint shared`",
    "default": "variables are each rank's own unless they are declared shared: leave it out",
    "num_threads": "every rank of the job takes part: hirobarun -n says how many, --threads how many threads each",
    "ordered": "iterations of different ranks have no order: write what is ordered in a loop of its own under `single`",
    "linear": "compute `{}` from the loop variable in the body",
    "simd": "put `#pragma omp simd` below this line",
    "if": "write the condition around two loops",
}


@dataclass
class SharedLoop:
    """A parallel loop whose beginning is still to be written, because its barrier depends on what is around it."""

    directive: Directive
    loop: Node
    opening: tuple[str, str]  # before and behind the flags
    flags: list[str]
    alone: bool  # touches what its subscripts say, and has nothing but a barrier at its end
    explained: int  # which line of the explanation tells of its end


@dataclass
class Directives(Statements):
    explain: list[str] = field(default_factory=list)
    covered: list[tuple[int, int]] = field(default_factory=list)  # what one rank does, or what is shared out
    bounds: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)  # where which variables are in their place
    _loops: list[SharedLoop] = field(default_factory=list)
    _number: int = 0

    @cached_property
    def _declared(self) -> Declared:
        return Declared(self.rewriter.root, self.source.text)

    @cached_property
    def _own(self) -> OwnVariables:
        return OwnVariables(self.rewriter, self._declared)

    def rewrite_all(self) -> None:
        nesting.check(self.rewriter, self)
        if self.source.errors:
            return
        for directive in self.rewriter.found.directives:
            if directive.family == "SMint":
                getattr(self, "_" + directive.name)(directive)
        self._settle()
        for each in self._loops:
            before, behind = each.opening
            opening = before + (" | ".join(each.flags) or "0") + behind
            self.source.replace(each.directive.at, each.directive.end, opening)

    def _settle(self) -> None:
        """In a serial loop that does nothing else with shared data, barriers wait for the next loop."""
        for serial in loops_to_settle(self.rewriter, [each.loop for each in self._loops if each.alone]):
            for each in self._loops:
                if serial.start_byte <= each.loop.start_byte < serial.end_byte:
                    each.flags.append("SMINT_LATER")
                    self.explain[each.explained] = (
                        "  end: the next loop waits for those ranks only that it shares data with;"
                        " all meet behind the loop around it"
                    )
            self.source.insert(serial.start_byte, "{ ")
            self.source.insert(serial.end_byte, " smint_settle(); }")

    def check_every_rank(self) -> None:
        """What stands outside of directives is done by every rank."""
        self._own.warn_of_singles()
        every = EveryRank(self.rewriter, self.covered)
        seen = every.check(lambda at, message, remedy: self.source.complain(OPTION, at, message, remedy))
        if self.source.errors:
            return
        for node in walk(self.rewriter.root):
            change = changes(node)
            if change is None or not self.source.of_user(node.start_byte):
                continue
            base: Node | None = change[0]
            while base is not None and base.type in ("subscript_expression", "field_expression"):
                base = base.child_by_field_name("argument")
            shared = self.rewriter.resolve(base) if base is not None and base.type == "identifier" else None
            if shared is None or any(a <= node.start_byte < b for a, b in self.covered):
                continue
            function = enclosing(node, "function_definition")
            if function is None or (function.id, shared.name) in seen:
                continue
            if not shared.directive:
                self._warn_of_scalar(node, function, shared)
                continue
            if every.is_meant(node, change[0], function):
                continue
            seen.add((function.id, shared.name))
            self.source.warn(
                node.start_byte,
                f"every rank writes shared `{shared.name}` here",
                "put `#pragma SMint single` above this statement, or `parallel for` above its loop",
            )

    def _warn_of_scalar(self, node: Node, function: Node, shared: Shared) -> None:
        """MpC, where ranks share work by their numbers: each does what main does under no condition."""
        main = re.match(r"main\s*\(", text_of(function.child_by_field_name("declarator"))) is not None
        decided = enclosing(node, *CONTROLS) is not None or "sms_lock" in text_of(function)
        if main and not decided and not shared.dims and not shared.codims:
            self.source.warn(
                node.start_byte,
                f"every rank writes shared `{shared.name}` here",
                f"write if (MYPID == 0) {text_of(node)}; and a barrier behind it",
            )

    # ---- statements ----

    def _barrier(self, directive: Directive) -> None:
        if not self._in_function(directive):
            return
        self.source.replace(directive.at, directive.end, "sms_barrier();")

    def _single(self, directive: Directive) -> None:
        statement = self._statement(directive)
        if statement is None or not self._stays(directive, statement):
            return
        copied = self._copied(directive, statement)
        self.covered.append((statement.start_byte, statement.end_byte))
        self._own.singles.append((statement.start_byte, statement.end_byte, frozenset(copied)))
        place = self.source.place(directive.at)
        copies = "".join(f' smint_copy(&({n}), sizeof({n}), "{place.file}:{place.line}");' for n in copied)
        self.source.replace(directive.at, directive.end, "{ if (smint_single())")
        self.source.insert(statement.end_byte, f"{copies} sms_barrier(); }}")

    def _copied(self, directive: Directive, statement: Node) -> list[str]:
        """The variables of single copy(x, y), which all ranks get from rank 0."""
        names = []
        for name, argument in clauses_of(self.source, directive):
            if name != "copy":
                self.source.error(self._at(directive, name), f"unknown word `{name}` in #pragma SMint single",
                                  "write single, or single copy(x, y)")  # fmt: skip
                return []
            names += [word.strip() for word in argument.split(",")]
        uses = {text_of(n): n for n in walk(statement) if n.type == "identifier"}
        for name in names:
            of = self._declared.type_of(uses[name]) if name in uses else None
            declarator = self._declared.declarator(uses[name]) if name in uses else None
            passed = declarator is not None and enclosing(declarator, "parameter_declaration") is not None
            pointer = of is not None and (of.derived[:1] not in ((), (ARRAY,)) or (passed and of.derived != ()))
            if re.fullmatch(r"[A-Za-z_]\w*", name) is None or name not in uses or pointer:
                self.source.error(
                    self._at(directive, name),
                    f"copy({name}) does not name a variable or an array that the statement below sets",
                    "what a pointer points to has no size here: name the array itself, or read into one"
                    if pointer else "write copy(x), x a variable, an array or a struct",
                )  # fmt: skip
                return []
        return names

    def _critical(self, directive: Directive) -> None:
        statement = self._statement(directive)
        if statement is None:
            return
        if not self._stays(directive, statement):
            return
        self.covered.append((statement.start_byte, statement.end_byte))
        lock = zlib.crc32(directive.words.strip("() \t").encode()) % 32768 + 32768
        self.source.replace(directive.at, directive.end, f"{{ sms_lock({lock}); {{")
        self.source.insert(statement.end_byte, f" }} sms_unlock({lock}); }}")

    def _preload(self, directive: Directive) -> None:
        if not self._in_function(directive):
            return
        words = directive.words.strip()
        if words.startswith("(") and words.endswith(")"):
            words = words[1:-1]
        found = re.fullmatch(r"\s*(\w+)\s*((?:\[[^\]]*\]\s*)+)", words)
        if found is None:
            self.source.error(
                self._at(directive, words),
                "preload needs a section of an array",
                "write for example preload A[0:n][0:m]",
            )
            return
        shared = self.rewriter.by_name.get(found[1])
        base = f"(*{shared[0].pointer})" if shared else found[1]
        ranges = []
        for bracket in re.findall(r"\[([^\]]*)\]", found[2]):
            parts = [p.strip() for p in bracket.split(":")]
            if len(parts) not in (1, 2, 3) or "" in parts:
                at = self._at(directive, f"[{bracket}]")
                self.source.error(at, f"cannot read the section [{bracket}]", "write [base:length:step]")
                return
            ranges.append(table([parts[0], parts[1] if len(parts) > 1 else "1", parts[2] if len(parts) > 2 else "1"]))
        self.source.replace(directive.at, directive.end, f"sms_preload({base}, (const sms_range[]){table(ranges)});")

    # ---- parallel for ----

    def _parallel(self, directive: Directive) -> None:
        clauses = clauses_of(self.source, directive)
        for name, argument in clauses:
            if name not in CLAUSES:
                message = f"unknown word `{name}` in #pragma SMint parallel"
                remedy = FOREIGN[name].replace("{}", argument) if name in FOREIGN else meant(name, CLAUSES)
                self.source.error(self._at(directive, name), message, remedy)
                return
        if not any(name == "for" for name, _ in clauses):
            self.source.error(directive.at, "#pragma SMint parallel without `for`", "write parallel for, above a loop")
            return
        loop = self._statement(directive)
        if loop is None:
            return
        if loop.type != "for_statement":
            self.source.error(
                directive.at,
                "parallel for stands before something that is not a for loop",
                "put it above a counted loop",
            )
            return
        counted = read_for(loop)
        if isinstance(counted, str):
            self.source.error(
                loop.start_byte,
                f"this is not a counted loop: it {counted}",
                "write for (i = first; i < end; i += step), and leave by its condition only",
            )
            return
        if not self._stays(directive, loop) or not self._steady(loop, counted):
            return
        clauses += self._omp_clauses(directive, loop)
        self._share_out(directive, loop, counted, clauses)

    def _steady(self, loop: Node, counted: Counted) -> bool:
        """Whether only the loop itself changes what it counts with."""
        body = loop.child_by_field_name("body") or loop
        parts = (counted.first, counted.bound, *([counted.by] if counted.by is not None else []))
        uses = {name for part in parts for name in identifiers(part)}
        changed = sorted(assigned_names(body) & {counted.name, *uses})
        if changed:
            self.source.error(
                loop.start_byte,
                f"this is not a counted loop: its body changes `{changed[0]}`",
                "copy the value before the loop, or change another variable",
            )
        of = self._declared.type_of(counted.variable)
        if counted.declared in REAL or name_of(of) in REAL or (of is not None and of.derived):
            self.source.error(
                counted.variable.start_byte, "the variable of a parallel for is an integer", "count with int"
            )
            return False
        return not changed

    def _omp_clauses(self, directive: Directive, loop: Node) -> list[tuple[str, str]]:
        """Reductions of an OpenMP directive between ours and the loop hold for the ranks, too."""
        out = []
        for line in self.source.text[directive.end : loop.start_byte].split("\n"):
            omp = OMP.match(line)
            if omp is not None:
                out += [clause for clause in clauses_in(omp[1]) if clause[0] in ("reduction", "collapse")]
        return out

    def _share_out(self, directive: Directive, loop: Node, counted: Counted, clauses: list[tuple[str, str]]) -> None:
        self.covered.append((loop.start_byte, loop.end_byte))
        reader = LoopReader(self.rewriter, self._declared, loop, counted)
        analysis = reader.read()
        carried = carried_dependence(self.rewriter, loop, analysis)
        if carried is not None:
            write, other = carried
            self.source.error(
                write.node.start_byte,
                f"iterations of this loop depend on each other: `{write.text}` is written, and"
                + (" every iteration writes it" if other is write else f" another one uses it as `{other.text}`"),
                "write into a second array, or make it a reduction",
            )
            return
        if "independent" not in [name for name, _ in clauses] and self._collides(loop, reader, analysis):
            return
        reduced = ReductionReader(self.rewriter, self._declared, directive, loop).read(clauses)
        if self.source.errors:
            return
        names_reduced = [one.name for one in reduced]
        self._own.warn_of_loop(loop, reader, names_reduced, directive.end)
        collapse = max([int(text) for name, text in clauses if name == "collapse" and text.isdigit()], default=0)
        depth = provably_shared(reader, analysis, names_reduced, max(collapse, 1))
        depth = worth_sharing(self.rewriter, analysis, depth, max(collapse, 1))
        analysis.shared = analysis.shared[:depth]
        owner = self._owner(directive, clauses, analysis, reader)
        n, self._number = self._number, self._number + 1
        names = [name for name, _ in clauses]
        repeat = "repeat" in names
        known = not analysis.irregular and not reader.calls
        drop = repeat or known
        place = self.source.place(directive.at)
        flags = (
            ["SMINT_KNOWN"] * known
            + ["SMINT_COLLAPSE"] * (0 < depth <= collapse)
            + ["SMINT_NOWAIT"] * ("nowait" in names)
            + ["SMINT_DROP"] * drop
        )
        values = ", ".join(f"{{{v.first}, {v.end}, {v.step}}}" for v in analysis.loops)
        accesses = [write_access(a, i == owner) for i, a in enumerate(analysis.accesses)]
        keep, use = self._local_pointers(loop, analysis)
        before = " ".join(one.prepare() for one in reduced)
        given = f"(const smint_access[]){{{', '.join(accesses)}}}" if accesses else "(const smint_access*)0"
        recall = self._recall(analysis) if repeat else ""
        shared = analysis.shared
        opening = (
            f"{{ smint_loop hiroba_loop; {keep}{before} smint_begin(&hiroba_loop, {given}, {len(accesses)},"
            f" (const smint_values[]){{{values}}}, {len(analysis.loops)}, {len(shared)}, "
        )
        behind = (
            f', "{place.file}:{place.line}");'
            f"{recall}{touches(analysis, loop, self._locked(loop))} while (smint_next(&hiroba_loop)) {{"
        )
        for k, each in enumerate(shared):
            kind = each.declared or f"__typeof__({each.name})"
            behind += f" const {kind} hiroba_first_{n}_{k} = ({kind})hiroba_loop.first[{k}],"
            behind += f" hiroba_end_{n}_{k} = ({kind})hiroba_loop.end[{k}];"
            self.source.override(each.first.start_byte, each.first.end_byte, f"hiroba_first_{n}_{k}")
            self.bounds.append((each.compare.start_byte, (f"hiroba_first_{n}_{k}", f"hiroba_end_{n}_{k}")))
            sign = "<" if each.step > 0 else ">"
            self.source.override(
                each.compare.start_byte, each.compare.end_byte, f"{each.name} {sign} hiroba_end_{n}_{k}"
            )
        after = " ".join(one.combine(f"{place.file}:{place.line}") for one in reduced)
        self.source.insert(loop.end_byte, f" }} smint_end(&hiroba_loop); {after}}}")
        self._explain(directive, counted, analysis, owner, reduced, repeat)
        end = "sms_sync_drop, because all that is read is fetched ahead" if drop else "sms_barrier"
        alone = known and not reduced and not repeat and "nowait" not in names
        self._loops.append(SharedLoop(directive, loop, (opening, behind + use), flags, alone, len(self.explain)))
        self.explain.append(f"  end: {end}")

    def _collides(self, loop: Node, reader: LoopReader, analysis: Analysis) -> bool:
        """Says so of shared elements that are changed by what they were, where two iterations may have the same one."""
        affine = {access.node.id for access in analysis.single}
        for node in walk(reader.body):
            change = changes(node)
            if change is None or change[0].type != "subscript_expression" or change[0].id in affine:
                continue
            right = node.child_by_field_name("right")
            again = right is not None and re.sub(r"\s", "", text_of(change[0])) in re.sub(r"\s", "", text_of(right))
            base, indices = change[0], []
            while base.type == "subscript_expression":
                indices.append(base.child_by_field_name("index") or base)
                base = base.child_by_field_name("argument") or base.named_children[0]
            vague = [index for index in indices if may_repeat(index, reader.body)]
            own = [i for i in indices if i not in vague and reader.counted.name in identifiers(i)]
            if not vague or own:
                continue
            by_rank = "sms_rank" in text_of(change[0]) or any(a <= node.start_byte < b for a, b in self._locked(loop))
            if (change[1] == "=" and not again) or by_rank or self.rewriter.resolve(base) is None:
                continue
            before = self.source.errors
            self.source.complain(
                OPTION,
                node.start_byte,
                f"iterations of different ranks may change the same element `{text_of(change[0])}`, and lose a change",
                "put `#pragma SMint critical` above this statement, use sms_fetch_add, or, if no two iterations have "
                "the same element, say `parallel for independent`",
            )
            return self.source.errors > before
        return False

    def _recall(self, analysis: Analysis) -> str:
        bases = list(dict.fromkeys(f"(const void*)({access.base})" for access in analysis.unknown))
        given = f"(const void* const[]){{{', '.join(bases)}}}" if bases else "(const void* const*)0"
        return f" static smint_memo hiroba_memo; smint_recall(&hiroba_loop, &hiroba_memo, {given}, {len(bases)});"

    def _locked(self, loop: Node) -> list[tuple[int, int]]:
        """What stands under `critical` in this loop: the line, and the statement behind it."""
        inside = [d for d in self.rewriter.found.directives if loop.start_byte <= d.at < loop.end_byte]
        criticals = [d for d in inside if d.name == "critical"]
        return [(d.at, s.end_byte) for d in criticals if (s := self._statement(d)) is not None]

    def _local_pointers(self, loop: Node, analysis: Analysis) -> tuple[str, str]:
        """Copies of the pointers of shared arrays: for all that the C compiler knows, a store might change those."""
        pointers = dict.fromkeys(a.base[2:-1] for a in analysis.accesses if a.base.startswith("(*"))
        self.rewriter.kept.append((loop.start_byte, loop.end_byte, frozenset(pointers)))
        keep = "".join(f"__typeof__({p}) const kept_{p} = {p}; " for p in pointers)
        return keep, "".join(f" (void)kept_{p};" for p in pointers)

    def _owner(
        self, directive: Directive, clauses: list[tuple[str, str]], analysis: Analysis, reader: LoopReader
    ) -> int:
        for name, argument in clauses:
            if name != "affinity":
                continue
            wanted = re.sub(r"\s+", "", argument)
            for i, access in enumerate(analysis.accesses):
                if re.sub(r"\s+", "", access.text) == wanted:
                    return i
            for i, access in enumerate(analysis.accesses):
                if access.name == wanted.split("[")[0]:
                    return i
            self.source.error(
                self._at(directive, argument),
                f"affinity({argument}) is no access of this loop with affine subscripts",
                "name one, for example affinity(A[i][0])",
            )
        return -1

    def _how(self, access: Access) -> str:
        """What becomes of an access with affine subscripts."""
        if access.base.startswith("(*"):
            return "fetched in bulk"
        base = access.node
        while base.type == "subscript_expression":
            base = base.child_by_field_name("argument") or base.named_children[0]
        of = self._declared.type_of(base)
        is_array = of is not None and of.derived[:1] == (ARRAY,)
        return "each rank has its own" if is_array else "fetched in bulk, if it points to a shared array"

    def _explain(
        self,
        directive: Directive,
        counted: Counted,
        analysis: Analysis,
        owner: int,
        reduced: list[Reduced],
        repeat: bool,
    ) -> None:
        say = self.explain.append
        say(f"{self.source.place(directive.at)}: parallel for over `{counted.name}`")
        deciding = analysis.accesses[owner] if owner >= 0 else None
        deciding = deciding or next((a for a in analysis.accesses if a.writes), None)
        if deciding is not None:
            say(f"  who: the home of `{deciding.text}`, if its array is shared and divided; else equal parts")
        else:
            say("  who: equal parts, because no array is written with an affine subscript")
        for access in analysis.accesses:
            words = " and ".join(["written"] * access.writes + ["read"] * access.reads)
            section = describe(access.low, access.high, analysis)
            say(f"  what: `{access.name}` is {words}: {section}; {self._how(access)}")
        for text in analysis.irregular:
            say(f"  what: {text}; left to the page cache")
        if repeat:
            say("  repeat: the pages that the first execution uses are fetched at once from then on")
        say("  when: iterations that need nothing from other nodes run first, while the rest is on its way")
        for one in reduced:
            say(f"  reduction: `{one.text}` by {one.operator} over all ranks")


def describe(low: list[Form], high: list[Form], analysis: Analysis) -> str:
    out = []
    for a, b in zip(low, high, strict=True):
        terms = [
            analysis.loops[k].name if factor == "1" else f"{factor}*{analysis.loops[k].name}"
            for k, factor in a.factors.items()
        ]
        first, last = a.value(), b.value()
        rest = [] if first == last == "0" and terms else [first if first == last else f"({first}..{last})"]
        out.append(f"[{' + '.join(terms + rest)}]")
    return "".join(out)
