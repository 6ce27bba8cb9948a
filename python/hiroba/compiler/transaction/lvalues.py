"""Lvalues of a region, a block or a function that becomes transactional: those that are certainly its own, and the
variables that they begin with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..core.declarators import enclosing
from ..core.declared import ARRAY, FUNCTION, VARIABLES, Declared, Type
from ..core.scopes import Declaration, Kind
from ..core.shared import Rewriter
from ..core.source import Node, bare, base_of, text_of

LVALUES = ("identifier", "field_expression", "subscript_expression", "pointer_expression")
CONSTANTS = ("sms_rank", "sms_nprocs")  # variables that nobody changes during the job
UNFIT = re.compile(r"\b(?:volatile|__volatile__|_Atomic|atomic_\w+)\b")


@dataclass
class Region:
    """A statement that becomes a transaction, or a function that transactions call."""

    begin: int
    end: int
    shown: str  # the place of the directive, or of the first one that leads to the function
    function: str = ""  # name of a function
    copied: set[int] = field(default_factory=set)  # places of variables of which the block has copies
    loads: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    called: list[str] = field(default_factory=list)

    @property
    def who(self) -> str:
        if not self.function:
            return "the transaction"
        return f"`{self.function}`, which the transaction at {self.shown} calls,"


def operator_of(node: Node) -> str:
    return text_of(node.child_by_field_name("operator"))


def is_arrow(node: Node) -> bool:
    return operator_of(node) == "->"


class Lvalues:
    """The lvalues of one file."""

    def __init__(self, declared: Declared, rewriter: Rewriter) -> None:
        self.declared, self.rewriter = declared, rewriter

    def type_of(self, node: Node) -> Type | None:
        return self.declared.type_of(node)

    def is_array(self, node: Node) -> bool:
        of = self.type_of(node)
        return of is not None and of.derived[:1] == (ARRAY,)

    def is_designator(self, node: Node) -> bool:
        """Returns true for an array or a function, whose value is its address."""
        of = self.type_of(node)
        return of is not None and of.derived[:1] in ((ARRAY,), (FUNCTION,))

    def is_type(self, node: Node) -> bool:
        """Returns true for `(name)` if that names a type: the parser takes some casts for other expressions."""
        return node.type == "parenthesized_expression" and self.is_type_name(bare(node))

    def ends_with_type(self, node: Node) -> bool:
        """Returns true if what follows belongs to a cast, of which the parser has made the end of an operand."""
        last = node.child_by_field_name("right" if node.type == "binary_expression" else "value")
        is_outer = node.type in ("binary_expression", "cast_expression") and last is not None
        return self.ends_with_type(last) if is_outer and last is not None else self.is_type(node)

    def is_type_name(self, node: Node) -> bool:
        denoted = self.declared.denoted(node) if node.type == "identifier" else None
        return denoted is not None and denoted.kind is Kind.TYPE

    def is_lvalue(self, node: Node) -> bool:
        node = bare(node)
        if node.type == "field_expression" and not is_arrow(node):
            return self.is_lvalue(base_of(node))
        return node.type in LVALUES and not (node.type == "pointer_expression" and operator_of(node) == "&")

    def variable(self, node: Node) -> Node | None:
        """Returns the variable that an lvalue is a part of; None if it is what a pointer points to."""
        node = bare(node)
        if node.type == "identifier":
            return node
        if node.type == "subscript_expression" or (node.type == "pointer_expression" and operator_of(node) == "*"):
            return self.variable(base_of(node)) if self.is_array(base_of(node)) else None
        return self.variable(base_of(node)) if node.type == "field_expression" and not is_arrow(node) else None

    def is_own(self, node: Node, region: Region) -> bool:
        """Returns true if it needs no transaction: a variable of the region, or what never changes."""
        node = bare(node)
        if node.type == "identifier":
            denoted = self.declared.denoted(node)
            return denoted is None or self._is_own(denoted, region)
        if node.type == "field_expression" and not is_arrow(node):
            return self.is_own(base_of(node), region) or not self.is_lvalue(base_of(node))
        if node.type == "subscript_expression" or (node.type == "pointer_expression" and operator_of(node) == "*"):
            return self.is_array(base_of(node)) and self.is_own(base_of(node), region)
        return node.type not in LVALUES

    def _is_own(self, denoted: Declaration, region: Region) -> bool:
        if denoted.kind is not Kind.OBJECT:
            return True
        inside = (
            region.begin <= denoted.at < region.end
            and denoted.entity is denoted
            and not denoted.words & {"static", "extern"}
        )
        return inside or denoted.entity.at in region.copied or denoted.name in CONSTANTS or self.is_constant(denoted)

    def is_constant(self, denoted: Declaration) -> bool:
        """Returns true for an object outside of functions, or a static one, that is `const` itself."""
        top = self.declared.top_of(denoted)
        of = self.declared.type_of_declarator(top) if top is not None else None
        holder = enclosing(top, "declaration") if top is not None else None
        if (
            holder is None
            or of is None
            or set(of.derived) - {ARRAY}
            or (denoted.block and "static" not in denoted.words)
        ):
            return False
        words = [text_of(n) for n in holder.named_children if n.type == "type_qualifier"]
        return "const" in words and "volatile" not in words

    def unfit(self, node: Node) -> str:
        """Returns the word of its declaration by which an lvalue cannot be part of a transaction, if any."""
        node = bare(node)
        if node.type == "identifier":
            denoted = self.declared.denoted(node)
            return self._word_of(denoted) if denoted is not None and denoted.kind in VARIABLES else ""
        if node.type == "field_expression":
            base = base_of(node)
            of = self.type_of(base)
            if of is not None and is_arrow(node):
                of = of.inside()
            member = self.declared.member(of, text_of(node.child_by_field_name("field")))
            return self._word(enclosing(member, "field_declaration") if member is not None else None) or self.unfit(
                base
            )
        return self.unfit(base_of(node)) if node.type in LVALUES else ""

    def _word_of(self, denoted: Declaration) -> str:
        top = self.declared.top_of(denoted)
        kinds = ("declaration", "parameter_declaration", "type_definition")
        return self._word(enclosing(top, *kinds) if top is not None else None)

    def _word(self, holder: Node | None) -> str:
        if holder is None:
            return ""
        kind = holder.child_by_field_name("type")
        parts = [text_of(n) for n in holder.children if n.type == "type_qualifier"]
        parts += [text_of(n) for n in holder.children_by_field_name("declarator") if n.type != "init_declarator"]
        found = UNFIT.search(" ".join([*parts, text_of(kind)]) if kind is not None and kind.type != "struct_specifier"
                             else " ".join(parts))  # fmt: skip
        if found is not None:
            return found[0]
        denoted = self.declared.scopes.denoted(kind.start_byte) if kind is not None else None
        return self._word_of(denoted) if denoted is not None and denoted.kind is Kind.TYPE else ""
