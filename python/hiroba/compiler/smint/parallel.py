"""#pragma SMint parallel for: a loop becomes a table of its affine accesses, and calls of smint.h around its parts."""

from __future__ import annotations

import bisect
import re

from ..core.affine import Form
from ..core.arithmetic import name_of
from ..core.clauses import clauses_of
from ..core.counted import REAL, Counted, assigned_names, changes, identifiers, is_sum, read_for
from ..core.declarators import enclosing, innermost
from ..core.declared import ARRAY
from ..core.every_rank import OPTION
from ..core.found import Directive
from ..core.notation import meant
from ..core.source import Node, subscripts, text_of, walk
from ..core.text import words_with_brackets
from .affinity import owner_of
from .checks import touches
from .conflicts import Conflicts
from .devices import DeviceLoop
from .independence import carried_dependence, conditional, may_repeat, provably_shared, worth_sharing
from .later import SERIAL
from .loops import Access, Analysis, LoopReader
from .nesting import threads_word
from .part import SharedLoop, Smint
from .private import Summed
from .reductions import Reduced, ReductionReader
from .schedule import Schedule, schedule_of
from .tasks import TaskLoop

OMP = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+omp\b(.*)")
# Clauses of OpenMP that a parallel for of ranks does not have, with their replacement.
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


def parallel(smint: Smint, directive: Directive) -> None:
    ParallelFor(smint).lower(directive)


class ParallelFor:
    """Makes C of one such loop."""

    def __init__(self, smint: Smint) -> None:
        self.smint, self.rewriter, self.source, self.declared = smint, smint.rewriter, smint.source, smint.declared

    def lower(self, directive: Directive) -> None:
        clauses, known = clauses_of(self.source, directive), directive.kind.clauses
        for name, argument in clauses:
            if name not in known:
                message = f"unknown word `{name}` in #pragma SMint parallel"
                remedy = FOREIGN[name].replace("{}", argument) if name in FOREIGN else meant(name, known)
                self.source.error(directive.place(name), message, remedy)
                return
        if not any(name == "for" for name, _ in clauses):
            self.source.error(directive.at, "#pragma SMint parallel without `for`", "write parallel for, above a loop")
            return
        loop = self.smint.statements.statement(directive)
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
        if not self.smint.statements.stays(directive, loop) or not self._steady(loop, counted):
            return
        if any(name == "tasks" for name, _ in clauses):
            TaskLoop(self.smint, directive, loop, counted, clauses).lower()
            return
        if any(name == "device" for name, _ in clauses):
            DeviceLoop(self.smint, directive, loop, counted, clauses).lower()
            return
        if any(name == "tile" for name, _ in clauses):
            self.source.error(directive.place("tile"), "`tile` without `tasks`", "write parallel for tasks tile(..)")
            return
        clauses += self._omp_clauses(directive, loop)
        self._share_out(directive, loop, counted, clauses)

    def _steady(self, loop: Node, counted: Counted) -> bool:
        """Returns true if only the loop itself changes its counter."""
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
        of = self.declared.type_of(counted.variable)
        if counted.declared in REAL or name_of(of) in REAL or (of is not None and of.derived):
            self.source.error(
                counted.variable.start_byte, "the variable of a parallel for is an integer", "count with int"
            )
            return False
        return not changed

    def _omp_lines(self, directive: Directive, loop: Node) -> list[str]:
        """Returns the words of OpenMP directives between ours and the loop."""
        lines = map(OMP.match, self.source.text[directive.end : loop.start_byte].split("\n"))
        return [omp[1] for omp in lines if omp is not None]

    def _omp_clauses(self, directive: Directive, loop: Node) -> list[tuple[str, str]]:
        """Their reductions hold for the ranks, too."""
        clauses = (clause for words in self._omp_lines(directive, loop) for clause in words_with_brackets(words))
        return [clause for clause in clauses if clause[0] in ("reduction", "collapse")]

    def _share_out(self, directive: Directive, loop: Node, counted: Counted, clauses: list[tuple[str, str]]) -> None:
        self.smint.unit.covered.append((loop.start_byte, loop.end_byte))
        reader = LoopReader(self.rewriter, self.declared, loop, counted)
        analysis = reader.read()
        if self._depends(loop, analysis):
            return
        independent = "independent" in [name for name, _ in clauses]
        if not independent and self._collides(loop, reader, analysis):
            return
        conflicts = None if independent else Conflicts(reader, self._locked)
        if conflicts is not None and conflicts.report(self.source.place(directive.at)):
            return
        reduced = ReductionReader(self.rewriter, self.declared, directive, loop).read(clauses)
        threads = any(threads_word(words) for words in self._omp_lines(directive, loop))
        schedule = schedule_of(self.rewriter, directive, loop, clauses, threads)
        if not self.smint.clean:
            return
        names_reduced = [one.name for one in reduced]
        self.smint.unit.same[loop.start_byte] = frozenset(names_reduced)
        self.smint.own.warn_of_loop(loop, reader, names_reduced, directive.end)
        private = {word for text in self.smint.own.copies(directive.end, loop) for word in re.findall(r"\w+", text)}
        self.smint.summed.append(Summed(loop, reader, frozenset({*names_reduced, *private}), independent))
        collapse = max([int(text) for name, text in clauses if name == "collapse" and text.isdigit()], default=0)
        depth = provably_shared(reader, analysis, names_reduced, max(collapse, 1))
        depth = worth_sharing(self.rewriter, analysis, depth, max(collapse, 1))
        analysis.shared = analysis.shared[:depth]
        wanted = next((argument for name, argument in clauses if name == "affinity"), "")
        owner = owner_of(reader, directive, wanted) if wanted else -1
        names = [name for name, _ in clauses]
        repeat = "repeat" in names
        known = not analysis.irregular and not reader.calls
        drop = repeat or known
        place = self.source.place(directive.at)
        flags = (
            ["SMINT_KNOWN"] * known
            + ["SMINT_COLLAPSE"] * (0 < depth <= collapse)
            + ["SMINT_NOWAIT"] * ("nowait" in names and not schedule.chunk)
            + ["SMINT_DROP"] * drop
            + schedule.flags
        )
        writer = self.smint.writer(loop)
        used = [
            writer.entry(access, i == owner, access.writes and conditional(access.node, loop))
            for i, access in enumerate(analysis.accesses)
        ]
        touched = touches(writer, analysis, loop, self._locked(loop))
        keep, use = self._local_pointers(loop, analysis)
        before = " ".join(one.prepare() for one in reduced)
        recall = self._recall(analysis) if repeat else ""
        shared = analysis.shared
        if conflicts is not None:
            before += " " * bool(before) + conflicts.at_run_time()
        declared, opening, behind = writer.begin(
            used, touched, analysis.loops, len(shared), f"{place.file}:{place.line}", schedule.chunk
        )
        opening = f"{{ const smint_part* hiroba_part; {declared}{keep}{before}{' ' * bool(before)}{opening}"
        behind += f"{recall} while ((hiroba_part = smint_next()) != 0) {{{self._divide(shared)}"
        after = "".join(f" {one.combine(f'{place.file}:{place.line}')}" for one in reduced)
        self.source.insert(loop.end_byte, f" }}{after} }}")
        self._explain(directive, counted, analysis, owner, reduced, repeat, schedule)
        end = "sms_sync_drop, because all that is read is fetched ahead" if drop else "sms_barrier"
        if schedule.chunk and "nowait" in names:
            end += "; in spite of `nowait`, because other ranks may still do iterations of this one"
        alone = known and not reduced and not repeat and "nowait" not in names and not schedule.chunk
        line = len(self.smint.explain)
        self.smint.loops.append(SharedLoop(directive, loop, (opening, behind + use), flags, alone, line, directive.end))
        self.smint.explain.append(f"  end: {end}")

    def _is_again(self, directive: Directive) -> bool:
        """Returns true if it is in a serial loop, or in a function that one calls."""
        node = self.rewriter.root.descendant_for_byte_range(directive.at, directive.at)
        if node is None or node.type in SERIAL or enclosing(node, *SERIAL) is not None:
            return node is not None
        function = node if node.type == "function_definition" else enclosing(node, "function_definition")
        return function is not None and function_name(function) in self.smint.called_again

    def _depends(self, loop: Node, analysis: Analysis) -> bool:
        """Returns true, after an error, if an iteration certainly needs a value that another one writes."""
        carried = carried_dependence(self.rewriter, loop, analysis, self._locked(loop))
        if carried is not None:
            write, other = carried
            self.source.error(
                write.node.start_byte,
                f"iterations of this loop depend on each other: `{write.text}` is written, and"
                + (" every iteration writes it" if other is write else f" another one uses it as `{other.text}`"),
                "write into a second array, or make it a reduction",
            )
        return carried is not None

    def _divide(self, shared: list[Counted]) -> str:
        """Gives loops the bounds of a part, and returns their declarations."""
        n, self.smint.numbered = self.smint.numbered, self.smint.numbered + 1
        out = ""
        for k, each in enumerate(shared):
            kind = each.declared or f"__typeof__({each.name})"
            out += f" const {kind} hiroba_first_{n}_{k} = ({kind})hiroba_part->first[{k}],"
            out += f" hiroba_end_{n}_{k} = ({kind})hiroba_part->end[{k}];"
            self.source.override(each.first.start_byte, each.first.end_byte, f"hiroba_first_{n}_{k}")
            self.smint.unit.bounds.append((each.compare.start_byte, (f"hiroba_first_{n}_{k}", f"hiroba_end_{n}_{k}")))
            sign = "<" if each.step > 0 else ">"
            self.source.override(
                each.compare.start_byte, each.compare.end_byte, f"{each.name} {sign} hiroba_end_{n}_{k}"
            )
        return out

    def _collides(self, loop: Node, reader: LoopReader, analysis: Analysis) -> bool:
        """Returns true, after an error, if two iterations may change the same shared element by its old value."""
        affine = {access.node.id for access in analysis.single}
        for node in walk(reader.body):
            change = changes(node)
            if change is None or change[0].type != "subscript_expression" or change[0].id in affine:
                continue
            base, indices = subscripts(change[0])
            vague = [index for index in indices if may_repeat(index, reader.body)]
            own = [i for i in indices if i not in vague and reader.counted.name in identifiers(i)]
            if not vague or own:
                continue
            locked = any(a <= node.start_byte < b for a, b in self._locked(loop))
            safe = locked or "sms_rank" in identifiers(change[0])
            if not is_sum(node, *change) or safe or self.rewriter.resolve(base) is None:
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
        return f" static smint_memo hiroba_memo; smint_recall(&hiroba_memo, {given}, {len(bases)});"

    def _locked(self, loop: Node) -> list[tuple[int, int]]:
        """Returns the statements under `critical` in this loop: the line, and the statement after it."""
        directives = self.rewriter.found.directives  # in the order of the text
        first, last = (
            bisect.bisect_left(directives, at, key=lambda d: d.at) for at in (loop.start_byte, loop.end_byte)
        )
        locked = [d for d in directives[first:last] if d.kind.one_at_a_time]
        return [(d.at, s.end_byte) for d in locked if (s := self.smint.statements.statement(d)) is not None]

    def _local_pointers(self, loop: Node, analysis: Analysis) -> tuple[str, str]:
        """Copies the pointers of shared arrays: as far as the C compiler knows, a store might change them."""
        pointers = dict.fromkeys(a.base[2:-1] for a in analysis.accesses if a.base.startswith("(*"))
        self.rewriter.keep(loop.start_byte, loop.end_byte, pointers)
        keep = "".join(f"__typeof__({p}) const kept_{p} = {p}; " for p in pointers)
        return keep, "".join(f" (void)kept_{p};" for p in pointers)

    def _how(self, access: Access) -> str:
        """Returns the replacement of an access with affine subscripts."""
        if access.base.startswith("(*"):
            return "fetched in bulk"
        base, _ = subscripts(access.node)
        of = self.declared.type_of(base)
        is_array = of is not None and of.derived[:1] == (ARRAY,)
        return "each rank has its own" if is_array else "fetched in bulk, if it points to a shared array"

    def _who(self, analysis: Analysis, owner: int) -> str:
        """Describes the choice that share_of() in src/loops makes at run time."""
        numbers = range(max(len(analysis.shared), 1))
        divide = [
            access for access in analysis.accesses
            if self._how(access) != "each rank has its own"
            and any(k in form.factors for form in access.low for k in numbers)
        ]  # fmt: skip
        order = [
            *([analysis.accesses[owner]] if owner >= 0 else []),
            *(access for access in divide if access.writes),
            *(access for access in divide if access.reads),
        ]
        texts = [f"`{text}`" for text in dict.fromkeys(access.text for access in order)]
        if not texts:
            return "equal parts, because no array that may be shared has an affine subscript of the loop"
        if len(texts) == 1:
            return f"the home of {texts[0]}, if its array is shared and divided; else equal parts"
        return f"the home of the first of {', '.join(texts)} whose array is shared and divided; else equal parts"

    def _explain(
        self,
        directive: Directive,
        counted: Counted,
        analysis: Analysis,
        owner: int,
        reduced: list[Reduced],
        repeat: bool,
        schedule: Schedule,
    ) -> None:
        say = self.smint.explain.append
        say(f"{self.source.place(directive.at)}: parallel for over `{counted.name}`")
        say(f"  who: {self._who(analysis, owner)}")
        self.smint.explain += schedule.explained
        for access in analysis.accesses:
            words = " and ".join(["written"] * access.writes + ["read"] * access.reads)
            if not words:
                continue
            section = describe(access.low, access.high, analysis)
            say(f"  what: `{access.name}` is {words}: {section}; {self._how(access)}")
        for text in analysis.irregular:
            say(f"  what: {text}; left to the page cache")
        if analysis.irregular and not repeat and self._is_again(directive):
            say("  hint: the loop is executed again and again; if it uses the same elements each time, `repeat` in its")
            say("        directive fetches at once what the first execution fetched page by page")
        if repeat:
            say("  repeat: the pages that the first execution uses are fetched at once from then on")
        if not schedule.chunk:
            say("  when: iterations that need nothing from other nodes run first, while the rest is on its way")
        for one in reduced:
            say(f"  reduction: `{one.text}` by {one.operator} over all ranks")


def function_name(function: Node) -> str:
    return text_of(innermost(function.child_by_field_name("declarator") or function))


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
