"""`parallel for`: the accesses of a loop, as the affine accesses of smint.h, and the loops that are shared out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from ..core.affine import Form, Reader, add, integer
from ..core.arithmetic import SMALL, computed, name_of
from ..core.counted import (
    REAL,
    Counted,
    assigned_names,
    assignments,
    bounds_of,
    declared_names,
    declared_pointers,
    identifiers,
    read_for,
)
from ..core.declarators import innermost
from ..core.declared import POINTER, Declared
from ..core.shared import Rewriter
from ..core.source import Node, one_line, subscripts, text_of, walk
from ..core.text import spliced

MAX_LOOPS, MAX_DIMS, MAX_SHARED, MERGE_WITHIN = 8, 8, 3, 64


@dataclass
class Access:
    text: str
    base: str
    name: str
    node: Node
    writes: bool
    reads: bool
    low: list[Form]
    high: list[Form]


@dataclass
class Values:
    """The C that replaces a loop variable."""

    name: str
    first: str
    end: str
    step: str

    def known_step(self) -> int:
        """Returns 0 if it is known at run time only."""
        return integer(self.step) or 0


@dataclass
class Analysis:
    accesses: list[Access] = field(default_factory=list)
    single: list[Access] = field(default_factory=list)  # as in the program, before merging
    loops: list[Values] = field(default_factory=list)
    irregular: list[str] = field(default_factory=list)
    unknown: list[Access] = field(default_factory=list)  # of these only the arrays: pointers' targets before the loop
    loose: bool = False  # some loop ends at the smaller of two values, and counts as ending at one of them
    shared: list[Counted] = field(default_factory=list)  # the loop, and those nested in it perfectly
    made: dict[int, int] = field(default_factory=dict)  # numbers that are no loops, and the loops that they follow


def through_pointer(node: Node) -> bool:
    """Returns true for *p and p->x."""
    if node.type == "pointer_expression":
        return text_of(node).startswith("*")
    return node.type == "field_expression" and "->" in [c.type for c in node.children]


def only_loop(body: Node) -> Node | None:
    """Returns the loop that is the whole statement."""
    inside = [n for n in body.named_children if n.type != "comment"] if body.type.startswith("compound") else [body]
    return inside[0] if len(inside) == 1 and inside[0].type == "for_statement" else None


class LoopReader:
    """Reads one `parallel for` nest."""

    def __init__(self, rewriter: Rewriter, declared: Declared, loop: Node, counted: Counted) -> None:
        self.declared = declared
        self.rewriter, self.source, self.loop, self.counted = rewriter, rewriter.source, loop, counted
        self.body = loop.child_by_field_name("body") or loop
        self.assigned, self.once = names_changed(loop)
        self.locals = declared_names(loop)
        self.local_pointers = declared_pointers(loop)
        self.calls = any(n.type == "call_expression" for n in walk(self.body))
        self.reader = Reader({counted.name: Form(0, "", {0: "1"})}, self.is_invariant, self.render)
        self.out = Analysis()
        self.entered: set[int] = set()  # loops that are already known
        self.beyond: set[str] = set()  # variables of loops without a number

    def render(self, node: Node) -> str:
        """Returns an expression as C, with shared names and coindexed objects rewritten."""
        coindexed = self.rewriter.coindexed(node)
        if coindexed is not None:
            return coindexed
        shared = self.rewriter.resolve(node) if node.type == "identifier" else None
        if shared is not None:
            return shared.renamed
        edits = ((child.start_byte, child.end_byte, self.render(child)) for child in node.children)
        return one_line(spliced(self.source.text, node.start_byte, node.end_byte, edits))

    def is_invariant(self, node: Node) -> bool:
        name = text_of(node)
        if name in self.assigned or name in self.locals or self.rewriter.resolve(node) is not None:
            return False
        if not self.declared.is_declared(node):  # let the C compiler report it
            return False
        return name_of(self.declared.type_of(node)) not in REAL

    def _values(self, counted: Counted, first: str, end: str) -> Values:
        step = str(counted.step)
        if counted.by is not None:
            step = f"{'-' if counted.step < 0 else ''}({self.render(counted.by)})"
        return Values(counted.name, first, end, step)

    def type_of_bound(self, counted: Counted) -> str | None:
        return computed(counted.bound, self.declared.type_of)

    def end_of(self, counted: Counted) -> str:
        """Returns the first integer that is not reached; bounds may be real numbers."""
        bound, kind = self.render(counted.bound), self.type_of_bound(counted)
        if kind is not None and kind not in REAL:
            return past(bound, counted.past)
        rounded = f"smint_{'ceil' if (counted.step > 0) == (counted.past == 0) else 'floor'}((double)({bound}))"
        if kind is None:
            rounded = f"((__typeof__({bound}))0.5 != 0 ? {rounded} : (int64_t)({bound}))"
        return past(rounded, counted.past)

    def read(self) -> Analysis:
        first, end = self.render(self.counted.first), self.end_of(self.counted)
        self.out.loops.append(self._values(self.counted, first, end))
        self.out.shared.append(self.counted)
        self._nested(self.body)
        self._walk(self.body)
        return self.out

    def _nested(self, body: Node) -> None:
        """Loops that are the whole body of the one around them, with constant bounds, can be shared out with it."""
        while len(self.out.shared) < MAX_SHARED:
            inside = only_loop(body)
            if inside is None:
                return
            counted, body_inside = read_for(inside), inside.child_by_field_name("body")
            if isinstance(counted, str) or body_inside is None or counted.name in assigned_names(body_inside):
                return
            parts = [counted.first, counted.bound, *([counted.by] if counted.by is not None else [])]
            forms = [self.reader.read(part) for part in parts]
            if any(form is None or form.factors for form in forms) or counted.name in self.reader.variables:
                return
            if self.type_of_bound(counted) in REAL:
                return
            self.reader.variables[counted.name] = Form(0, "", {len(self.out.loops): "1"})
            first, bound = self.render(counted.first), self.render(counted.bound)
            self.out.loops.append(self._values(counted, first, past(bound, counted.past)))
            self.out.shared.append(counted)
            self.entered.add(inside.id)
            body = body_inside

    def _walk(self, node: Node) -> None:
        before = dict(self.reader.variables)
        self._walk_inside(node)
        if node.type in ("for_statement", "compound_statement"):  # after it, names have their earlier meaning
            self.reader.variables = before

    def _walk_inside(self, node: Node) -> None:
        if node.type == "for_statement" and node.id not in self.entered:
            self._enter(node)
        elif node.type == "declaration":
            self._copies(node)
        elif node.type == "expression_statement":
            self._copied(node)
        if node.type == "subscript_expression":
            self._access(node)
            return
        if through_pointer(node):
            self.out.irregular.append(f"{text_of(node)}: what this pointer points to is not known")
            self._unknown(node, node.child_by_field_name("argument"))
        for child in node.named_children:
            self._walk(child)

    def _enter(self, loop: Node) -> None:
        counted = read_for(loop)
        if isinstance(counted, str):
            return
        self.reader.variables.pop(counted.name, None)
        if self.type_of_bound(counted) in REAL:
            return
        by = self.reader.read(counted.by) if counted.by is not None else Form()
        if by is None or by.factors:
            return
        first, body = self.reader.read(counted.first), loop.child_by_field_name("body")
        if first is None or body is None or counted.name in assigned_names(body):
            return
        self.out.loose = self.out.loose or len(bounds_of(counted)) > 1
        for bound in (self.reader.read(node) for node in bounds_of(counted)):
            if bound is not None and not first.factors and not bound.factors:
                number = self._number(self._values(counted, first.value(), past(bound.value(), counted.past)))
                if number >= 0:
                    self.reader.variables[counted.name] = Form(0, "", {number: "1"})
                return
            length = add(bound, first, -1) if bound is not None else first
            if not length.factors:  # a block that begins where an outer variable is
                number = self._number(self._values(counted, "0", past(length.value(), counted.past)))
                if number >= 0:
                    self.reader.variables[counted.name] = add(first, Form(0, "", {number: "1"}))
                return

    def _number(self, values: Values) -> int:
        """Returns the number of a loop. Consecutive loops with the same values share one; -1 if there are too many."""
        around = {k for form in self.reader.variables.values() for k in form.factors}
        for k, old in enumerate(self.out.loops[len(self.out.shared) :], len(self.out.shared)):
            if k not in around and (old.first, old.end, old.step) == (values.first, values.end, values.step):
                return k
        if len(self.out.loops) == MAX_LOOPS:
            self.beyond.add(values.name)
            return -1
        self.out.loops.append(values)
        return len(self.out.loops) - 1

    def _copies(self, declaration: Node) -> None:
        """Handles `int n = i;`: n stands for i, if nothing changes it."""
        for declarator in declaration.children_by_field_name("declarator"):
            name = innermost(declarator)
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            if name is None or value is None or declarator.child_by_field_name("declarator") != name:
                continue
            if declaration.parent is not None and declaration.parent.type == "for_statement":
                continue
            if text_of(name) not in self.assigned:
                self._stands_for(name, value)

    def _copied(self, statement: Node) -> None:
        """Handles `n = i;`: the same for a variable that is set here, and nowhere else in the loop."""
        inside = statement.named_children[0] if statement.named_children else statement
        parent = statement.parent
        if inside.type != "assignment_expression" or parent is None or parent.type != "compound_statement":
            return
        name, value = inside.child_by_field_name("left"), inside.child_by_field_name("right")
        plain = text_of(inside.child_by_field_name("operator")) == "="
        if name is None or value is None or not plain or text_of(name) not in self.once:
            return
        if name.type == "identifier" and self.rewriter.resolve(name) is None:
            self._stands_for(name, value)

    def _stands_for(self, name: Node, value: Node) -> None:
        """Valid from here to the end of the block, if it holds the value of any index."""
        form = self.reader.read(value)
        if form is not None and name_of(self.declared.type_of(name)) not in (*SMALL, *REAL):
            self.reader.variables[text_of(name)] = form

    # ---- accesses ----

    def _subscript(self, node: Node) -> Form | None:
        return self.reader.read(node)

    def _access(self, node: Node) -> None:
        base, indices = subscripts(node)
        for index in indices:
            self._walk(index)
        if base.type != "identifier":
            self.out.irregular.append(f"{text_of(node)}: what this points to is not known")
            self._unknown(node, base)
            self._walk(base)
            return
        name = text_of(base)
        if (coarray := self.rewriter.resolve(base)) is not None and coarray.codims:
            return  # each image has its own part, and the loop does not fetch data of other images
        if name in self.local_pointers or len(indices) > MAX_DIMS:
            self.out.irregular.append(f"{text_of(node)}: what `{name}` points to is not known")
            return
        if name in self.locals:  # an array of each iteration's own
            return
        if name in self.assigned:
            self.out.irregular.append(f"{text_of(node)}: `{name}` changes in the loop")
            self._unknown(node, base)
            return
        if len(indices) > 1 and self._by_pointers(base, len(indices)):
            self.out.irregular.append(f"{text_of(node)}: `{name}` has pointers in it, not rows")
            self._unknown(node, None)
            return
        forms = [self._subscript(index) for index in indices]
        if any(form is None for form in forms):
            many = any(identifiers(index) & self.beyond for index in indices)
            why = f"this nest has more than {MAX_LOOPS} different loops" if many else "a subscript is not affine"
            self.out.irregular.append(f"{text_of(node)}: {why}")
            self._unknown(node, base)
            return
        shared = self.rewriter.resolve(base)
        if shared is not None and len(indices) < shared.dims:
            self.out.irregular.append(f"{text_of(node)}: fewer subscripts than dimensions")
            self._unknown(node, base)
            return
        if address_taken(node):
            self.out.irregular.append(f"&{text_of(node)}: what is done with this address is not known")
            self._unknown(node, base)
            return
        writes, reads = how_used(node)
        access = Access(
            text_of(node),
            f"(*{shared.pointer})" if shared is not None else name,
            name,
            node,
            writes,
            reads,
            [f for f in forms if f is not None],
            [f for f in forms if f is not None],
        )
        self.out.single.append(replace(access))
        self._merge(access)

    def _by_pointers(self, base: Node, subscripts: int) -> bool:
        """Returns true for double **rows; double *rows[N]: each row may be anywhere."""
        of = self.declared.type_of(base)
        return of is not None and POINTER in of.derived[1:subscripts]

    def _unknown(self, node: Node, base: Node | None) -> None:
        """Adds an access of which at most the array is known: that of a name, or of *name."""
        while base is not None and base.type in ("parenthesized_expression", "pointer_expression"):
            base = base.named_children[0] if base.named_children else None
        if base is None or base.type != "identifier" or text_of(base) in {*self.locals, *self.reader.variables}:
            return
        shared, (writes, reads) = self.rewriter.resolve(base), how_used(node)
        if shared is not None and shared.codims:
            return
        whole = f"(*{shared.pointer})" if shared is not None else text_of(base)
        self.out.unknown.append(Access(one_line(text_of(node)), whole, text_of(base), node, writes, reads, [], []))

    def _merge(self, new: Access) -> None:
        """Merges accesses that differ by small constants into one, which includes all elements between them."""
        for old in self.out.accesses:
            if old.base != new.base or len(old.low) != len(new.low) or old.writes != new.writes:
                continue
            same = all(a.text == b.text and a.factors == b.factors for a, b in zip(old.low, new.low, strict=True))
            close = all(abs(a.constant - b.constant) <= MERGE_WITHIN for a, b in zip(old.low, new.low, strict=True))
            if not same or not close:
                continue
            old.low = [min(a, b, key=lambda f: f.constant) for a, b in zip(old.low, new.low, strict=True)]
            old.high = [max(a, b, key=lambda f: f.constant) for a, b in zip(old.high, new.high, strict=True)]
            old.reads = old.reads or new.reads
            return
        self.out.accesses.append(new)


def names_changed(node: Node) -> tuple[set[str], set[str]]:
    """Returns the variables that a statement changes, and those that it changes at one place."""
    changed = Counter(text_of(target) for target in assignments(node))
    return set(changed), {name for name, times in changed.items() if times == 1}


def past(bound: str, more: int) -> str:
    return bound if more == 0 else f"({bound}) {'+' if more > 0 else '-'} 1"


def how_used(node: Node) -> tuple[bool, bool]:
    """Returns if this expression is written, and if it is read."""
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "field_expression"):
        node, parent = parent, parent.parent
    if parent is None:
        return False, True
    if parent.type == "assignment_expression" and parent.child_by_field_name("left") == node:
        return True, text_of(parent.child_by_field_name("operator")) != "="
    if parent.type == "update_expression":
        return True, True
    return False, True


def member_of(node: Node) -> str:
    """Returns the member of an element that is used: .x.y for a[i].x.y"""
    path = ""
    while node.parent is not None and node.parent.type in ("parenthesized_expression", "field_expression"):
        node = node.parent
        path += f".{text_of(node.child_by_field_name('field'))}" if node.type == "field_expression" else ""
    return path


def address_taken(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "field_expression"):
        parent = parent.parent
    return parent is not None and parent.type == "pointer_expression" and text_of(parent).startswith("&")
