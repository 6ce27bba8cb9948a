"""The affine accesses of a loop whose tiles become tasks: bounds may depend on the variables of the loops around,
and an array passed to a function is used there as the parameter's type declares. A subscript that is not affine, but
whose values are known when the tasks are created, counts as a separate variable."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.affine import Form
from ..core.counted import REAL, Counted, assigned_names, bounds_of, read_for
from ..core.declared import ARRAY, POINTER
from ..core.shared import PREFIX
from ..core.source import Node, base_of, subscripts, text_of, walk
from .loops import MAX_LOOPS, MAX_SHARED, Access, Values, only_loop
from .outlined import OutlinedReader
from .plan import braces


@dataclass
class Span:
    """The values of a loop: `ends` are one end, or two of which the smaller one counts."""

    first: Form
    ends: list[Form]
    step: str

    def __str__(self) -> str:
        limit = affine(self.ends[1]) if len(self.ends) > 1 else "{smint_no_limit(), {0}}"
        return braces([affine(self.first), affine(self.ends[0]), limit, self.step, "0", "0", "0"])


@dataclass
class Made:
    """The values of a subscript for the variable of a loop, which is number `of`."""

    of: int
    variable: str
    text: str  # C
    function: str = ""  # the C function that computes it

    def __str__(self) -> str:
        zero = "{0, {0}}"
        return braces([zero, zero, zero, "1", self.function, f"&{PREFIX}data", str(self.of)])


# The nodes that a subscript may contain, except names.
SUBSCRIPT = (
    *("number_literal", "char_literal", "parenthesized_expression", "binary_expression", "unary_expression"),
    *("conditional_expression", "cast_expression", "type_descriptor", "primitive_type", "sized_type_specifier"),
    *("type_identifier", "subscript_expression", "identifier", "comment"),
)


def affine(form: Form) -> str:
    factors = [f"[{k}] = {factor}" for k, factor in form.factors.items()]
    return braces([form.value(), braces(factors or ["0"])])


class TileReader(OutlinedReader):
    """Reads one nest; the loops that may be tiled are `shared` of the analysis."""

    spans: list[Span | Made]
    tables: dict[str, Node]  # arrays from which subscripts are read, by name

    def read_spans(self) -> str:
        """Reads all. Returns the reason if the nest cannot become tasks."""
        self.spans, self.tables = [], {}
        if not self._begin(self.counted, self.loop):
            return f"the bounds of the loop over `{self.counted.name}` are not affine"
        self.out.shared.append(self.counted)
        self._nested(self.body)
        self._walk(self.body)
        for access in self.out.single:
            if access.writes and access.name in self.tables:
                self.out.irregular.append(f"{access.text} is written, and subscripts are read from `{access.name}`")
        return self.out.irregular[0] if self.out.irregular else ""

    def _begin(self, counted: Counted, loop: Node) -> bool:
        """Adds a loop, and returns true, if its bounds are affine."""
        body = loop.child_by_field_name("body")
        if len(self.spans) >= MAX_LOOPS:
            self.beyond.add(counted.name)
        if body is None or counted.name in assigned_names(body) or len(self.spans) >= MAX_LOOPS:
            return False
        by = self.reader.read(counted.by) if counted.by is not None else Form()
        first = self.reader.read(counted.first)
        if by is None or by.factors or first is None or self.type_of_bound(counted) in REAL:
            return False
        bounds = bounds_of(counted)
        ends = [end for bound in bounds if (end := self.reader.read(bound)) is not None]
        if not ends:
            return False
        self.out.loose = self.out.loose or len(ends) < len(bounds)  # the end that is not known may come first
        ends = [replace(end, constant=end.constant + counted.past) for end in ends[:2]]
        values = self._values(counted, first.value(), ends[0].value())
        self.reader.variables[counted.name] = Form(0, "", {len(self.spans): "1"})
        self.spans.append(Span(first, ends, values.step))
        self.out.loops.append(Values(counted.name, values.first, values.end, values.step))
        self.entered.add(loop.id)
        return True

    def _nested(self, body: Node) -> None:
        while len(self.out.shared) < MAX_SHARED:
            inside = only_loop(body)
            counted = read_for(inside) if inside is not None else ""
            if inside is None or isinstance(counted, str) or counted.name in self.reader.variables:
                return
            if not self._begin(counted, inside):
                return
            self.out.shared.append(counted)
            body = inside.child_by_field_name("body") or body

    def _enter(self, loop: Node) -> None:
        """Handles a loop that cannot be read, which may have no iterations."""
        counted = read_for(loop)
        if not isinstance(counted, str):
            self.reader.variables.pop(counted.name, None)
        self.out.loose = self.out.loose or isinstance(counted, str) or not self._begin(counted, loop)

    def _access(self, node: Node) -> None:
        base, indices = subscripts(node)
        shared = self.rewriter.resolve(base) if base.type == "identifier" else None
        if shared is not None and shared.codims:
            self._bare(base)
            return
        of = self.declared.type_of(node)
        if of is not None and of.derived[:1] == (POINTER,):
            self.out.irregular.append(f"{text_of(node)}: what this points to is not known")
            return
        call = self._passed(node)
        if call is None:
            super()._access(node)
            return
        function, number = call
        forms = [form for index in indices if (form := self._subscript(index)) is not None]
        name = text_of(base)
        wrong = base.type != "identifier" or name in {*self.locals, *self.assigned} or len(forms) < len(indices)
        if wrong or self._by_pointers(base, len(indices)):
            self.out.irregular.append(f"{text_of(node)}: what this points to is not known")
            return
        writes = not self._is_const(function, number)
        whole = f"(*{shared.pointer})" if shared is not None else name
        access = Access(text_of(node), whole, name, node, writes, True, forms, forms)
        self.out.single.append(access)
        self.out.accesses.append(access)

    def _subscript(self, node: Node) -> Form | None:
        return self.reader.read(node) or self._made(node)

    def _made(self, node: Node) -> Form | None:
        """Reads a subscript of any operators and elements of private arrays that depends on one loop at most."""
        variables: set[str] = set()
        tables: dict[str, Node] = {}
        for each in walk(node):
            if each.is_named and each.type not in SUBSCRIPT:
                return None
            if each.type != "identifier":
                continue
            name, known = text_of(each), self.reader.variables.get(text_of(each))
            if known is not None and [*known.factors.values()] == ["1"] and known.value() == "0":
                variables.add(name)
            elif known is not None or not self.is_invariant(each):
                return None
            if each.parent is not None and each.parent.type == "subscript_expression" and each == base_of(each.parent):
                tables[name] = each
        if len(variables) > 1 or len(self.spans) >= MAX_LOOPS:
            return None
        self.tables |= tables
        text = self.render(node)
        if not variables:
            return Form(0, f"({text})")
        variable = variables.pop()
        loop = next(iter(self.reader.variables[variable].factors))
        return Form(0, "", {self._number_of(Made(loop, variable, text)): "1"})

    def _number_of(self, made: Made) -> int:
        for number, old in enumerate(self.spans):
            if isinstance(old, Made) and (old.of, old.text) == (made.of, made.text):
                return number
        self.out.made[len(self.spans)] = made.of
        self.spans.append(made)
        self.out.loops.append(Values(made.text, "0", "1", "1"))
        return len(self.spans) - 1

    def _passed(self, node: Node) -> tuple[Node, int] | None:
        """Returns the function that gets this array or a part of one, and the number of the argument."""
        parent, of = node.parent, self.declared.type_of(node)
        if parent is None or parent.type != "argument_list" or of is None or of.derived[:1] != (ARRAY,):
            return None
        function = parent.parent.child_by_field_name("function") if parent.parent is not None else None
        arguments = [n for n in parent.named_children if n.type != "comment"]
        return (function, arguments.index(node)) if function is not None else None

    def _is_const(self, function: Node, number: int) -> bool:
        """Returns true if the function only reads the parameter's target."""
        top = self.declared.declarator(function) if function.type == "identifier" else None
        lists = [n for n in walk(top) if n.type == "parameter_list"] if top is not None else []
        parameters = [n for n in lists[0].named_children if n.type == "parameter_declaration"] if lists else []
        if number >= len(parameters):
            return False
        return any(n.type == "type_qualifier" and text_of(n) == "const" for n in parameters[number].named_children)
