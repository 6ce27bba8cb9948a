"""Makes the loads and stores of a region transactional: an lvalue that is not certainly the region's own is read and
written by hiroba_tx_get and hiroba_tx_put, at its address, which C computes. Types are C's business, too, but for
arrays and bit-fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..core.scope_expressions import frozen
from ..core.source import Edit, Node, Source, bare, base_of, one_line, text_of, walk
from .lvalues import Lvalues, Region, is_arrow, operator_of

# Nodes of which each child is a statement or an expression by itself.
PLAIN = frozen(
    "compound_statement expression_statement if_statement else_clause while_statement do_statement for_statement"
    " switch_statement case_statement return_statement labeled_statement initializer_list parenthesized_expression"
    " unary_expression conditional_expression comma_expression argument_list extension_expression"
    " attributed_statement init_declarator array_declarator pointer_declarator function_declarator"
    " parenthesized_declarator compound_literal_expression cast_expression type_descriptor abstract_array_declarator"
    " abstract_pointer_declarator abstract_parenthesized_declarator abstract_function_declarator parameter_list"
    " parameter_declaration"
)
# Nodes without an access: constants, types, and what is not evaluated.
QUIET = frozen(
    "number_literal string_literal concatenated_string char_literal true false null comment break_statement"
    " continue_statement goto_statement statement_identifier type_identifier primitive_type sized_type_specifier"
    " struct_specifier union_specifier enum_specifier type_qualifier storage_class_specifier alignof_expression"
    " offsetof_expression type_definition attribute_specifier field_designator subscript_designator"
    " subscript_range_designator"
)


class Accesses:
    """The edits of one region. `call` handles calls."""

    def __init__(
        self,
        source: Source,
        lvalues: Lvalues,
        region: Region,
        call: Callable[[Accesses, Node], None],
        numbers: Iterator[int],
    ) -> None:
        self.source, self.lvalues, self.region = source, lvalues, region
        self._call, self._numbers = call, numbers
        self.edits: list[Edit] = []
        self.failed = False

    def refuse(self, at: int, message: str, remedy: str) -> None:
        self.failed = True
        self.source.error(at, message, remedy)

    def insert(self, at: int, text: str) -> None:
        self.edits.append((at, at, text))

    def replace(self, begin: int, end: int, text: str) -> None:
        self.edits.append(self.source.edit(begin, end, text))

    # ---- nodes ----

    def visit(self, node: Node) -> None:
        """A statement, or an expression for its value."""
        handler = HANDLERS.get(node.type)
        if handler is not None:
            handler(self, node)
        elif node.type in PLAIN:
            for child in node.named_children:
                self.visit(child)
        elif node.type not in QUIET:
            self.unreadable(node)

    def unreadable(self, node: Node) -> None:
        self.refuse(
            node.start_byte,
            f"cannot read `{shown(node)}` in {self.region.who}",
            "write it in the words of C11, with brackets around what a cast is for",
        )

    def assembly(self, node: Node) -> None:
        message = f"assembly in {self.region.who.rstrip(',')}: what it reads and writes is not known"
        self.refuse(node.start_byte, message, "write it in C, or put it outside of the block")

    def declaration(self, node: Node) -> None:
        words = [text_of(n) for n in node.named_children if n.type in ("storage_class_specifier", "type_qualifier")]
        if "static" in words and "const" not in words:
            self.refuse(
                node.start_byte,
                f"a static variable in {self.region.who} would be another one in each copy of the code",
                "declare it outside of the function",
            )
        if "static" in words:
            return
        for declarator in node.children_by_field_name("declarator"):
            if declarator.type != "identifier":
                self.visit_declarator(declarator)

    def visit_declarator(self, node: Node) -> None:
        """Its first value, and the expressions in its brackets."""
        name = node.child_by_field_name("declarator")
        for child in node.named_children:
            if child.type == "identifier" and (name is None or child.start_byte == name.start_byte):
                continue
            if child.type.endswith("declarator"):
                self.visit_declarator(child)
            elif child.type != "parameter_list":
                self.visit(child)

    def size(self, node: Node) -> None:
        """An operand of sizeof is not evaluated, but for the extents of a type."""
        for inner in walk(node):
            if inner.type == "abstract_array_declarator":
                self.visit(inner)
            elif inner.type == "subscript_expression" and self.lvalues.is_type_name(base_of(inner)):
                self.visit(inner.child_by_field_name("index") or inner)

    def member_value(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        if value is not None:
            self.visit(value)

    def binary(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self.unreadable(node)
        sign, cast = operator_of(node), self.lvalues.ends_with_type(left)
        self.visit(left)
        if cast and sign == "&":  # (type)&x
            return self.address(right) if self.lvalues.is_lvalue(right) else self.unreadable(node)
        if cast and sign == "*":  # (type)*p
            return self.load(node, right.end_byte, self.source.text.index("*", left.end_byte), right)
        return self.visit(right)

    def call(self, node: Node) -> None:
        function = node.child_by_field_name("function")
        if function is not None and self.lvalues.is_type(function):  # (type)(x)
            self.visit(node.child_by_field_name("arguments") or node)
        else:
            self._call(self, node)

    def generic(self, node: Node) -> None:
        for child in node.named_children[1:]:
            if child.type != "type_descriptor":
                self.visit(child)

    def lvalue_or_address(self, node: Node) -> None:
        if operator_of(node) == "&" and node.type == "pointer_expression":
            self.address(base_of(node))
        else:
            self.value(node)

    # ---- lvalues ----

    def address(self, node: Node) -> None:
        """An lvalue, without an access to it."""
        inner = bare(node)
        if inner.type in ("field_expression", "subscript_expression", "pointer_expression"):
            base = base_of(inner)
            is_part = inner.type == "field_expression" and not is_arrow(inner)
            if is_part or (inner.type == "pointer_expression" and operator_of(inner) == "&"):
                self.address(base)
            else:
                self.visit(base)
            index = inner.child_by_field_name("index")
            if index is not None:
                self.visit(index)
        elif inner.type != "identifier":
            self.visit(inner)

    def value(self, node: Node) -> None:
        """The value of an lvalue."""
        lvalues = self.lvalues
        if lvalues.is_own(node, self.region) or not lvalues.is_lvalue(node) or lvalues.is_designator(node):
            self.address(node)
        elif self._is_bit_field(node):
            n = self._begin_struct(node, node.start_byte, node.end_byte, self.region.loads)
            self.insert(node.end_byte, f"hiroba_u{n}.v.{field_of(node)}; }})")
        else:
            self.load(node, node.end_byte, node.start_byte, None)

    def load(self, node: Node, end: int, begin: int, target: Node | None) -> None:
        """Loads from the text between two places: the lvalue `node`, or, of a pointer `target`, what it points to."""
        self.note(self.region.loads, node if target is None else target)
        n, of = next(self._numbers), None if target is not None else self.lvalues.type_of(node)
        self.insert(begin, f"__extension__ ({{ __auto_type hiroba_p{n} = &(")
        if target is None:
            self.address(node)
        else:
            self.visit(target)
        value = f"hiroba_u{n}.v"
        get = f"hiroba_tx_get(&hiroba_u{n}, hiroba_p{n}, sizeof {value});"
        if of is None:  # it may be an array
            same = f"__builtin_types_compatible_p(__typeof__(*hiroba_p{n}), __typeof__(((void)0, *hiroba_p{n})))"
            get = f"if ({same}) {get}"
            value = f"__builtin_choose_expr({same}, {value}, *hiroba_p{n})"
        self.insert(end, f"); {union(n)} {get} {value}; }})")

    def note(self, out: list[str], node: Node) -> None:
        """Records an access for --explain, and refuses those that are no transaction's."""
        word = self.lvalues.unfit(node)
        if word:
            self.refuse(
                node.start_byte,
                f"`{shown(node)}` in {self.region.who} is {word.removeprefix('_').lower()}, and a transaction buffers"
                " its accesses",
                f"declare it without `{word}`, or access it outside of the transaction",
            )
        if shown(node) not in out:
            out.append(shown(node))

    # ---- stores ----

    def assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return self.unreadable(node)
        if not self.lvalues.is_lvalue(left) or self.lvalues.is_own(left, self.region):
            self.address(left)
            return self.visit(right)
        sign = operator_of(node)
        begin, end = left.end_byte, right.start_byte
        if self._is_bit_field(left):
            n = self._begin_struct(left, node.start_byte, begin, self.region.stores)
            member = f"hiroba_u{n}.v.{field_of(left)}"
            self.replace(begin, end, f"hiroba_o{n} = hiroba_u{n}; {member} {sign} (")
            self.visit(right)
            return self.insert(node.end_byte, f"); {self._put_struct(n)}{result(node, member)} }})")
        self.note(self.region.stores, left)
        n = next(self._numbers)
        self.insert(node.start_byte, f"__extension__ ({{ __auto_type hiroba_p{n} = &(")
        self.address(left)
        if sign == "=":
            self.replace(begin, end, f"); __typeof__(*hiroba_p{n}) hiroba_v{n} = (")
            value, check = f"hiroba_v{n}", f" if (0) *hiroba_p{n} = hiroba_v{n};"  # C refuses it if that is constant
        else:
            self.note(self.region.loads, left)
            value, check = f"hiroba_u{n}.v", ""
            get = f"hiroba_tx_get(&hiroba_u{n}, hiroba_p{n}, sizeof {value});"
            self.replace(begin, end, f"); {union(n)} {get} {value} {sign} (")
        self.visit(right)
        put = f"hiroba_tx_put(hiroba_p{n}, &{value}, sizeof {value});"
        self.insert(node.end_byte, f");{check} {put}{result(node, value)} }})")
        return None

    def update(self, node: Node) -> None:
        left, sign = base_of(node), operator_of(node)
        if not self.lvalues.is_lvalue(left) or self.lvalues.is_own(left, self.region):
            return self.address(left)
        before = text_of(node).startswith(sign)
        begin, end = (node.start_byte, left.start_byte) if before else (left.end_byte, node.end_byte)
        if self._is_bit_field(left):
            if before:
                self.replace(begin, end, "")
            n = self._begin_struct(left, left.start_byte, left.end_byte, self.region.stores)
            member, put = f"hiroba_u{n}.v.{field_of(left)}", self._put_struct(n)
            changed = f"hiroba_o{n} = hiroba_u{n};"
        else:
            self.note(self.region.loads, left)
            self.note(self.region.stores, left)
            n = next(self._numbers)
            if before:
                self.replace(begin, end, "")
            self.insert(left.start_byte, f"__extension__ ({{ __auto_type hiroba_p{n} = &(")
            self.address(left)
            member = f"hiroba_u{n}.v"
            put = f"hiroba_tx_put(hiroba_p{n}, &{member}, sizeof {member});"
            changed = f"); {union(n)} hiroba_tx_get(&hiroba_u{n}, hiroba_p{n}, sizeof {member});"
        if before:
            self.insert(left.end_byte, f"{changed} {sign}{member}; {put}{result(node, member)} }})")
        else:
            value = result(node, f"hiroba_r{n}")
            old = f"__typeof__({member} + 0) hiroba_r{n} = " if value else ""
            self.replace(begin, end, f"{changed} {old}{member}{sign}; {put}{value} }})")
        return None

    # ---- bit-fields: the struct around is read, and what changes of its bytes is written ----

    def _is_bit_field(self, node: Node) -> bool:
        node = bare(node)
        if node.type != "field_expression":
            return False
        of = self.lvalues.type_of(base_of(node))
        if of is not None and is_arrow(node):
            of = of.inside()
        return self.lvalues.declared.is_bit_field(of, field_of(node))

    def _begin_struct(self, node: Node, begin: int, end: int, noted: list[str]) -> int:
        """Reads the struct around a bit-field into a variable, and returns its number. Replaces the text between."""
        self.note(noted, node)
        n, inner, base = next(self._numbers), bare(node), base_of(bare(node))
        self.insert(begin, f"__extension__ ({{ __auto_type hiroba_p{n} = ")
        self.replace(begin, base.start_byte, "(" if is_arrow(inner) else "&(")
        if is_arrow(inner):
            self.visit(base)
        else:
            self.address(base)
        read = f"hiroba_tx_get(&hiroba_u{n}, hiroba_p{n}, sizeof hiroba_u{n}.v);"
        old = f", hiroba_o{n}" if noted is self.region.stores else ""
        self.replace(base.end_byte, end, f"); {union(n, old)} {read} ")
        return n

    @staticmethod
    def _put_struct(n: int) -> str:
        return f"hiroba_tx_put_changed(hiroba_p{n}, &hiroba_u{n}, &hiroba_o{n}, sizeof hiroba_u{n}.v);"


HANDLERS: dict[str, Callable[[Accesses, Node], None]] = {
    "gnu_asm_expression": Accesses.assembly,
    "declaration": Accesses.declaration,
    "sizeof_expression": Accesses.size,
    "initializer_pair": Accesses.member_value,
    "binary_expression": Accesses.binary,
    "call_expression": Accesses.call,
    "generic_expression": Accesses.generic,
    "assignment_expression": Accesses.assignment,
    "update_expression": Accesses.update,
    "identifier": Accesses.value,
    "field_expression": Accesses.value,
    "subscript_expression": Accesses.value,
    "pointer_expression": Accesses.lvalue_or_address,
}


def result(node: Node, value: str) -> str:
    """Returns the last statement of a store, which is its value, unless nobody uses that."""
    statement = node.parent
    block = statement.parent if statement is not None else None
    unused = statement is not None and statement.type == "expression_statement"
    last = block is not None and block.parent is not None and block.parent.type == "parenthesized_expression"
    return "" if unused and not last else f" {value};"


def union(n: int, also: str = "") -> str:
    """Returns the declaration of a variable without the qualifiers of what is read into it."""
    return f"union {{ char c; __typeof__(*hiroba_p{n}) v; }} hiroba_u{n}{also};"


def field_of(node: Node) -> str:
    return text_of(bare(node).child_by_field_name("field"))


def shown(node: Node) -> str:
    text = one_line(text_of(node))
    return text if len(text) <= 60 else f"{text[:57]}..."
