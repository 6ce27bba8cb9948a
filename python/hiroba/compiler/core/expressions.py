"""Expressions of C as values: the variables that they are computed from, and their possible targets; see
operations.py. scopes.py finds the declarations of names."""

from __future__ import annotations

from .declared import ARRAY, FUNCTION, Declared, Type
from .operations import (
    FOREIGN,
    NOTHING,
    RANK,
    RANKS,
    Access,
    Branch,
    Call,
    Function,
    Jump,
    Key,
    Operation,
    Set,
    Surroundings,
    Value,
)
from .scopes import Declaration, Kind, Scopes
from .source import Node, bare, text_of


class Expressions:
    """Adds the effects of an expression's evaluation to a block."""

    def __init__(self, root: Node, declared: Declared, scopes: Scopes, around: Surroundings) -> None:
        self.declared, self.scopes, self.around, self.root = declared, scopes, around, root
        self._types: dict[Declaration, Type | None] = {}
        self._block: list[Operation] = []
        self._alone = 0
        self._number = 0
        self._function: Function | None = None

    # ---- names ----

    def denoted(self, node: Node) -> Declaration | None:
        found = self.scopes.denoted(node.start_byte)
        return found.entity if found is not None and found.kind is Kind.OBJECT else None

    def type_of(self, node: Node | None) -> Type | None:
        """Returns the type of an expression whose names are known; None if that is not sure."""
        if node is None:
            return None
        kind = node.type
        if kind == "identifier":
            made = self.scopes.denoted(node.start_byte)
            return self._declared_type(made) if made is not None else None
        if kind == "parenthesized_expression":
            return self.type_of(node.named_children[0]) if node.named_children else None
        if kind == "subscript_expression" or (kind == "pointer_expression" and node.children[0].type == "*"):
            base = self.type_of(node.child_by_field_name("argument"))
            return base.inside() if base is not None else None
        if kind == "field_expression":
            base = self.type_of(node.child_by_field_name("argument"))
            return self.declared.member_of(base, text_of(node.child_by_field_name("field")))
        if kind == "update_expression":
            return self.type_of(node.child_by_field_name("argument"))
        if kind in ("binary_expression", "assignment_expression"):
            left = self.type_of(node.child_by_field_name("left"))
            if left is None or left.derived:
                return left
            return self.type_of(node.child_by_field_name("right"))
        return self.declared.type_of(node) if kind == "cast_expression" else None

    def _declared_type(self, made: Declaration) -> Type | None:
        if made not in self._types:
            node = self.root.descendant_for_byte_range(made.at, made.at + len(made.name))
            top = node
            while top is not None and top.parent is not None and top.parent.type.endswith("declarator"):
                top = top.parent
            self._types[made] = self.declared.type_of_declarator(top) if top is not None and node is not None else None
        return self._types[made]

    def _may_point(self, node: Node) -> bool:
        of = self.type_of(node)
        return of is None or bool(of.derived)

    def _typed(self, value: Value, name: Node) -> Value:
        """A pointer without known target points to any object of its type."""
        if ("unknown", "") not in value.points:
            return value
        of = self.type_of(name)
        known = ("unknown", of.base if of is not None else "")
        return Value(value.uses, (value.points - {("unknown", "")}) | {known})

    def statement(self, node: Node) -> None:
        """Reads a statement. The reader of statements implements it; expressions may contain statements."""
        raise NotImplementedError

    # ---- expressions ----

    def value(self, node: Node | None) -> Value:
        """Returns the atoms of an expression's value. Effects of its evaluation are added to the block."""
        if node is None:
            return NOTHING
        handler = VALUES.get(node.type)
        if handler is not None:
            return handler(self, node)
        out = NOTHING
        for child in node.named_children:
            out |= self.value(child)
        return out

    def _of_identifier(self, node: Node) -> Value:
        if text_of(node) in RANKS:
            return Value(frozenset({RANK}))
        key = self.denoted(node)
        if key is None:
            made = self.scopes.denoted(node.start_byte)
            is_function = made is not None and made.kind is Kind.FUNCTION
            return Value(points=frozenset({("to", made.entity)})) if made is not None and is_function else NOTHING
        of = self.type_of(node)
        is_array = of is not None and of.derived[:1] == (ARRAY,)
        if key in self.around.shared:
            where = Value(points=frozenset({("to", key)}))
            if is_array or of is None:
                return where
            self._block.append(Access(node, where, root=key))
            return NOTHING
        if is_array:
            return Value(frozenset({key}), frozenset({("to", key)}))
        points = frozenset({("of", key)}) if of is None or of.derived else frozenset()
        return Value(frozenset({key}), points)

    def _place(self, node: Node) -> tuple[Value, str, Declaration | None]:
        """Returns the location of an expression that names memory: its address, the member, and the variable that it
        begins with."""
        kind, argument = node.type, node.child_by_field_name("argument")
        if kind == "parenthesized_expression" and node.named_children:
            return self._place(node.named_children[0])
        if kind == "identifier":
            key = self.denoted(node)
            return (Value(points=frozenset({("to", key)})) if key is not None else NOTHING), "", key
        if kind == "subscript_expression" and argument is not None:
            base, member, root = self._container(argument)
            index = self.value(node.child_by_field_name("index"))
            return Value(base.uses | index.uses, base.points), member, root
        if kind == "field_expression" and argument is not None:
            of, name = self.type_of(argument), text_of(node.child_by_field_name("field"))
            overlaps = of is not None and of.base.startswith("union ")
            if any(child.type == "->" for child in node.children):
                base = self.value(argument)
                return base, "" if overlaps else name, self._root(argument)
            base, member, root = self._place(argument)
            return base, member if overlaps else name, root
        if kind == "pointer_expression" and node.children[0].type == "*" and argument is not None:
            return self._container(argument)
        return self.value(node), "", None

    def _container(self, base: Node) -> tuple[Value, str, Declaration | None]:
        """Returns the location of a subscript of this expression, or `*`: in the array, or in the pointer's target."""
        of = self.type_of(base)
        inside = bare(base)
        if of is not None and of.derived[:1] == (ARRAY,) and inside.type in PLACES:
            return self._place(inside)
        return self.value(base), "", self._root(inside)

    def _root(self, node: Node | None) -> Declaration | None:
        while node is not None and node.type != "identifier":
            node = node.child_by_field_name("argument") or node.child_by_field_name("left") or next(
                iter(node.named_children), None
            )  # fmt: skip
        return self.denoted(node) if node is not None else None

    def _of_memory(self, node: Node) -> Value:
        where, member, root = self._place(node)
        of = self.type_of(node)
        if of is not None and of.derived[:1] == (ARRAY,):  # a row, which is no access yet
            return Value(where.uses | contents(where), where.points)
        return self._read_from(node, where, member, root, of)

    def _read_from(self, node: Node, where: Value, member: str, root: Declaration | None, of: Type | None) -> Value:
        private = root is not None and ("to", root) in where.points and root not in self.around.shared
        if not private:
            self._block.append(Access(node, where, member=member, root=root))
        uses = self._value_in(where, member).uses
        if of is not None and not of.derived:
            return Value(uses)
        base = of.base if of is not None else ""
        inside: frozenset[tuple[str, Key]] = frozenset(
            ("of", key) if kind == "to" else ("in", ((kind, key), base)) for kind, key in where.points if not member
        )
        return Value(uses, inside or frozenset({("unknown", (base, member) if member else base)}))

    @staticmethod
    def _value_in(where: Value, member: str) -> Value:
        """Returns the value of a number in memory."""
        return Value(where.uses | ({("field", member)} if member else set()) | contents(where))

    def _of_pointer(self, node: Node) -> Value:
        argument = node.child_by_field_name("argument")
        if node.children[0].type == "*":
            of = self.type_of(argument)
            is_function = of is not None and FUNCTION in of.derived[:2]
            return self.value(argument) if is_function else self._of_memory(node)
        return self._place(argument)[0] if argument is not None else NOTHING

    def _of_assignment(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = text_of(node.child_by_field_name("operator"))
        value = self.value(right)
        return self._change(node, left, operator, value, right) if left is not None else value

    def _of_update(self, node: Node) -> Value:
        argument = node.child_by_field_name("argument")
        sign = "+=" if any(child.type == "++" for child in node.children) else "-="
        return self._change(node, argument, sign, NOTHING, None) if argument is not None else NOTHING

    def _change(self, node: Node, left: Node, operator: str, value: Value, right: Node | None) -> Value:
        left = bare(left)
        key = self.denoted(left) if left.type == "identifier" else None
        if key is not None and key not in self.around.shared:
            if not self._may_point(left):
                value = Value(value.uses)
            whole = self._typed(value, left) if operator == "=" else value | self._of_identifier(left)
            self._block.append(Set(node, key, whole, True))
            return whole
        if left.type == "identifier" and key is None:
            return value
        where, member, root = self._place(left)
        again = operator != "=" or (root is not None and right is not None and self._mentions(right, root))
        self._block.append(Access(node, where, operator, value, again, member, root))
        return value if operator == "=" else value | self._value_in(where, member)

    def _mentions(self, node: Node, root: Declaration) -> bool:
        if node.type == "identifier":
            return self.denoted(node) is root
        return any(self._mentions(child, root) for child in node.named_children)

    def _of_call(self, node: Node) -> Value:
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        named = function is not None and function.type == "identifier"
        made = self.denoted(function) if named and function is not None else None
        is_local = made is not None and made.block and made.kind is Kind.OBJECT  # a pointer that hides a function
        name = text_of(function) if named and not is_local else ""
        reached = NOTHING if name or function is None else self.value(function)
        nodes = [child for child in (given.named_children if given is not None else []) if child.type != "comment"]
        arguments = [self.value(child) for child in nodes]
        self._number += 1
        zeros = frozenset(k for k, child in enumerate(nodes) if text_of(child) in ("0", "false", "NULL"))
        call = Call(node, name, arguments, self._number, reached, zeros)
        self._block.append(call)
        assert self._function is not None
        self._function.calls.append(call)
        return reached | Value(frozenset({("call", call.number)}), frozenset({("call", call.number)}))

    def _of_choice(self, node: Node) -> Value:
        condition = self.value(node.child_by_field_name("condition"))
        outer, values, blocks = self._block, [], []
        for name in ("consequence", "alternative"):
            self._block = []
            values.append(self.value(node.child_by_field_name(name)))
            blocks.append(self._block)
        self._block = outer
        self._block.append(Branch(node, condition, blocks[0], blocks[1]))
        return Value(condition.uses) | values[0] | values[1]

    def _of_binary(self, node: Node) -> Value:
        left = self.value(node.child_by_field_name("left"))
        operator = node.child_by_field_name("operator")
        right = node.child_by_field_name("right")
        if operator is None or operator.type not in ("&&", "||"):
            return left | self.value(right)
        outer, self._block = self._block, []
        value = self.value(right)
        inner, self._block = self._block, outer
        if inner:
            self._block.append(Branch(node, left, inner, []))
        return Value(left.uses | value.uses)

    def _of_comma(self, node: Node) -> Value:
        self.value(node.child_by_field_name("left"))
        return self.value(node.child_by_field_name("right"))

    def _of_block(self, node: Node) -> Value:
        """Returns the value of ({ .. }): that of its last statement."""
        statements = [child for child in node.named_children if child.type != "comment"]
        for child in statements[:-1]:
            self.statement(child)
        last = statements[-1] if statements else None
        if last is not None and last.type == "expression_statement" and last.named_children:
            return self.value(last.named_children[0])
        if last is not None:
            self.statement(last)
        return NOTHING

    def _of_member(self, node: Node) -> Value:
        """Reads `.x = 3` in a list of first values."""
        value = self.value(node.child_by_field_name("value"))
        names = [text_of(n.named_children[0]) for n in node.named_children if n.type == "field_designator"]
        if names:
            self._block.append(Access(node, NOTHING, "=", value, member=names[0]))
            return Value(points=value.points)
        return value

    def _of_assembly(self, node: Node) -> Value:
        """Reads asm("..." : outputs : inputs : .. : labels)."""
        outputs, value = [], Value(frozenset({FOREIGN}))  # instructions may read anything
        for operand in (each for given in node.named_children for each in given.named_children):
            if operand.type == "gnu_asm_output_operand":
                outputs.append(operand)
            elif operand.type == "gnu_asm_input_operand":
                value |= self.value(operand.named_children[-1])
        for output in outputs:
            target = output.named_children[-1]
            self._change(target, target, "+=" if '"+' in text_of(output) else "=", value, None)
        labels = [each for each in node.named_children if each.type == "gnu_asm_goto_list"]
        for label in labels[0].named_children if labels else ():
            self._block.append(Branch(node, value, [Jump(label, "goto", label=text_of(label))], []))
        return NOTHING

    def _nothing(self, node: Node) -> Value:
        return NOTHING


PLACES = ("identifier", "subscript_expression", "field_expression", "pointer_expression")
VALUES = {
    "identifier": Expressions._of_identifier,
    "subscript_expression": Expressions._of_memory,
    "field_expression": Expressions._of_memory,
    "pointer_expression": Expressions._of_pointer,
    "assignment_expression": Expressions._of_assignment,
    "update_expression": Expressions._of_update,
    "call_expression": Expressions._of_call,
    "conditional_expression": Expressions._of_choice,
    "binary_expression": Expressions._of_binary,
    "comma_expression": Expressions._of_comma,
    "compound_statement": Expressions._of_block,
    "initializer_pair": Expressions._of_member,
    "gnu_asm_expression": Expressions._of_assembly,
    "sizeof_expression": Expressions._nothing,
    "type_descriptor": Expressions._nothing,
    "number_literal": Expressions._nothing,
    "string_literal": Expressions._nothing,
    "offsetof_expression": Expressions._nothing,
}


def contents(where: Value) -> frozenset[Key]:
    """Returns the contents of a value's targets, as variables that other values are computed from."""
    return frozenset(("inside", kind, key) for kind, key in where.points)
