"""Reads the functions of a file as the operations of operations.py."""

from __future__ import annotations

from .declarators import innermost
from .expressions import Expressions
from .operations import NOTHING, Branch, Function, Jump, Key, Label, Loop, Mark, Operation, Region, Set, Value
from .source import Node, bare, text_of


class Reader(Expressions):
    """Reads one file."""

    def functions(self) -> list[Function]:
        return [self._read(node) for node in self.root.children if node.type == "function_definition"]

    def _read(self, node: Node) -> Function:
        declarator = node.child_by_field_name("declarator")
        name = text_of(innermost(declarator or node))
        function = Function(node, name, [self.scopes.declared(at) for at in parameters_at(node)])
        self._function, self._block = function, function.body
        body = node.child_by_field_name("body")
        if body is not None:
            self._skip_to(body.start_byte)
            self.statement(body)
        return function

    # ---- statements ----

    def _skip_to(self, at: int) -> None:
        while self._alone < len(self.around.alone) and self.around.alone[self._alone] < at:
            self._alone += 1

    def _marks_before(self, node: Node, at: int) -> None:
        alone = self.around.alone
        while self._alone < len(alone) and alone[self._alone] < at:
            self._block.append(Mark(node, alone[self._alone]))
            self._alone += 1

    def _inside(self, *nodes: Node | None) -> list[Operation]:
        """Returns the operations of these statements, as a separate block."""
        outer, self._block = self._block, []
        for node in nodes:
            if node is not None:
                self.statement(node)
        inner, self._block = self._block, outer
        return inner

    def statement(self, node: Node) -> None:
        self._marks_before(node, node.start_byte)
        region = self.around.regions.get(node.start_byte)
        if region is not None and node.type.endswith("statement"):
            outer, self._block = self._block, []
            self._plain_statement(node)
            inner, self._block = self._block, outer
            same = {d.entity for name in region if (d := self.scopes.visible(name, node.start_byte)) is not None}
            self._block.append(Region(node, inner, frozenset(same)))
        else:
            self._plain_statement(node)

    def _plain_statement(self, node: Node) -> None:
        kind = node.type
        handler = getattr(self, f"_{kind}", None)
        if handler is not None:
            handler(node)
        elif kind in ("else_clause", "case_statement", "attributed_statement"):
            for child in node.named_children:
                self.statement(child)
        elif kind.endswith("expression") or kind == "identifier":
            self.value(node)

    def _compound_statement(self, node: Node) -> None:
        for child in node.named_children:
            if child.type != "comment":
                self.statement(child)
        self._marks_before(node, node.end_byte)

    def _expression_statement(self, node: Node) -> None:
        before = node.prev_sibling
        for child in node.named_children:
            value = self.value(child)
            if before is not None and before.type == "ERROR" and text_of(before) == "goto":  # goto *value
                self._block.append(Jump(node, "goto", value))

    def _declaration(self, node: Node) -> None:
        for declarator in node.children_by_field_name("declarator"):
            name = innermost(declarator)
            made = self.scopes.declared(name.start_byte) if name is not None else None
            if made is None or name is None:
                continue
            key = made.entity
            if key in self.around.placed:
                self._block.append(Set(declarator, key, Value(points=frozenset({("to", ("placed", key))})), True))
            elif declarator.type == "init_declarator" and key not in self.around.shared:
                value = self.value(declarator.child_by_field_name("value"))
                if not self._may_point(name):
                    value = Value(value.uses)
                self._block.append(Set(declarator, key, self._typed(value, name), "static" not in made.words))

    def _if_statement(self, node: Node) -> None:
        condition = self.value(node.child_by_field_name("condition"))
        then = self._inside(node.child_by_field_name("consequence"))
        other = self._inside(node.child_by_field_name("alternative"))
        tested = bare(node.child_by_field_name("condition") or node)
        name = self.denoted(tested) if tested.type == "identifier" else None
        self._block.append(Branch(node, condition, then, other, name))

    def _switch_statement(self, node: Node) -> None:
        condition, body = self.value(node.child_by_field_name("condition")), node.child_by_field_name("body")
        outer, self._block = self._block, []
        for case in body.named_children if body is not None else []:
            self._block.append(Branch(case, condition, self._inside(case), []))
        inner, self._block = self._block, outer
        self._block.append(Loop(node, NOTHING, [], [*inner, Jump(node, "break")], [], True, True))

    def _while_statement(self, node: Node) -> None:
        self._loop(node, None, node.child_by_field_name("condition"), None)

    def _do_statement(self, node: Node) -> None:
        self._loop(node, None, node.child_by_field_name("condition"), None, body_first=True)

    def _for_statement(self, node: Node) -> None:
        first = node.child_by_field_name("initializer")
        self._loop(node, first, node.child_by_field_name("condition"), node.child_by_field_name("update"))

    def _loop(
        self, node: Node, first: Node | None, condition: Node | None, update: Node | None, body_first: bool = False
    ) -> None:
        declares: list[Key] = []
        if first is not None:
            self._plain_statement(first)
            names = [innermost(each) for each in first.children_by_field_name("declarator")]
            made = [self.scopes.declared(name.start_byte) for name in names if name is not None]
            declares = [each.entity for each in made if each is not None]
        outer, self._block = self._block, []
        tested = self.value(condition)
        test, self._block = self._block, outer
        body = self._inside(node.child_by_field_name("body"))
        self._block.append(Loop(node, tested, test, body, self._inside(update), body_first, False, tuple(declares)))

    def _return_statement(self, node: Node) -> None:
        value = NOTHING
        for child in node.named_children:
            value |= self.value(child)
        self._block.append(Jump(node, "return", value))

    def _break_statement(self, node: Node) -> None:
        self._block.append(Jump(node, "break"))

    def _continue_statement(self, node: Node) -> None:
        self._block.append(Jump(node, "continue"))

    def _goto_statement(self, node: Node) -> None:
        self._block.append(Jump(node, "goto", label=text_of(node.child_by_field_name("label"))))

    def _labeled_statement(self, node: Node) -> None:
        assert self._function is not None
        label = text_of(node.child_by_field_name("label"))
        self._function.labels.add(label)
        self._block.append(Label(node, label))
        for child in node.named_children[1:]:
            self.statement(child)


def parameters_at(function: Node) -> list[int]:
    """Returns the positions of the names of its parameters; -1 for one without a name."""
    node = function.child_by_field_name("declarator")
    while node is not None and (
        node.type != "function_declarator" or (n := node.child_by_field_name("declarator")) is None
        or n.type != "identifier"
    ):  # fmt: skip
        node = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
    given = node.child_by_field_name("parameters") if node is not None else None
    out: list[int] = []
    old = {text_of(innermost(d)): d for child in function.named_children if child.type == "declaration"
           for d in child.children_by_field_name("declarator")}  # fmt: skip
    for parameter in given.named_children if given is not None else []:
        if parameter.type == "identifier":  # f(a) int a; {..}
            name = innermost(old[text_of(parameter)]) if text_of(parameter) in old else parameter
        else:
            name = innermost(parameter.child_by_field_name("declarator") or parameter)
        out.append(name.start_byte if name is not None else -1)
    return out
