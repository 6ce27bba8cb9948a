"""#pragma xmp array: each node does the elements of an array assignment whose indices of a template it owns."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial

from ..core.found import Directive
from ..core.source import Node, bare
from ..core.text import quoted
from .aligned import Aligned
from .arrays import Arrays, Loops, Operand
from .moves import dim_of
from .part import Xmp
from .references import Reference, count
from .subscripts import same_division
from .templates import known_template, ranges_text, template_range
from .words import Template


@dataclass(frozen=True)
class Range:
    """A dimension of the template that the assignment is shared by."""

    axis: int
    first: str
    count: str
    is_whole: bool = False  # `:`, which goes with any section of the left side


def array(xmp: Xmp, directive: Directive) -> None:
    found = re.fullmatch(r"on\s+(\w+)\s*(.*)", directive.words.strip(), re.DOTALL | re.IGNORECASE)
    if found is None:
        xmp.error(directive, "#pragma xmp array without `on`", "write array on t[:]")
        return
    template = known_template(xmp, directive, found[1])
    statement = xmp.statements.statement(directive)
    if template is None or not template.formats or statement is None:
        return
    move = statement.named_children[0] if statement.named_children else statement
    if move.type != "assignment_expression":
        xmp.error(directive, "#pragma xmp array stands above an assignment of sections", "write a[:] = b[:] + 1; below")
        return
    parts, ranges = xmp.in_c_order(found[2]), template_range(xmp, directive, template, found[2])
    if ranges is None:
        return
    parts = parts or [":"] * template.dims
    here = [r if ":" not in part and part != "*" else ("0", "XMP_REST") for part, r in zip(parts, ranges, strict=True)]
    t = template.variable
    shared = [
        Range(
            axis, *(r if r[1] != "XMP_REST" else (f"{t}.lower[{axis}]", f"{t}.extent[{axis}]")), part in (":", "")
        )
        for axis, (part, r) in enumerate(zip(parts, ranges, strict=True)) if ":" in part or not part
    ]  # fmt: skip
    work = Work(xmp, directive, template, shared, f"xmp_loop_here(&{t}, {ranges_text(here)}, {xmp.place(directive)})")
    xmp.lowering.prepare_aligned = partial(prepare, xmp)
    xmp.lowering.shared_out[move.start_byte] = work.lower
    xmp.source.replace(directive.at, directive.end, "")


def prepare(xmp: Xmp, arrays: Arrays, ref: Reference) -> Operand | None:
    """Returns a section of an aligned array, whose subscripts are those of this node's part."""
    found = xmp.aligned.of_chain(ref.node, arrays)
    if found is None:
        return None
    ref = replace(ref, steps=ref.steps[1:]) if found.member else ref
    out = Operand(ref, found.whole("base"))
    for d in range(len(ref.steps)):
        base, length, by = dim_of(arrays, found, ref, d)
        first = arrays.variable_of(out, "first", base)
        out.first.append(first)
        out.steps.append(arrays.variable_of(out, "step", by) if ref.steps[d].ranges else "")
        if ref.steps[d].ranges:
            out.counts.append(arrays.variable_of(out, "count", length))
        if found.turns(d):
            out.subscripts[d] = f"xmp_subscript(&{found.descriptor}, {d}, {{}})"
    return out


@dataclass(frozen=True)
class Work:
    """One directive."""

    xmp: Xmp
    directive: Directive
    template: Template
    ranges: list[Range]
    here: str  # C: true if this node executes any of it

    def lower(self, node: Node) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        arrays = self.xmp.lowering
        ref = arrays.reference(bare(left), whole=True, shared=True) if left is not None else None
        if ref is None or right is None:
            return "0"
        target = self.xmp.aligned.of_chain(ref.node, arrays)
        if not ref.rank or ref.remote or target is None or len(ref.steps) - bool(target.member) > target.dims:
            text = f"`{arrays.written(ref.node)}` is no section of an aligned array"
            arrays.error(node.start_byte, text, f"write a[:] = ..., where a is aligned with `{self.template.name}`")
            return "0"
        matched = self._match(arrays, node, ref, target)
        if matched is None:
            return "0"
        operator = arrays.text_of_operator(node)[:-1]
        arrays.say(node, f"is shared: each node of `{self.template.onto}` does the elements whose indices of"
                   f" `{self.template.name}` it owns")  # fmt: skip
        with arrays.sharing():
            return SharedLoops(self, arrays, ref, operator, right, matched, target).lower()

    def _match(self, arrays: Arrays, node: Node, ref: Reference, target: Aligned) -> list[Range | None] | None:
        """Returns the range of the template for each range of the left side; None where each node has all."""
        if not same_division(target.template, self.template):
            text = f"`{target.name}` is aligned with `{target.template.name}`, and the assignment is shared by"
            text += f" `{self.template.name}`"
            arrays.error(node.start_byte, text, f"write array on {target.template.name}")
            return None
        steps = ref.steps[bool(target.member) :]
        axes = [target.axes[d] for d, step in enumerate(steps) if step.ranges]
        by_axis = {r.axis: r for r in self.ranges}
        needless = {axis for axis, r in by_axis.items() if r.is_whole and axis not in target.axes}
        if {axis for axis in axes if axis >= 0} == set(by_axis) - needless:
            return [by_axis.get(axis) for axis in axes]
        text = f"`{self.template.name}` is named with {count(len(by_axis), 'range')}, which are not those of the"
        text += f" aligned dimensions of `{arrays.written(ref.node)}`"
        arrays.error(
            node.start_byte, text, "give : where the left side has a range, its index where it has that, else *"
        )
        return None


class SharedLoops(Loops):
    """The loops of one assignment, over what this node owns."""

    def __init__(
        self,
        work: Work,
        arrays: Arrays,
        left: Reference,
        operator: str,
        right: Node,
        ranges: list[Range | None],
        to: Aligned,
    ) -> None:
        super().__init__(arrays, left, operator, right)
        self.work, self.ranges = work, list(ranges)
        place, what = self.place, quoted(f"{arrays.written(left.node)} and {work.template.name}")
        ranged = [d for d, by in enumerate(self.to.steps) if by]
        for d, (r, many) in enumerate(zip(ranges, self.to.counts, strict=True)):
            if r is None:
                continue
            index = f"{self.to.first[ranged[d]]} + ({to.offsets[ranged[d]]})"
            if r.is_whole and self.to.steps[ranged[d]] == "1":
                self.ranges[d] = Range(r.axis, index, many)
                continue
            self.before.append(f"xmp_same({many}, {r.count}, {d}, {what}, {place});")
            self.before.append(
                f"xmp_array_on(&{work.template.variable}, {r.axis}, {index}, {self.to.steps[ranged[d]]}, {r.first},"
                f" {what}, {place});"
            )

    def _operand(self, ref: Reference) -> str:
        found, t = self.work.xmp.aligned.of_chain(ref.node, self.arrays), self.work.template
        if found is not None and not same_division(found.template, t) and any(map(found.is_divided, range(found.dims))):
            self.arrays.error(
                ref.node.start_byte,
                f"`{found.name}` is aligned with `{found.template.name}`, and the assignment is shared by `{t.name}`",
                "move it by gmove into an array that is aligned as the left side",
            )
            return "0"
        return super()._operand(ref)

    def _loop(self, body: str, counted: bool) -> str:
        t, heads = self.work.template, f"if ({self.work.here}) "
        for name, r, many in zip(self.variables, self.ranges, self.to.counts, strict=True):
            if r is None:
                heads += f"for ({name} = 0; {name} < {many}; {name}++) "
                continue
            where = f"&{t.variable}, {r.axis}"
            if t.formats[r.axis] == "cyclic":
                runs = f"{name}_runs"
                heads += (
                    f"for (xmp_runs {runs} = xmp_runs_begin({where}, 0, {r.count}, 1, {r.first});"
                    f" xmp_runs_next(&{runs});)"
                    f" for ({name} = {runs}.first; {name} < {runs}.end; {name} += {runs}.step) "
                )
            else:
                end = f"{name}_end"
                heads += (
                    f"for (int64_t {end} = ({name} = xmp_loop_first({where}, 0, 1, {r.first}),"
                    f" xmp_loop_end({where}, {r.count}, 1, {r.first})); {name} < {end}; {name}++) "
                )
        return heads + (f"{{ {body} {self.number}++; }}" if counted else body)
