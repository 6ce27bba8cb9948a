"""What C names mean: the declaration of an identifier, and of its type as much as sections need, which is whether it is
an array, a pointer or a function, of what, and how many members deep."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .declarators import declarators_of, enclosing, innermost
from .shared import Anchor
from .source import COMPLEX, Node, text_of, walk

ARRAY, POINTER, FUNCTION = "array", "pointer", "function"
DERIVED = {"array_declarator": ARRAY, "pointer_declarator": POINTER, "function_declarator": FUNCTION}
ABSTRACT = {f"abstract_{kind}": word for kind, word in DERIVED.items()}


@dataclass(frozen=True)
class Type:
    """`int (*p)[3]` is (pointer, array) of int."""

    derived: tuple[str, ...]
    base: str  # as written: "int", "struct s"
    node: Node | None = None  # where the base is defined, if it is a struct or a union

    @property
    def dims(self) -> int:
        """How many dimensions an array has; 0 for what is none."""
        return next((i for i, kind in enumerate(self.derived) if kind != ARRAY), len(self.derived))

    def inside(self) -> Type | None:
        """What a subscript, or `*`, makes of it."""
        return Type(self.derived[1:], self.base, self.node) if self.derived[:1] in ((ARRAY,), (POINTER,)) else None

    def element(self) -> Type:
        return Type(self.derived[self.dims :], self.base, self.node)


class Declared:
    def __init__(self, root: Node, text: str) -> None:
        self.root, self.text = root, text  # as the program says it; the parser has not seen _Complex

    @cached_property
    def _files(self) -> dict[str, list[Node]]:
        """Declarators at file scope by name, in the order of the text."""
        out: dict[str, list[Node]] = {}
        for node in self.root.children:
            if node.type in ("declaration", "function_definition"):
                for declarator in node.children_by_field_name("declarator"):
                    out.setdefault(text_of(innermost(declarator)), []).append(declarator)
        return out

    @cached_property
    def _typedefs(self) -> dict[str, list[Node]]:
        out: dict[str, list[Node]] = {}
        for node in walk(self.root):
            if node.type == "type_definition":
                for declarator in node.children_by_field_name("declarator"):
                    name = next((n for n in walk(declarator) if n.type == "type_identifier"), None)
                    out.setdefault(text_of(name), []).append(declarator)
        return out

    @cached_property
    def _enumerators(self) -> set[str]:
        return {text_of(n.child_by_field_name("name")) for n in walk(self.root) if n.type == "enumerator"}

    @cached_property
    def _structs(self) -> dict[str, Node]:
        """Structs and unions with members, by tag."""
        out: dict[str, Node] = {}
        for node in walk(self.root):
            if node.type in ("struct_specifier", "union_specifier") and node.child_by_field_name("body") is not None:
                out.setdefault(text_of(node.child_by_field_name("name")), node)
        return out

    # ---- declarations ----

    def declarator(self, identifier: Node, anchor: Anchor | None = None) -> Node | None:
        """The declarator that this identifier means: the last one before it in the innermost scope. Words of a
        directive are looked up at its `anchor`."""
        name, node, at = text_of(identifier), identifier.parent, identifier.start_byte
        if anchor is not None:
            node, at = anchor.node, anchor.at
        while node is not None and node.parent is not None:
            found = None
            for declarator in declarators_of(node):
                own = innermost(declarator)
                if own is not None and own.start_byte <= at and text_of(own) == name:
                    found = declarator
            if found is not None:
                return found
            node = node.parent
        before = [d for d in self._files.get(name, []) if d.start_byte <= at]
        return before[-1] if before else None

    def is_declared(self, identifier: Node) -> bool:
        return self.declarator(identifier) is not None or text_of(identifier) in self._enumerators

    def constant(self, identifier: Node) -> str | None:
        """The value of a `static const` variable, as C would have it in an extent."""
        top = self.declarator(identifier)
        holder = enclosing(top, "declaration") if top is not None else None
        value = top.child_by_field_name("value") if top is not None and top.type == "init_declarator" else None
        if holder is None or value is None or not {"static", "const"} <= set(text_of(holder).split()):
            return None
        pieces, at = ["("], value.start_byte
        for use in walk(value):
            inner = self.constant(use) if use.type == "identifier" else None
            if inner is not None:
                text = text_of(value)[at - value.start_byte : use.start_byte - value.start_byte]
                pieces += [text, inner]
                at = use.end_byte
        return "".join([*pieces, text_of(value)[at - value.start_byte :], ")"])

    def of_block(self, declaration: Node, top: Node, constants: bool = True) -> Node | None:
        """The first name that a declaration uses for one of its declarators and that has its meaning from a block; with
        `constants`, static const variables have a value that can stand for them."""
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

    def made_in_block(self, use: Node) -> Node | None:
        """The type or enumerator that this word means, if a block around it declares that."""
        made = self._made_in_blocks.get(text_of(use), [])
        return next((m for m in made if self.is_local(m, use)), None)

    @cached_property
    def _made_in_blocks(self) -> dict[str, list[Node]]:
        """Types and enumerators that blocks declare, by name."""
        out: dict[str, list[Node]] = {}
        for function in (n for n in self.root.children if n.type == "function_definition"):
            for node in walk(function):
                name = node.child_by_field_name("name")
                if node.type == "enumerator" or (node.type.endswith("_specifier") and node.child_by_field_name("body")):
                    out.setdefault(text_of(name), []).append(node)
                elif node.type == "type_definition":
                    for declarator in node.children_by_field_name("declarator"):
                        names = [n for n in walk(declarator) if n.type == "type_identifier"]
                        out.setdefault(text_of(names[0]) if names else "", []).append(node)
        return out

    @staticmethod
    def is_local(made: Node | None, use: Node) -> bool:
        """Whether what is made here, before its use, belongs to a block or a function around that."""
        if made is None or made.end_byte > use.start_byte:
            return False
        around = enclosing(made, "compound_statement", "parameter_declaration")
        if around is not None and around.type == "parameter_declaration":
            around = enclosing(around, "function_definition")
        return around is not None and use.start_byte < around.end_byte

    def type_of_declarator(self, declarator: Node) -> Type | None:
        name = innermost(declarator)
        holder = enclosing(
            declarator, "declaration", "parameter_declaration", "field_declaration", "function_definition"
        )
        if name is None or holder is None:
            return None
        kinds = derivation(name, declarator, DERIVED)
        if holder.type == "parameter_declaration" and kinds[:1] == (ARRAY,):
            kinds = (POINTER, *kinds[1:])
        return self._of_base(kinds, holder.child_by_field_name("type"), self.is_complex(holder))

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
        if base.type == "type_identifier":
            named = [d for d in self._typedefs.get(text_of(base), []) if d.start_byte < base.start_byte]
            if not named:
                return Type(kinds, text_of(base))
            name = next(n for n in walk(named[-1]) if n.type == "type_identifier")
            definition = enclosing(named[-1], "type_definition")
            inner = definition.child_by_field_name("type") if definition is not None else None
            inherits = definition is not None and self.is_complex(definition)
            return self._of_base(kinds + derivation(name, named[-1], DERIVED), inner, inherits)
        return Type(kinds, "_Complex " * is_complex + " ".join(text_of(base).split()))

    # ---- expressions ----

    def type_of(self, node: Node | None, anchor: Anchor | None = None) -> Type | None:
        """The type of an expression; None where this is not known."""
        if node is None:
            return None
        argument = node.child_by_field_name("argument")
        if node.type == "identifier":
            declarator = self.declarator(node, anchor)
            if declarator is None and text_of(node) in self._enumerators:
                return Type((), "int")
            return self.type_of_declarator(declarator) if declarator is not None else None
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
        declarator = self._member(base, name)
        return self.type_of_declarator(declarator) if declarator is not None else None

    def is_bit_field(self, base: Type | None, name: str) -> bool:
        declarator = self._member(base, name)
        behind = declarator.next_sibling if declarator is not None else None
        return behind is not None and behind.type == "bitfield_clause"

    def _member(self, base: Type | None, name: str) -> Node | None:
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
        if descriptor is None or COMPLEX.search(self.text) is not None:  # it may be a cast to _Complex
            return None
        kinds: tuple[str, ...] = ()
        at = descriptor.child_by_field_name("declarator")
        while at is not None:
            kinds = ((ABSTRACT[at.type],) if at.type in ABSTRACT else ()) + kinds
            inner = at.child_by_field_name("declarator")
            at = inner or next((c for c in at.named_children if c.type.startswith("abstract_")), None)
        return self._of_base(kinds, descriptor.child_by_field_name("type"))


def derivation(name: Node, top: Node, words: dict[str, str]) -> tuple[str, ...]:
    """From the name outwards."""
    out: list[str] = []
    node: Node | None = name
    while node is not None:
        if node.type in words:
            out.append(words[node.type])
        if node.id == top.id:
            break
        node = node.parent
    return tuple(out)
