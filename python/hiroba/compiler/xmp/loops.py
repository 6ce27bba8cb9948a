"""#pragma xmp loop: each node does the iterations whose indices of a template it owns. A loop keeps its variable and
its form; its bounds become those of the node, and a loop over cyclic indices becomes one for each of their runs."""

from __future__ import annotations

import re

from ..core.counted import REAL, Counted, assigned_names, assignments, declared_names, identifiers, read_for
from ..core.found import Directive
from ..core.shared import PREFIX, Anchor
from ..core.source import HASH_LINE, Node, text_of, walk
from ..core.text import matching, split_list
from .aligned import Aligned, Kept
from .breaks import lower_breaks, may_break
from .collectives import Reduced, join_locations, reduced
from .margins import NAMES, Widening, widening
from .part import Xmp
from .pointed_sums import SharedOut
from .references import count
from .subscripts import Shared, check_subscripts
from .sums import warn_of_sums
from .templates import check_indices, known_template, ranges_text
from .words import Template

OPENMP = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+omp\b")
CALLS = re.compile(r"(?:f?abs|a?(?:sin|cos|tan)|atan2|exp|log(?:2|10)?|pow|sqrt|cbrt|floor|ceil|fm(?:od|in|ax))f?")


def loop(xmp: Xmp, directive: Directive) -> None:
    found = re.fullmatch(r"(\([^()]*\)\s*)?on\s+(\w+)\s*(.*)", directive.words.strip(), re.DOTALL | re.IGNORECASE)
    if found is None:
        xmp.error(directive, "#pragma xmp loop without `on`", "write loop on t[i], or loop (i,j) on t[i][j]")
        return
    template = known_template(xmp, directive, found[2])
    statement = xmp.statements.statement(directive)
    if template is None or not template.formats or statement is None:
        return
    if statement.type != "for_statement":
        xmp.error(directive, "#pragma xmp loop stands above a for loop", "put it directly above the loop")
        return
    end = bracket_end(found[3])
    parts = xmp.in_c_order(found[3][:end])
    if not parts or len(parts) != template.dims:
        text = f"template `{template.name}` has {count(template.dims, 'dimension')}, and this names {len(parts or [])}"
        xmp.error(directive, text, "name each: a loop variable, or * for a dimension that is not shared")
        return
    if not xmp.statements.stays(directive, statement, may_end=True):
        return
    Lowered(xmp, directive, template, statement, parts, found[3].startswith("(")).lower(found[3][end:].strip())


def bracket_end(text: str) -> int:
    """Returns the end of the brackets that begin a text."""
    at = 0
    while at < len(text) and text[at] in "[(" and (end := matching(text, at)) > 0:
        at = end
        if text[at:].lstrip()[:1] in ("[",):
            at += len(text[at:]) - len(text[at:].lstrip())
    return at


class Lowered:
    """One directive."""

    def __init__(
        self, xmp: Xmp, directive: Directive, template: Template, statement: Node, parts: list[str], is_round: bool
    ) -> None:
        self.xmp, self.directive, self.template, self.statement = xmp, directive, template, statement
        self.parts = parts  # of each dimension of the template
        self.place = xmp.place(directive)
        self.number = sum(d.at < directive.at for d in xmp.directives)
        self.is_round = is_round
        self.widening: Widening | None = None
        self.piece = f"{PREFIX}{self.number}_piece"
        self.loops: list[Shared] = []
        self.reductions: list[Reduced] = []
        # C before and after the outermost loop.
        self.before: list[str] = []
        self.after: list[str] = []
        self.closing = ""

    def lower(self, clauses: str) -> None:
        if not self._clauses(clauses) or not self._find():
            return
        xmp, statement = self.xmp, self.statement
        if self.widening is not None and not self.widening.match(xmp, self.directive, self.template, self.loops):
            return
        xmp.unit.covered.append((statement.start_byte, statement.end_byte))
        xmp.divided |= {shared.node.id for shared in self.loops}
        check_subscripts(xmp, self.template, statement, self.loops)
        divided = {s.counted.name for s in self.loops if self.template.formats[s.axis] != "*"}
        if divided:
            told = warn_of_sums(xmp, statement, self.loops, divided)
            xmp.shared_out.append(SharedOut(statement, frozenset(divided), frozenset(told)))
        pieces = self.widening.begin(len(self.loops), self.piece) if self.widening is not None else ""
        if not may_break(xmp, self.directive, self.loops, any(r.is_located for r in self.reductions), bool(pieces)):
            return
        for shared in self.loops:
            self._bounds(shared)
        self._orders()
        kept = self._keep()
        here = self._here()
        if self.widening is not None and pieces:
            self.before.insert(0, pieces)
            self.closing += " }"
            if here and self.widening.id:
                self.closing += f" {self.widening.wait()}"
        begin = "".join(f"{part} " for part in [*self._begin_reductions(), *kept, here, *self.before] if part)
        above = self._above()
        xmp.call(self.directive, f"{{ {begin}" if above < 0 else "")
        if above >= 0:
            at = xmp.source.place(above)
            xmp.source.insert(above, f'{{ {begin}\n# {at.line} "{at.file}"\n')
        xmp.source.insert(xmp.end(statement), f"{self.closing} {' '.join(self._end_reductions())} }}")
        self._tell()

    # ---- the directive ----

    def _clauses(self, words: str) -> bool:
        while words:
            found = re.match(r"(\w+)\s*\(", words)
            end = matching(words, found.end() - 1) if found is not None else -1
            name = found[1].lower() if found is not None else words.split()[0]
            if found is None or end < 0 or name not in ("reduction", *NAMES) or (name in NAMES and self.widening):
                text = f"`{name}` in #pragma xmp loop is " + ("there already" if name in NAMES else "no clause of it")
                remedy = f"write reduction(+:x), or one of {', '.join(NAMES)}"
                self.xmp.error(self.directive, text, remedy)
                return False
            if name in NAMES:
                given = words[found.end() : end - 1]
                self.widening = widening(self.xmp, self.directive, name, given, self.is_round)
                words = words[end:].strip()
                if self.widening is None:
                    return False
                continue
            operator = ""
            for each in join_locations(split_list(words[found.end() : end - 1])):
                operator, made = self._reduction(operator, each)
                if made is None:
                    return False
                self.reductions.append(made)
            words = words[end:].strip()
        return True

    def _reduction(self, operator: str, text: str) -> tuple[str, Reduced | None]:
        made = reduced(self.xmp, self.directive, operator, text)
        if made is None:
            return operator, None
        operator = made.operator
        located = operator.startswith(("first", "last"))
        if located and made.is_array:
            self.xmp.error(self.directive, f"`{made.text}` in {operator} is an array", "reduce one value")
            return operator, None
        if made.locations and not located:
            text = f"{operator} of `{made.text}` has locations"
            self.xmp.error(self.directive, text, "they go with firstmax, firstmin, lastmax and lastmin")
            return operator, None
        return operator, made

    def _find(self) -> bool:
        """Finds the loop of each variable in the template's subscripts."""
        wanted: dict[str, tuple[int, str]] = {}
        inner = [name_of_loop(node) for node in walk(self.statement) if node.type == "for_statement"]
        for axis, part in enumerate(self.parts):
            found = re.fullmatch(r"([A-Za-z_]\w*)\s*(?:([+-])\s*(.+))?", part, re.DOTALL)
            if found is not None and found[1] in inner:
                offset = self.xmp.expression(self.directive, found[3]) if found[3] else "0"
                if inner.count(found[1]) > 1:
                    text = f"`{found[1]}` is the variable of several loops here"
                    self.xmp.error(self.directive, text, "put a directive above each of the inner loops instead")
                    return False
                wanted[found[1]] = (axis, f"-({offset})" if found[2] == "-" else offset)
        for node in walk(self.statement):
            name = name_of_loop(node) if node.type == "for_statement" else ""
            if name not in wanted:
                continue
            counted = read_for(node)
            if isinstance(counted, str):
                self.xmp.source.error(
                    node.start_byte, f"a loop on a template {counted}", "write for (i = a; i < b; i++)"
                )
                return False
            if not self._counts(node, counted):
                return False
            axis, offset = wanted.pop(name)
            prefix = f"{PREFIX}{self.number}_{len(self.loops)}_"
            self.loops.append(Shared(node, counted, axis, offset, len(self.loops), prefix))
        if not self.loops:
            name = name_of_loop(self.statement)
            self.xmp.error(
                self.directive,
                f"the variable `{name}` of the loop below is no subscript of `{self.template.name}`",
                f"write loop on {self.template.name}[{name or 'i'}]",
            )
            return False
        if self.loops[0].node != self.statement and any(r.is_located for r in self.reductions):
            text = f"the loop over `{name_of_loop(self.statement)}` is not shared, and firstmax and its like"
            text += " compare the order of iterations"
            self.xmp.error(self.directive, text, "put the directive above the first loop that is shared")
            return False
        return True

    def _counts(self, loop: Node, counted: Counted) -> bool:
        """Reports a variable that is no integer, or that the body changes."""
        declared = self.xmp.declared
        kind, own = declared.type_of(counted.variable), declared.denoted(counted.variable)
        changed = [declared.denoted(each) for each in assignments(body_of(loop)) if each.type == "identifier"]
        if kind is not None and kind.base in REAL:
            what, remedy = f"has the variable `{counted.name}` of type {kind.base}", "count with an integer"
        elif own is not None and own in changed:
            what, remedy = f"changes `{counted.name}` in its body", "write continue, or a condition around statements"
        else:
            return True
        self.xmp.source.error(loop.start_byte, f"a loop on a template {what}", remedy)
        return False

    def _here(self) -> str:
        """Returns a condition where subscripts are constant: only their owner does iterations."""
        fixed = {s.axis for s in self.loops}
        ranges, any_ = [], False
        for axis, part in enumerate(self.parts):
            constant = axis not in fixed and part not in ("*", ":", "")
            ranges.append(
                (self.xmp.expression(self.directive, part) if constant else "0", "1" if constant else "XMP_REST")
            )
            any_ = any_ or constant
        if not any_:
            return ""
        self.closing += " }"
        return f"if (xmp_loop_here(&{self.template.variable}, {ranges_text(ranges)}, {self.place})) {{"

    # ---- loops ----

    def _bounds(self, s: Shared) -> None:
        """Replaces the bounds of a loop."""
        xmp, c, t = self.xmp, s.counted, self.template
        first, past = xmp.lowering.render(c.first), xmp.lowering.render(c.bound)
        past = f"({past}){f' + {c.past}' if c.past > 0 else f' - {-c.past}' if c.past < 0 else ''}"
        turns = t.formats[s.axis] == "cyclic"
        self._check_inside(s, first, past)
        s.hoisted = s.node == self.statement or (not turns and self._steady(s))
        where = f"&{t.variable}, {s.axis}, {s.name}first, {s.name}past, {s.step}, {s.offset}"
        setup = f"const int64_t {s.name}first = {first}, {s.name}past = {past}; xmp_loop_inside({where}, {self.place});"
        n, sign = s.name, "<" if c.step > 0 else ">"
        compared = f"{c.name} {sign} {n}end"
        by_subscript = turns and not self._has_pragma(s)
        if turns:
            setup += f" for (xmp_runs {n}runs = xmp_runs_begin({where}); xmp_runs_next(&{n}runs);) {{"
            setup += f" const int64_t {n}begin = {n}runs.first, {n}end = {n}runs.end, {n}step = {n}runs.step;"
            if by_subscript:  # its step is known, so that the loop can become vector code
                setup += f" const int64_t {n}last = {n}runs.local_end; int64_t {n}at = {n}runs.local; (void){n}end;"
                compared = f"{n}at {sign} {n}last"
        elif self.widening is not None:
            part = self.widening.part(s, self.piece)
            setup += f" const xmp_bounds {n}own = xmp_loop_bounds({where}, {s.width}, {part});"
            setup += f" const int64_t {n}begin = {n}own.begin, {n}end = {n}own.end;"
        else:
            where = f"&{t.variable}, {s.axis}"
            setup += f" const int64_t {n}begin = xmp_loop_first({where}, {n}first, {s.step}, {s.offset}),"
            setup += f" {n}end = xmp_loop_end({where}, {n}past, {s.step}, {s.offset});"
        self._replace(c.first, f"{n}begin")
        self._replace(c.compare, compared)
        update = s.node.child_by_field_name("update")
        if turns and update is not None:
            step = s.step if c.by is None else f"{n}runs.by"
            also = f", {n}at += {step}" if by_subscript else ""
            self._replace(update, f"{c.name} += {n}step{also}")
        if s.hoisted:
            self.before.append(setup)
            self.closing = " }" * turns + self.closing
        else:
            xmp.source.insert(s.node.start_byte, f"{{ {setup} ")
            xmp.source.insert(s.node.end_byte, " }" + " }" * turns)

    def _check_inside(self, s: Shared, first: str, past: str) -> None:
        """Reports a loop that leaves the template, if its bounds are numbers."""
        anchor = Anchor(s.node, s.node.start_byte)
        begin, end, step, offset = (self.xmp.known(each, anchor) for each in (first, past, s.step, s.offset))
        if begin is None or end is None or not step or offset is None or (end - begin) * step <= 0:
            return
        last = begin + (abs(end - begin) - 1) // abs(step) * step
        least, most = sorted((begin + offset, last + offset))
        check_indices(self.xmp, self.directive, self.template, s.axis, least, most)

    def _replace(self, node: Node, text: str) -> None:
        self.xmp.source.replace(node.start_byte, node.end_byte, text)
        self.xmp.taken.add(node.id)

    def _steady(self, s: Shared) -> bool:
        """Returns true if the bounds of an inner loop are known before the outermost one."""
        used = identifiers(s.counted.first) | identifiers(s.counted.bound)
        used |= identifiers(s.counted.by) if s.counted.by is not None else set()
        plain = all(
            n.type not in ("call_expression", "subscript_expression", "field_expression", "pointer_expression")
            for part in (s.counted.first, s.counted.bound) for n in walk(part)
        )  # fmt: skip
        changed = assigned_names(self.statement) | set(declared_names(self.statement))
        return plain and not used & changed

    def _above(self) -> int:
        """Returns the begin of the lines of OpenMP directly above the directive, which must stay directly above the
        loop; -1 if there are none."""
        text = self.xmp.source.text
        begin, found = text.rfind("\n", 0, self.directive.at) + 1, -1
        while begin > 0:
            begin = text.rfind("\n", 0, begin - 1) + 1
            if OPENMP.match(text, begin):
                found = begin
            elif not text.startswith("# ", begin) and text[begin : text.index("\n", begin)].strip():
                break
        return found

    def _has_pragma(self, s: Shared) -> bool:
        """Returns true if a line of OpenMP stands directly above a loop, which then may have one variable only."""
        if s.node != self.statement:
            before = self.xmp.source.text[: s.node.start_byte].rstrip()
            return before[before.rfind("\n") + 1 :].lstrip().startswith("#")
        between = self.xmp.source.text[self.directive.end : s.node.start_byte]
        return HASH_LINE.search(between) is not None or self._above() >= 0

    # ---- arrays ----

    def _keep(self) -> list[str]:
        """Makes pointers to the arrays of the outermost loop variables, so that no store can change them."""
        xmp, s = self.xmp, self.statement
        around = any(k.begin <= s.start_byte < k.end and k.names for k in xmp.aligned.kept)
        if around or xmp.is_inside("loop", self.directive.at):  # whose loop makes the pointers
            names: dict[tuple[int, str], Aligned] = {}
        else:
            uses = (xmp.aligned.of_node(n) for n in walk(s) if n.type in ("identifier", "field_expression"))
            names = {a.key: a for a in uses if a is not None}
        numbers = {}
        for shared in self.loops:
            if self.template.formats[shared.axis] == "cyclic" and not self._has_pragma(shared):
                denoted = xmp.declared.denoted(shared.counted.variable)
                if denoted is not None and shared.counted.name not in assigned_names(body_of(shared.node)):
                    key = (denoted.entity.at, self.template.name, shared.axis, shared.offset)
                    numbers[key] = f"{shared.name}at"
        xmp.aligned.kept.append(Kept(s.start_byte, s.end_byte, frozenset(names), numbers))
        checks = [f"xmp_aligned_check(&{a.descriptor}, {self.place});" for a in names.values() if a.comes_later]
        if xmp.source.checks:
            checks += [f"xmp_check_loop(&{a.descriptor}, {self.place});" for a in names.values()]
        waits = self.widening is not None and self.widening.id  # which changes shadows
        word = "restrict " if not waits and self._restricted() else ""
        return checks + [
            f"{a.type.format(f'const {word}{PREFIX}kept_{a.symbol}')} __attribute__((unused)) ="
            f" (void*){a.descriptor}.base;"
            for a in names.values()
        ]

    def _restricted(self) -> bool:
        """Returns true if what the loop changes is reached by names of arrays alone."""
        for node in walk(self.statement):
            if node.type == "call_expression":
                if not CALLS.fullmatch(text_of(node.child_by_field_name("function"))):
                    return False
            elif (
                node.type == "pointer_expression"
                or node.type in ("subscript_expression", "field_expression")
                and self.xmp.aligned.of_chain(node) is None
            ):
                return False
        return True

    # ---- reductions ----

    @property
    def _mask(self) -> int:
        return sum(1 << s.axis for s in self.loops)

    def _begin_reductions(self) -> list[str]:
        return [
            f"xmp_loop_reduction_begin(&{self.template.variable}, {self._mask}, {r.address}, {r.count}, {r.type},"
            f" {r.code}, {self.place});"
            for r in self.reductions
            if not r.locations and not r.is_located
        ] + [
            f"int64_t {self._order(i)} = -1; __typeof__({r.text}) {self._order(i)}_v = {r.text};"
            + "".join(copy_of(k, f"{self._order(i)}_{n}") for n, k in enumerate(r.locations))
            for i, r in enumerate(self.reductions) if r.is_located
        ]  # fmt: skip

    def _order(self, i: int) -> str:
        return f"{PREFIX}{self.number}_order_{i}"

    def _orders(self) -> None:
        """After each iteration, records its number if it has set a value of firstmax or its like."""
        recorded = self._recorded()
        for s in self.loops:
            turns, is_inner = self.template.formats[s.axis] == "cyclic", s == self.loops[-1]
            lower_breaks(self.xmp, s, turns, recorded if is_inner else "")
        inner = self.loops[-1].node.child_by_field_name("update")
        if inner is not None and recorded:
            self.xmp.source.insert(inner.start_byte, f"(void)__extension__({{{recorded} 0; }}), ")

    def _recorded(self) -> str:
        """Returns C for it; "" without firstmax and its like."""
        located = [(i, r) for i, r in enumerate(self.reductions) if r.is_located]
        if not located:
            return ""
        number = "0"
        for s in sorted(self.loops, key=lambda s: s.level):
            most = f"(({s.name}past - {s.name}first) / ({s.step}) + 1)"
            number = f"({number} * {most} + (int64_t)({s.counted.name} - {s.name}first) / ({s.step}))"
        text = ""
        for i, r in located:
            o = self._order(i)
            both = " && ".join(f"__builtin_isnan((long double)({v}))" for v in (r.text, f"{o}_v"))
            changed = [f"({r.text} != {o}_v && !({both}))"]  # a NaN is unequal to itself
            changed += [f"__builtin_memcmp(&{k}, &{o}_{n}, sizeof {k})" for n, k in enumerate(r.locations)]
            copies = "".join(f" __builtin_memcpy(&{o}_{n}, &{k}, sizeof {k});" for n, k in enumerate(r.locations))
            text += f" if ({' || '.join(changed)}) {{ {o} = {number}; {o}_v = {r.text};{copies} }}"
        return text

    def _end_reductions(self) -> list[str]:
        out = []
        for i, r in enumerate(self.reductions):
            head = f"&{self.template.variable}, {self._mask}, {r.address}"
            if not r.is_located:
                out.append(f"xmp_loop_reduction_end({head}, {r.count}, {r.type}, {r.code}, {self.place});")
                continue
            table = ", ".join(f"{{&{k}, sizeof {k}}}" for k in r.locations)
            places = f"(const xmp_location[]){{{table}}}" if table else "(const xmp_location*)0"
            out.append(
                f"xmp_loop_locate({head}, {self._order(i)}, {r.type}, {r.code}, {places}, {len(r.locations)},"
                f" {self.place});"
            )
        return out

    # ---- words ----

    def _tell(self) -> None:
        t = self.template
        if self.loops[0].node != self.statement:
            where = self.xmp.source.place(self.statement.start_byte)
            name = name_of_loop(self.statement)
            self.xmp.explain.append(f"{where}: loop over `{name}`: each node does all iterations")
        for s in self.loops:
            form = t.shown(s.axis)
            who = (
                "each node does all iterations"
                if form == "*"
                else f"each node of `{t.onto}` does those it owns, by {form}"
            )
            if self.widening is not None and not s.width.startswith("(xmp_expand){0, 0,"):
                who += f", with {self.widening.name}"
            where = self.xmp.source.place(s.node.start_byte)
            self.xmp.explain.append(
                f"{where}: loop over `{s.counted.name}` on dimension {s.axis + 1} of `{t.name}`: {who}"
            )


def name_of_loop(node: Node) -> str:
    """Returns the variable of a for loop; "" if it has none."""
    first = node.child_by_field_name("initializer")
    if first is None:
        return ""
    if first.type == "declaration":
        top = first.child_by_field_name("declarator")
        return text_of(top.child_by_field_name("declarator")) if top is not None else ""
    return text_of(first.child_by_field_name("left"))


def copy_of(variable: str, name: str) -> str:
    return f" __typeof__({variable}) {name}; __builtin_memcpy(&{name}, &{variable}, sizeof {name});"


def body_of(node: Node) -> Node:
    return node.child_by_field_name("body") or node
