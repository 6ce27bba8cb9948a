"""The meaning of C names: the declaration of an identifier, and of its type as far as sections need it: an array, a
pointer or a function, its target, and its depth of members."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from .declarators import enclosing, initial, innermost
from .scopes import Declaration as Denoted
from .scopes import Kind, Scopes
from .shared import Anchor
from .source import COMPLEX, Node, text_of, walk
from .text import spliced

ARRAY, POINTER, FUNCTION = "array", "pointer", "function"
DERIVED = {"array_declarator": ARRAY, "pointer_declarator": POINTER, "function_declarator": FUNCTION}
HOLDERS = ("declaration", "parameter_declaration", "function_definition", "type_definition")
VARIABLES = (Kind.OBJECT, Kind.FUNCTION)
TYPEOF = re.compile(r"(?:__)?typeof(?:__)?|t_*")  # as parse() leaves it
HIDDEN = re.compile(r"hiroba__+")  # what parse() makes of a typeof that looks like no type
ABSTRACT = {f"abstract_{kind}": word for kind, word in DERIVED.items()}


@dataclass(frozen=True)
class Type:
    """`int (*p)[3]` is (pointer, array) of int."""

    derived: tuple[str, ...]
    base: str  # as written: "int", "struct s"
    node: Node | None = None  # the definition of the base, if it is a struct or a union

    @property
    def is_hidden(self) -> bool:
        """Returns true if it may be an array, a pointer or anything else."""
        return not self.derived and HIDDEN.fullmatch(self.base) is not None

    @property
    def dims(self) -> int:
        """Returns the number of dimensions of an array; 0 if it is none."""
        return next((i for i, kind in enumerate(self.derived) if kind != ARRAY), len(self.derived))

    def inside(self) -> Type | None:
        """Returns the type of its subscript, or `*`."""
        of = Type(self.derived[1:], self.base, self.node) if self.derived[:1] in ((ARRAY,), (POINTER,)) else None
        return of if of is not None and not of.is_hidden else None

    def element(self) -> Type:
        return Type(self.derived[self.dims :], self.base, self.node)


class Declared:
    def __init__(self, root: Node, text: str, scopes: Scopes) -> None:
        self.root, self.text = root, text  # the program's text; the parser has not seen _Complex
        self.scopes = scopes
        self._tops: dict[int, Node | None] = {}  # declarators, by the positions of their identifiers

    @cached_property
    def _has_complex(self) -> bool:
        return COMPLEX.search(self.text) is not None

    @cached_property
    def _structs(self) -> dict[str, Node]:
        """Returns structs and unions with members, by tag."""
        out: dict[str, Node] = {}
        for node in walk(self.root):
            if node.type in ("struct_specifier", "union_specifier") and node.child_by_field_name("body") is not None:
                out.setdefault(text_of(node.child_by_field_name("name")), node)
        return out

    def struct(self, tag: str) -> Node | None:
        """Returns the definition of a struct or a union."""
        return self._structs.get(tag)

    # ---- declarations ----

    def denoted(self, identifier: Node, anchor: Anchor | None = None) -> Denoted | None:
        """Returns the meaning of this identifier. Words of a directive are looked up at its `anchor`."""
        if anchor is not None:
            return self.scopes.visible(text_of(identifier), anchor.at)
        return self.scopes.denoted(identifier.start_byte)

    def declarator(self, identifier: Node, anchor: Anchor | None = None) -> Node | None:
        """Returns the declarator of the variable or function that this identifier means."""
        denoted = self.denoted(identifier, anchor)
        return self.top_of(denoted) if denoted is not None and denoted.kind in VARIABLES else None

    def top_of(self, denoted: Denoted) -> Node | None:
        """Returns the whole declarator."""
        if denoted.at not in self._tops:
            end = denoted.at + len(denoted.name)
            node = self.root.descendant_for_byte_range(denoted.at, end - 1)
            while node is not None and node.parent is not None and node.parent.type.endswith("declarator"):
                node = node.parent
            held = node is not None and node.parent is not None and node.parent.type in HOLDERS
            self._tops[denoted.at] = node if held else None
        return self._tops[denoted.at]

    def is_declared(self, identifier: Node) -> bool:
        return self.denoted(identifier) is not None

    def constant(self, identifier: Node, first_values: bool = False) -> str | None:
        """Returns the value of a `static const` variable, as C for an extent; with `first_values`, also that of
        another variable at file scope before the program changes it."""
        top = self.declarator(identifier)
        holder = enclosing(top, "declaration") if top is not None else None
        value = initial(top) if top is not None else None
        if holder is None or value is None:
            return None
        is_first = first_values and holder.parent is not None and holder.parent.type == "translation_unit"
        if not is_first and not {"static", "const"} <= set(text_of(holder).split()):
            return None
        inner = [(use, self.constant(use, first_values)) for use in walk(value) if use.type == "identifier"]
        known = [(use.start_byte, use.end_byte, text) for use, text in inner if text is not None]
        return f"({spliced(self.text, value.start_byte, value.end_byte, known)})"

    def of_block(self, declaration: Node, top: Node, constants: bool = True) -> Node | None:
        """Returns the first name that a declaration uses for one of its declarators and that has its meaning from a
        block; with `constants`, static const variables can be replaced by their value."""
        kind, own = declaration.child_by_field_name("type"), innermost(top)
        for node in (n for part in (kind, top) if part is not None for n in walk(part)):
            if node.type == "identifier" and node != own and not (constants and self.constant(node)):
                if self.is_local(self.declarator(node), node):
                    return node
            elif node.type != "type_identifier":
                continue
            if self.made_in_block(node) is not None:
                return node
        return None

    def made_in_block(self, use: Node) -> int | None:
        """Returns the declaration of the type or enumerator that this word means, if that is in a block around it."""
        if use.parent is not None and use.parent.type.endswith("_specifier"):
            tagged = self._tags_in_blocks.get(text_of(use), [])
            return next((made.start_byte for made in tagged if self.is_local(made, use)), None)
        denoted = self.denoted(use)
        made = denoted is not None and denoted.block and denoted.kind not in VARIABLES
        return denoted.at if denoted is not None and made else None

    @cached_property
    def _tags_in_blocks(self) -> dict[str, list[Node]]:
        """Returns structs, unions and enums that blocks define, by tag."""
        out: dict[str, list[Node]] = {}
        for function in (n for n in self.root.children if n.type == "function_definition"):
            for node in walk(function):
                if node.type.endswith("_specifier") and node.child_by_field_name("body"):
                    out.setdefault(text_of(node.child_by_field_name("name")), []).append(node)
        return out

    @staticmethod
    def is_local(made: Node | None, use: Node) -> bool:
        """Returns true if this declaration, before its use, belongs to a block or a function around that."""
        if made is None or made.end_byte > use.start_byte:
            return False
        around = enclosing(made, "compound_statement", "parameter_declaration", "declaration")
        while around is not None and around.type != "compound_statement" and not is_parameter(around):
            around = enclosing(around, "compound_statement", "parameter_declaration", "declaration")
        if is_parameter(around):
            around = enclosing(made, "function_definition")
        return around is not None and use.start_byte < around.end_byte

    def type_of_declarator(self, declarator: Node) -> Type | None:
        name = innermost(declarator)
        holder = enclosing(
            declarator, "declaration", "parameter_declaration", "field_declaration", "function_definition"
        )
        if name is None or holder is None:
            return None
        kinds = derivation(name, declarator, DERIVED)
        of = self._of_base(kinds, holder.child_by_field_name("type"), self.is_complex(holder))
        if of is not None and is_parameter(holder) and of.derived[:1] in ((ARRAY,), (FUNCTION,)):
            return replace(of, derived=(POINTER, *of.derived[of.derived[0] == ARRAY :]))
        return of

    def is_complex(self, holder: Node) -> bool:
        first = holder.child_by_field_name("declarator")
        return COMPLEX.search(self.text[holder.start_byte : (first or holder).start_byte]) is not None

    def _of_base(self, kinds: tuple[str, ...], base: Node | None, is_complex: bool = False) -> Type | None:
        if base is None:
            return None
        if base.type in ("struct_specifier", "union_specifier"):
            tag = text_of(base.child_by_field_name("name"))
            body = base if base.child_by_field_name("body") is not None else self._structs.get(tag)
            return Type(kinds, f"{base.type.split('_')[0]} {tag or base.id}", body)
        if base.type == "macro_type_specifier" and TYPEOF.fullmatch(text_of(base.child_by_field_name("name"))):
            of = self._of_typeof(base.child_by_field_name("type"))
            return Type(kinds + of.derived, of.base, of.node) if of is not None else None
        if base.type == "type_identifier":
            denoted = self.scopes.denoted(base.start_byte)
            top = self.top_of(denoted) if denoted is not None and denoted.kind is Kind.TYPE else None
            name = self.root.descendant_for_byte_range(denoted.at, denoted.at) if denoted is not None else None
            if top is None or name is None:
                return Type(kinds, text_of(base))
            definition = enclosing(top, "type_definition")
            inner = definition.child_by_field_name("type") if definition is not None else None
            inherits = definition is not None and self.is_complex(definition)
            return self._of_base(kinds + derivation(name, top, DERIVED), inner, inherits)
        return Type(kinds, "_Complex " * is_complex + " ".join(text_of(base).split()))

    def _of_typeof(self, operand: Node | None) -> Type | None:
        """Returns the type of the operand of typeof, which the parser takes for a type: of a variable, of an element of
        it, or a type."""
        named = operand.child_by_field_name("type") if operand is not None else None
        if operand is None or named is None:
            return None
        denoted = self.scopes.denoted(named.start_byte) if named.type == "type_identifier" else None
        if denoted is None or denoted.kind is Kind.TYPE:
            return self._of_cast(operand)
        top = self.top_of(denoted) if denoted.kind in VARIABLES else None
        of = self.type_of_declarator(top) if top is not None else None
        for node in walk(operand):
            if of is not None and node.type == "abstract_array_declarator":
                of = of.inside()
        return of

    # ---- expressions ----

    def type_of(self, node: Node | None, anchor: Anchor | None = None) -> Type | None:
        """Returns the type of an expression; None if it is not known."""
        if node is None:
            return None
        argument = node.child_by_field_name("argument")
        if node.type == "identifier":
            denoted = self.denoted(node, anchor)
            if denoted is not None and denoted.kind is Kind.ENUMERATOR:
                return Type((), "int")
            declarator = self.declarator(node, anchor)
            of = self.type_of_declarator(declarator) if declarator is not None else None
            return of if of is not None and not of.is_hidden else None
        if node.type == "parenthesized_expression" and node.named_children:
            return self.type_of(node.named_children[0], anchor)
        if node.type == "subscript_expression":
            base = self.type_of(argument, anchor)
            return base.inside() if base is not None else None
        if node.type == "field_expression":
            return self.member_of(self.type_of(argument, anchor), text_of(node.child_by_field_name("field")))
        if node.type == "pointer_expression":
            base = self.type_of(argument, anchor)
            if base is None or text_of(node).startswith("*"):
                return base.inside() if base is not None else None
            return Type((POINTER, *base.derived), base.base, base.node)
        if node.type == "cast_expression":
            return self._of_cast(node.child_by_field_name("type"))
        if node.type == "call_expression":
            base = self.type_of(node.child_by_field_name("function"), anchor)
            found = base is not None and base.derived[:1] == (FUNCTION,)
            return Type(base.derived[1:], base.base, base.node) if base is not None and found else None
        if node.type == "binary_expression":  # pointer + number
            base = self.type_of(node.child_by_field_name("left"), anchor)
            if base is not None and base.derived[:1] in ((ARRAY,), (POINTER,)):
                return Type((POINTER, *base.derived[1:]), base.base, base.node)
        return None

    def member_of(self, base: Type | None, name: str) -> Type | None:
        declarator = self.member(base, name)
        return self.type_of_declarator(declarator) if declarator is not None else None

    def is_bit_field(self, base: Type | None, name: str) -> bool:
        declarator = self.member(base, name)
        behind = declarator.next_sibling if declarator is not None else None
        return behind is not None and behind.type == "bitfield_clause"

    def member(self, base: Type | None, name: str) -> Node | None:
        node = base.node if base is not None else None
        return self._member_of_body(node.child_by_field_name("body"), name) if node is not None else None

    def _member_of_body(self, body: Node | None, name: str) -> Node | None:
        for member in body.named_children if body is not None else []:
            if member.type != "field_declaration":
                continue
            declarators = member.children_by_field_name("declarator")
            for declarator in declarators:
                if text_of(innermost(declarator)) == name:
                    return declarator
            base = member.child_by_field_name("type")
            if not declarators and base is not None:  # members of an unnamed struct
                found = self._member_of_body(base.child_by_field_name("body"), name)
                if found is not None:
                    return found
        return None

    def _of_cast(self, descriptor: Node | None) -> Type | None:
        if descriptor is None or self._has_complex:  # it may be a cast to _Complex
            return None
        kinds: tuple[str, ...] = ()
        at = descriptor.child_by_field_name("declarator")
        while at is not None:
            kinds = ((ABSTRACT[at.type],) if at.type in ABSTRACT else ()) + kinds
            inner = at.child_by_field_name("declarator")
            at = inner or next((c for c in at.named_children if c.type.startswith("abstract_")), None)
        return self._of_base(kinds, descriptor.child_by_field_name("type"))


def is_parameter(holder: Node | None) -> bool:
    """Returns true if a declaration is that of a parameter, in either style."""
    outer = holder.parent if holder is not None else None
    old = outer is not None and outer.type == "function_definition" and holder is not None
    return holder is not None and (holder.type == "parameter_declaration" or (old and holder.type == "declaration"))


def derivation(name: Node, top: Node, words: dict[str, str]) -> tuple[str, ...]:
    """Returns the derivations from the name outwards."""
    out: list[str] = []
    node: Node | None = name
    while node is not None:
        if node.type in words:
            out.append(words[node.type])
        if node.id == top.id:
            break
        node = node.parent
    return tuple(out)
