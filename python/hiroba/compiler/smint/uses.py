"""The elements of arrays that the body of a parallel loop uses, with all that is known of when it does: the loops and
the conditions around them. More than loops.py knows, which needs boxes to fetch: triangular loops, alternatives,
quotients, members, and pointers that the body makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from ..core.affine import Form, add, scale
from ..core.arithmetic import SMALL, name_of
from ..core.counted import REAL, Counted, assigned_names, bounds_of, declared_names, read_for
from ..core.declarators import innermost
from ..core.source import Node, bare, subscripts, text_of, walk
from .loops import LoopReader, address_taken, names_changed
from .values import MOST_CALLS, Evaluator, Rows, Value, Values, at_least, combine, parameters_of

JUMPS = ("break_statement", "continue_statement", "goto_statement", "return_statement")
LOOPS = ("for_statement", "while_statement", "do_statement")


@dataclass(frozen=True)
class Element:
    """An element, or where a pointer points to: the next subscript is added to the last one (`open`), or follows it."""

    base: Node
    forms: tuple[Form, ...] = ()
    rows: Rows = ()
    certain: bool = True
    open: bool = False


@dataclass
class Use:
    node: Node
    text: str
    path: str  # members: .x.y
    writes: bool
    constant: bool  # writes a value that is the same in all iterations
    places: list[Element]  # alternatives; none if it is not affine
    when: list[Rows] | None  # alternatives of the conditions around it; None: they are not known
    loads: bool  # a value in it is read from memory
    base: Node | None  # the name of the array, if it has one
    by_call: bool  # a subscript comes from a function of which nothing is known
    at: Node  # in the loop: a call, if it is in a function


class Uses:
    def __init__(self, reader: LoopReader) -> None:
        self.reader, self.declared, self.rewriter = reader, reader.declared, reader.rewriter
        self.values = Evaluator(reader)
        self.when: list[Rows] | None = [()]
        self.pointers: dict[str, list[Element] | None] = {}  # declared in the body
        self.found: list[Use] = []
        self.site: Node | None = None  # the call that is walked
        self.entered: list[Node] = []  # the bodies of functions around
        counted = reader.counted
        ends = self._ends(counted) or [Value(Form(-counted.past, f"({reader.end_of(counted)})"))]
        if self._enter(counted, ends):
            self._walk(reader.body)

    # ---- statements ----

    def _narrowed(self, rows: list[Rows] | None, node: Node | None) -> None:
        """Walks what is executed under further conditions."""
        before = self.when
        self.when = None if rows is None or before is None else combine(before, rows)
        if node is not None:
            self._walk(node)
        self.when = before

    def _walk(self, node: Node) -> None:
        kind, before = node.type, (dict(self.values.names), dict(self.pointers), self.when)
        if kind == "compound_statement":
            for child in node.named_children:
                self._walk(child)
                self._left(child)
        elif kind in ("if_statement", "conditional_expression"):
            condition = node.child_by_field_name("condition")
            if condition is not None:
                self._walk(condition)
            self._narrowed(self.values.condition(condition), node.child_by_field_name("consequence"))
            self._narrowed(self.values.condition(condition, False), node.child_by_field_name("alternative"))
        elif kind == "for_statement":
            self._loop(node)
        elif kind in ("while_statement", "do_statement", "switch_statement", "labeled_statement"):
            self.when = None
            self._walk_children(node)
        elif kind == "binary_expression" and text_of(node.child_by_field_name("operator")) in ("&&", "||"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None:
                self._walk(left)
            holds = text_of(node.child_by_field_name("operator")) == "&&"
            self._narrowed(self.values.condition(left, holds), right)
        else:
            self._walk_other(node)
            return
        self.values.names, self.pointers, self.when = before

    def _walk_children(self, node: Node) -> None:
        for child in node.named_children:
            self._walk(child)

    def _walk_other(self, node: Node) -> None:
        """Walks what leaves names as they are, or gives them values."""
        kind = node.type
        if kind in ("sizeof_expression", "alignof_expression"):
            return
        if kind in ("subscript_expression", "pointer_expression", "field_expression"):
            self._access(node)
            return
        self._walk_children(node)
        if kind == "call_expression":
            self._called(node)
        elif kind == "declaration":
            for declarator in node.children_by_field_name("declarator"):
                self._declare(declarator)
        elif kind == "expression_statement":
            self._assign(node)

    def _left(self, child: Node) -> None:
        """What follows `if (c) continue;` is executed where c does not hold."""
        if child.type in (*JUMPS, "declaration", "expression_statement"):
            return
        jumps = [n for n in walk(child) if n.type in JUMPS and not _stays_inside(n, child)]
        if not jumps or self.when is None:
            return
        last = child.child_by_field_name("consequence")
        if last is not None and last.type == "compound_statement" and last.named_children:
            last = last.named_children[-1]
        simple = child.type == "if_statement" and child.child_by_field_name("alternative") is None
        fails = self.values.condition(child.child_by_field_name("condition"), False)
        known = simple and len(jumps) == 1 and last == jumps[0] and fails is not None
        self.when = combine(self.when, fails) if known and fails is not None else None

    def _called(self, call: Node) -> None:
        """Walks the body of a function of this file, with its arguments."""
        function, given = self.values.function(call), call.child_by_field_name("arguments")
        body = function.child_by_field_name("body") if function is not None else None
        parameters = parameters_of(function) if function is not None else None
        if body is None or given is None or parameters is None or len(parameters) != len(given.named_children):
            return
        if body in self.entered or len(self.entered) == MOST_CALLS or self.values.hidden(body, call):
            return
        names = self.values.bound(parameters, given.named_children)
        pointers = {text_of(innermost(name)): self._pointed(value) if name.type != "identifier" else None
                    for (name, _), value in zip(parameters, given.named_children, strict=True)}  # fmt: skip
        reader, values = self.reader, self.values
        kept = (values.names, self.pointers, self.when, self.site, reader.assigned, reader.once, reader.locals)
        assigned, once = names_changed(body)
        values.names, self.pointers, self.site = names, pointers, self.site or call
        reader.assigned, reader.once = reader.assigned | assigned, once
        reader.locals = {**reader.locals, **declared_names(body)}
        self.entered.append(body)
        self._walk(body)
        self.entered.pop()
        values.names, self.pointers, self.when, self.site, reader.assigned, reader.once, reader.locals = kept

    def _loop(self, loop: Node) -> None:
        counted, body = read_for(loop), loop.child_by_field_name("body")
        for part in ("initializer", "condition", "update"):
            child = loop.child_by_field_name(part)
            if child is not None:
                self._walk_children(child)
        if body is None:
            return
        if isinstance(counted, str):
            first = loop.child_by_field_name("initializer")
            for name in assigned_names(loop) | ({text_of(innermost(first))} if first is not None else set()):
                self.values.names[name] = None
        elif counted.name in assigned_names(body):
            self.values.names[counted.name] = None
        else:
            self._enter(counted, self._ends(counted))
        self._walk(body)

    def _ends(self, counted: Counted) -> Values | None:
        """Returns the values that a loop does not pass; None if they are not known."""
        out: Values = []
        for bound in bounds_of(counted):
            end = self.values.read(bound) if self.reader.type_of_bound(counted) not in REAL else None
            if end is None or len(end) != 1:
                return None
            out += end
        return out

    def _enter(self, counted: Counted, ends: Values | None) -> bool:
        """Gives the variable of a loop its values, and returns true if they are known."""
        first = self.values.read(counted.first)
        step = [Value(Form(counted.step))] if counted.by is None else self.values.read(counted.by)
        self.values.names[counted.name] = None
        if first is None or step is None or ends is None or len(first) * len(step) != 1 or self.when is None:
            return False
        number = self.values.variable()
        by = step[0].form if counted.by is None or counted.step > 0 else scale(step[0].form, Form(-1))
        value = add(first[0].form, scale(number, by))
        rows: Rows = (number, *first[0].rows)
        for end in ends:
            past = add(end.form, Form(counted.past))
            rows += (at_least(past, value, 1) if counted.step > 0 else at_least(value, past, 1), *end.rows)
        self.when = combine(self.when, [rows])
        self.values.names[counted.name] = [Value(value)]
        return True

    # ---- names of the body ----

    def _declare(self, declarator: Node) -> None:
        name, value = text_of(innermost(declarator)), declarator.child_by_field_name("value")
        shape = declarator.child_by_field_name("declarator") if value is not None else declarator
        self.values.names[name], self.pointers[name] = None, None
        if value is None or shape is None or name in self.reader.assigned:
            return
        if shape.type == "identifier":
            self._set(shape, value)
        elif shape.type == "pointer_declarator":
            self.pointers[name] = self._pointed(value)

    def _assign(self, statement: Node) -> None:
        """`n = i;` in a block: n has this value up to its end, if it gets no other one in the loop."""
        inside = statement.named_children[0] if statement.named_children else statement
        name, value = inside.child_by_field_name("left"), inside.child_by_field_name("right")
        if inside.type != "assignment_expression" or name is None or name.type != "identifier" or value is None:
            return
        plain = text_of(inside.child_by_field_name("operator")) == "="
        if plain and text_of(name) in self.reader.once and self.rewriter.resolve(name) is None:
            self._set(name, value)

    def _set(self, name: Node, value: Node) -> None:
        kind = name_of(self.declared.type_of(name))
        self.values.names[text_of(name)] = self.values.read(value) if kind not in (*SMALL, *REAL) else None

    # ---- places ----

    def _pointed(self, node: Node | None) -> list[Element] | None:
        """Returns where a pointer, or an array, begins."""
        node = bare(node) if node is not None else None
        if node is None:
            return None
        if node.type == "identifier":
            name = text_of(node)
            if name in self.pointers:
                return self.pointers[name]
            known = name not in self.reader.assigned and name not in self.reader.locals
            return [Element(node)] if known and name not in self.values.names else None
        if node.type == "binary_expression":
            operator = text_of(node.child_by_field_name("operator"))
            index = self.values.read(node.child_by_field_name("right"))
            if index is None or operator not in ("+", "-"):
                return None
            sign = 1 if operator == "+" else -1
            index = [replace(each, form=add(Form(), each.form, sign)) for each in index]
            return self._moved(self._pointed(node.child_by_field_name("left")), index, True)
        if node.type == "pointer_expression" and text_of(node)[0] == "&":
            places = self._element(node.child_by_field_name("argument"))
            return None if places is None else [replace(each, open=True) for each in places]
        if node.type == "field_expression" and self.values.is_steady_place(node):
            self.values.loads = True
            return [Element(node)]
        return self._element(node) if node.type in ("subscript_expression", "pointer_expression") else None

    def _moved(self, places: list[Element] | None, index: Values | None, left_open: bool) -> list[Element] | None:
        if places is None or index is None:
            return None
        out = []
        for place, value in product(places, index):
            last = (add(place.forms[-1], value.form),) if place.open else (*place.forms[-1:], value.form)
            forms, certain = place.forms[:-1] + last, place.certain and value.certain
            out.append(Element(place.base, forms, place.rows + value.rows, certain, left_open))
        return out if len(out) <= 8 else None

    def _element(self, node: Node | None) -> list[Element] | None:
        """Returns the element that an expression denotes."""
        node = bare(node) if node is not None else None
        if node is None:
            return None
        if node.type == "subscript_expression":
            index = self.values.read(node.child_by_field_name("index"))
            return self._moved(self._pointed(node.child_by_field_name("argument")), index, False)
        if node.type == "pointer_expression" and text_of(node)[0] == "*":
            return self._moved(self._pointed(node.child_by_field_name("argument")), [Value(Form())], False)
        return None

    # ---- uses ----

    def _access(self, node: Node) -> None:
        """Records the use of an element, or of its member; and those in its subscripts."""
        inside, path = node, ""
        while True:
            member = self._member_of_element(inside) if inside.type == "subscript_expression" else None
            if member is not None:
                index = inside.child_by_field_name("index")
                if index is not None:
                    self._walk(index)
                inside, path = member, ""
            elif inside.type == "field_expression" and not self.values.is_steady_place(inside):
                path = f".{text_of(inside.child_by_field_name('field'))}{path}"
                arrow = "->" in [child.type for child in inside.children]
                inside = bare(inside.child_by_field_name("argument") or inside)
                if arrow:
                    self._record(node, inside, path, self._moved(self._pointed(inside), [Value(Form())], False))
                    self._walk(inside)
                    return
            else:
                break
        self.values.loads = False
        if inside.type == "subscript_expression":
            base, indices = subscripts(inside)
            for index in indices:
                self._walk(index)
            if base.type not in ("identifier", "field_expression"):
                self._walk(base)
        elif inside.type == "pointer_expression":
            self._walk_children(inside)
        else:
            self._walk_children(node)
            return
        if inside.type == "subscript_expression" or text_of(inside)[0] == "*":
            self._record(node, inside, path, self._element(inside))

    def _member_of_element(self, node: Node) -> Node | None:
        """Returns a[i].v of a[i].v[k], whose elements count as one."""
        argument = bare(node.child_by_field_name("argument") or node)
        if argument.type == "subscript_expression":
            return self._member_of_element(argument)
        found = argument.type == "field_expression" and not self.values.is_steady_place(argument)
        return argument if found else None

    def _record(self, whole: Node, element: Node, path: str, places: list[Element] | None) -> None:
        if address_taken(whole):
            return
        writes, value = written(whole)
        text = " ".join(text_of(whole).split())
        constant = value is not None and value.type in ("number_literal", "char_literal")
        base, indices = subscripts(element)
        calls = [n for index in indices for n in walk(index) if n.type == "call_expression"]
        by_call = any(map(self.values.is_opaque, calls))
        named = base if base.type == "identifier" else None
        use = Use(whole, text, path, writes, constant, places or [], self.when, self.values.loads, named, by_call,
                  self.site or whole)  # fmt: skip
        self.found.append(use)


def written(node: Node) -> tuple[bool, Node | None]:
    """Returns if an expression is changed, and the value that it gets."""
    parent = node.parent
    while parent is not None and parent.type == "parenthesized_expression":
        node, parent = parent, parent.parent
    if parent is not None and parent.type == "assignment_expression" and parent.child_by_field_name("left") == node:
        plain = text_of(parent.child_by_field_name("operator")) == "="
        return True, parent.child_by_field_name("right") if plain else None
    return parent is not None and parent.type == "update_expression", None


def _stays_inside(jump: Node, statement: Node) -> bool:
    """Returns true if a jump leaves only what is inside of the statement."""
    ends = {"break_statement": (*LOOPS, "switch_statement"), "continue_statement": LOOPS}.get(jump.type, ())
    node = jump.parent
    while node is not None:
        if node.type in ends:
            return True
        if node.id == statement.id:
            return False
        node = node.parent
    return False
