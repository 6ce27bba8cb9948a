"""Values of integer expressions in a parallel loop, as affine forms of the loops around them: with the alternatives of
conditional expressions, quotients, and the functions of the file that only return such a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

from ..core.affine import WIDE, Form, add, integer, scale
from ..core.arithmetic import SMALL, name_of
from ..core.counted import REAL, changes
from ..core.declarators import innermost
from ..core.scopes import Kind
from ..core.source import Node, bare, base_of, text_of, walk
from .loops import LoopReader

MOST_ALTERNATIVES, MOST_CALLS = 8, 4
PARTS = ("field_expression", "subscript_expression", "parenthesized_expression")
Rows = tuple[Form, ...]  # each is at least 0


@dataclass(frozen=True)
class Value:
    """An affine value, and the conditions under which it is this one. `certain`: there are no others."""

    form: Form
    rows: Rows = ()
    certain: bool = True


Values = list[Value]
Names = dict[str, Values | None]  # None: not affine


def combine(*lists: list[Rows]) -> list[Rows] | None:
    """Returns the alternatives of conditions that all hold; None if there are too many."""
    out = [sum(rows, ()) for rows in product(*lists)]
    return out if len(out) <= MOST_ALTERNATIVES else None


def at_least(a: Form, b: Form, more: int = 0) -> Form:
    """Returns the row of a >= b + more."""
    return add(add(a, b, -1), Form(-more))


class Evaluator:
    """Reads expressions; `names` are those of the loop's body whose values it knows, or knows not to be affine."""

    def __init__(self, reader: LoopReader) -> None:
        self.reader, self.declared, self.rewriter = reader, reader.declared, reader.rewriter
        self.names: Names = {}
        self.variables = 0  # numbers of loops, and of quotients
        self.loads = False  # some value is read from memory
        self.depth = 0
        targets = [bare(change[0]) for node in walk(reader.loop) if (change := changes(node)) is not None]
        self.changed_members = {nearest(each) for each in targets if each.type == "field_expression"}
        self.changed_tables = {nearest(each) for each in targets if each.type == "subscript_expression"}

    def variable(self) -> Form:
        """Returns a number that is not known."""
        self.variables += 1
        return Form(0, "", {self.variables - 1: "1"})

    # ---- values ----

    def read(self, node: Node | None) -> Values | None:
        """Returns the alternatives; None if a value is not affine."""
        if node is None:
            return None
        kind, name = node.type, text_of(node)
        if kind == "number_literal":
            number = integer(name)
            return None if number is None else [Value(Form(number))]
        if kind == "identifier" and name in self.names:
            return self.names[name]
        if kind == "identifier" and (enumerator := self._enumerator(node)) is not None:
            return self._enumerated(enumerator)
        if kind == "parenthesized_expression":
            return self.read(bare(node)) if len(node.named_children) == 1 else None
        if kind == "cast_expression":
            wide = text_of(node.child_by_field_name("type")).strip() in WIDE
            return self.read(node.child_by_field_name("value")) if wide else None
        if kind == "unary_expression" and name[0] in "+-":
            inside = self.read(node.child_by_field_name("argument"))
            return inside if inside is None or name[0] == "+" else self._each([Value(Form())], inside, subtract)
        if kind == "binary_expression" and text_of(node.child_by_field_name("operator")) in ("+", "-", "*"):
            return self._binary(node)
        if self._is_steady(node):
            return [Value(Form(0, self._rendered(node)))]
        if kind == "binary_expression":
            return self._binary(node)
        if kind == "conditional_expression":
            return self._choice(node)
        return self._called(node) if kind == "call_expression" else None

    def _each(self, a: Values, b: Values, how: Callable[[Form, Form], Form | None]) -> Values | None:
        out: Values = []
        for one, other in product(a, b):
            form = how(one.form, other.form)
            if form is None or len(out) == MOST_ALTERNATIVES:
                return None
            out.append(Value(form, one.rows + other.rows, one.certain and other.certain))
        return out

    def _binary(self, node: Node) -> Values | None:
        left, right = self.read(node.child_by_field_name("left")), self.read(node.child_by_field_name("right"))
        operator = text_of(node.child_by_field_name("operator"))
        if left is None or right is None:
            return None
        if operator in ("/", "%", ">>"):
            return self._divided(left, right, operator)
        if operator == "<<" and all(each.form.is_number() for each in right):
            right = [replace(each, form=Form(1 << each.form.constant)) for each in right]
            operator = "*"
        how = {"+": add, "-": subtract, "*": times}.get(operator)
        return self._each(left, right, how) if how is not None else None

    def _divided(self, left: Values, right: Values, operator: str) -> Values | None:
        """The quotient is a number of its own; both operands are not negative, because C rounds to 0."""
        out: Values = []
        for one in left:
            if len(right) != 1 or right[0].form.factors:
                return None
            by = right[0].form
            if operator == ">>":
                if not by.is_number():
                    return None
                by = Form(1 << by.constant)
            quotient = self.variable()
            rest = add(one.form, scale(quotient, by), -1)
            rows = (rest, at_least(by, rest, 1), one.form, at_least(by, Form(1)))
            out.append(Value(rest if operator == "%" else quotient, one.rows + right[0].rows + rows, one.certain))
        return out

    def _choice(self, node: Node) -> Values | None:
        condition = node.child_by_field_name("condition")
        holds, fails = self.condition(condition), self.condition(condition, False)
        out: Values = []
        for part, rows in (("consequence", holds), ("alternative", fails)):
            values = self.read(node.child_by_field_name(part))
            if values is None:
                return None
            for value, more in product(values, [()] if rows is None else rows):
                out.append(Value(value.form, value.rows + more, value.certain and rows is not None))
        return out if len(out) <= MOST_ALTERNATIVES else None

    # ---- conditions ----

    def condition(self, node: Node | None, holds: bool = True) -> list[Rows] | None:
        """Returns the alternatives of rows that say that a condition holds, or that it does not; None if it cannot be
        said so."""
        node = bare(node) if node is not None else None
        if node is None:
            return None
        if node.type == "unary_expression" and text_of(node)[0] == "!":
            return self.condition(node.child_by_field_name("argument"), not holds)
        operator = text_of(node.child_by_field_name("operator")) if node.type == "binary_expression" else ""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator in ("&&", "||"):
            first, second = self.condition(left, holds), self.condition(right, holds)
            if first is None or second is None:
                return None
            return combine(first, second) if (operator == "&&") == holds else first + second
        if operator in ("<", "<=", ">", ">=", "==", "!="):
            return self._compared(self.read(left), operator, self.read(right), holds)
        return self._compared(self.read(node), "!=", [Value(Form())], holds)

    def _compared(self, a: Values | None, operator: str, b: Values | None, holds: bool) -> list[Rows] | None:
        if a is None or b is None or not all(each.certain for each in a + b):
            return None
        if not holds:
            operator = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}[operator]
        out: list[Rows] = []
        for one, other in product(a, b):
            x, y = one.form, other.form
            less, more = (at_least(y, x, 1),), (at_least(x, y, 1),)
            found: dict[str, list[Rows]] = {
                "<": [less], "<=": [(at_least(y, x),)], ">": [more], ">=": [(at_least(x, y),)], "!=": [less, more],
                "==": [(at_least(x, y), at_least(y, x))],
            }  # fmt: skip
            out += [one.rows + other.rows + rows for rows in found[operator]]
        return out if len(out) <= MOST_ALTERNATIVES else None

    # ---- values that do not change in the loop ----

    def _enumerator(self, node: Node) -> Node | None:
        denoted = self.declared.denoted(node)
        if denoted is None or denoted.kind is not Kind.ENUMERATOR:
            return None
        name = self.rewriter.root.descendant_for_byte_range(denoted.at, denoted.at + len(denoted.name))
        parent = name.parent if name is not None else None
        return parent if parent is not None and parent.type == "enumerator" else None

    def _enumerated(self, enumerator: Node) -> Values | None:
        value, before = enumerator.child_by_field_name("value"), enumerator.prev_named_sibling
        if value is not None:
            return self.read(value)
        while before is not None and before.type == "comment":
            before = before.prev_named_sibling
        last = self._enumerated(before) if before is not None else [Value(Form(-1))]
        return self._each(last, [Value(Form(1))], add) if last is not None else None

    def _shared(self, node: Node) -> bool:
        return self.rewriter.resolve(node) is not None

    def _rendered(self, node: Node) -> str:
        text = self.reader.render(node)
        return text if node.type in ("identifier", "subscript_expression", "field_expression") else f"({text})"

    def _is_steady(self, node: Node) -> bool:
        kind = node.type
        if kind in ("sizeof_expression", "number_literal", "char_literal"):
            return kind != "number_literal" or integer(text_of(node)) is not None
        if kind == "identifier":
            of = self.declared.type_of(node)
            pointer = of is not None and bool(of.derived)
            return not pointer and text_of(node) not in self.names and self.reader.is_invariant(node)
        if kind == "subscript_expression":
            index = node.child_by_field_name("index")
            self.loads = True
            return index is not None and self._is_steady(index) and self.is_steady_place(
                node.child_by_field_name("argument")
            ) and name_of(self.declared.type_of(node)) not in REAL  # fmt: skip
        if kind == "field_expression":
            self.loads = True
            return self.is_steady_place(node) and name_of(self.declared.type_of(node)) not in REAL
        if kind in ("binary_expression", "parenthesized_expression", "unary_expression", "conditional_expression"):
            return all(self._is_steady(child) for child in node.named_children)
        return False

    def is_steady_place(self, node: Node | None) -> bool:
        """Returns true for a private object that nothing in the loop changes: m, m->x, table[2]."""
        while node is not None and node.type in PARTS:
            index = node.child_by_field_name("index")
            if node.type == "field_expression" and nearest(node) in self.changed_members:
                return False
            if index is not None and (nearest(node) in self.changed_tables or not self._is_steady(index)):
                return False
            node = base_of(node)
        if node is None or node.type != "identifier" or self._shared(node):
            return False
        changed = {*self.reader.assigned, *self.reader.locals, *self.names}
        return text_of(node) not in changed and self.declared.is_declared(node)

    # ---- functions ----

    def _called(self, call: Node) -> Values | None:
        """Reads `int back(int i) { return i - 1; }`; also with returns under conditions before it."""
        given = call.child_by_field_name("arguments")
        return self._call(call, None if given is None else given.named_children)

    def is_opaque(self, call: Node) -> bool:
        """Returns true if the value does not follow from the arguments, whatever they are."""
        return self._call(call, None) is None

    def _call(self, call: Node, given: list[Node] | None) -> Values | None:
        function = self.function(call)
        parameters = parameters_of(function) if function is not None else None
        if function is None or parameters is None or self.depth == MOST_CALLS:
            return None
        if given is not None and len(given) != len(parameters):
            return None
        any_values: Names = {text_of(innermost(name)): [Value(self.variable())] for name, _ in parameters}
        before, self.depth = self.names, self.depth + 1
        self.names = any_values if given is None else self.bound(parameters, given)
        try:
            body = function.child_by_field_name("body")
            return self._returned(body, call) if body is not None else None
        finally:
            self.names, self.depth = before, self.depth - 1

    def bound(self, parameters: list[tuple[Node, str]], given: list[Node]) -> Names:
        """Returns the values of the parameters that are integers."""
        return {
            text_of(innermost(name)): self.read(value)
            if name.type == "identifier" and kind not in (*REAL, *SMALL) else None
            for (name, kind), value in zip(parameters, given, strict=True)
        }  # fmt: skip

    def function(self, call: Node) -> Node | None:
        name = text_of(call.child_by_field_name("function"))
        for node in self.rewriter.root.children:
            declarator = node.child_by_field_name("declarator") if node.type == "function_definition" else None
            if declarator is not None and text_of(innermost(declarator)) == name:
                return node
        return None

    def _returned(self, body: Node, call: Node) -> Values | None:
        out: Values = []
        rest: list[Rows] = [()]
        for statement in (n for n in body.named_children if n.type != "comment"):
            condition, inside = statement.child_by_field_name("condition"), statement
            if statement.type == "if_statement" and statement.child_by_field_name("alternative") is None:
                inside = statement.child_by_field_name("consequence") or statement
                while inside.type == "compound_statement" and len(inside.named_children) == 1:
                    inside = inside.named_children[0]
            if inside.type != "return_statement" or not inside.named_children or self.hidden(statement, call):
                return None
            values = self.read(inside.named_children[0])
            holds, fails = ([()], []) if condition is None else (self.condition(condition),
                                                                 self.condition(condition, False))  # fmt: skip
            if values is None or holds is None or fails is None:
                return None
            here, after = combine(rest, holds), combine(rest, fails)
            if here is None or after is None:
                return None
            out += [Value(v.form, v.rows + rows, v.certain) for v, rows in product(values, here)]
            rest = after
        return out if out and not rest and len(out) <= MOST_ALTERNATIVES else None

    def hidden(self, statement: Node, call: Node) -> bool:
        """Returns true if a name of a function means something else, or nothing, where it is called."""
        scopes = self.rewriter.scopes
        for node in walk(statement):
            here = scopes.denoted(node.start_byte) if node.type == "identifier" else None
            if here is None or (here.entity.block and not {"extern", "static"} & here.entity.words):
                continue  # a member, or of the function itself
            there = scopes.visible(text_of(node), call.start_byte)
            if there is None or here.entity is not there.entity:
                return True
        return False


def parameters_of(function: Node) -> list[tuple[Node, str]] | None:
    """Returns the declarator and the type of each parameter; None if there are some without a name."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    given = declarator.child_by_field_name("parameters") if declarator is not None else None
    out = []
    for each in given.named_children if given is not None else ():
        name, kind = each.child_by_field_name("declarator"), text_of(each.child_by_field_name("type"))
        if name is None and kind == "void":
            continue
        if name is None or innermost(name) is None:
            return None
        out.append((name, kind))
    return out


def nearest(node: Node) -> str:
    """Returns the name that an element or a member follows: y of x.y and x->y[i]."""
    while node.type in ("subscript_expression", "parenthesized_expression"):
        node = base_of(node)
    return text_of(node.child_by_field_name("field") or node)


def subtract(a: Form, b: Form) -> Form:
    return add(a, b, -1)


def times(a: Form, b: Form) -> Form | None:
    if b.is_constant():
        return scale(a, b)
    return scale(b, a) if a.is_constant() else None
