"""The declarators of the parsed program, and the positions of their parts."""

from __future__ import annotations

from .source import Node, text_of


def innermost(declarator: Node) -> Node | None:
    """Returns the identifier that a declarator declares."""
    node: Node | None = declarator
    while node is not None and node.type not in ("identifier", "field_identifier"):
        node = node.child_by_field_name("declarator") or next(
            (c for c in node.named_children if c.type.endswith("declarator") or c.type == "identifier"), None
        )
    return node


def initial(top: Node) -> Node | None:
    """Returns the first value of a declared variable, if it has one."""
    return top.child_by_field_name("value") if top.type == "init_declarator" else None


def array_extents(identifier: Node, top: Node) -> int:
    """Returns the number of brackets after the name itself: `*p[3][4]` has two, `(*p)[3]` none."""
    count, node = 0, identifier
    while node.id != top.id and node.parent is not None and node.parent.type == "array_declarator":
        node, count = node.parent, count + 1
    return count


def pointed_dims(identifier: Node, top: Node) -> int:
    """Returns the number of dimensions of a pointer's target: `*p` one, `(*p)[3]` two; 0 if it is no pointer."""
    node, count = identifier, 0
    while node.id != top.id and node.parent is not None:
        node = node.parent
        if node.type == "pointer_declarator" and count == 0 or node.type == "array_declarator" and count > 0:
            count += 1
        elif node.type not in ("parenthesized_declarator", "init_declarator"):
            break
    return count


def is_allocation(value: Node, null: bool = True) -> bool:
    """Returns true for a call of malloc or its like, or a null pointer."""
    while value.type in ("cast_expression", "parenthesized_expression") and value.named_children:
        value = value.child_by_field_name("value") or value.named_children[-1]
    if value.type == "call_expression":
        return text_of(value.child_by_field_name("function")) in ("malloc", "calloc", "aligned_alloc", "realloc")
    return null and text_of(value) in ("0", "NULL", "nullptr")


def enclosing(node: Node, *kinds: str) -> Node | None:
    at: Node | None = node.parent
    while at is not None and at.type not in kinds:
        at = at.parent
    return at


def outermost(node: Node, *kinds: str) -> Node | None:
    around = enclosing(node, *kinds)
    while around is not None and (beyond := enclosing(around, *kinds)) is not None:
        around = beyond
    return around


def is_extern(declaration: Node | None) -> bool:
    words = declaration.named_children if declaration is not None else []
    return any(word.type == "storage_class_specifier" and text_of(word) == "extern" for word in words)


def may_be_use(node: Node) -> bool:
    """Returns true if this word may name a variable here. The parser takes `sizeof(a)` and `(a)[0]` for types."""
    parent = node.parent
    if parent is None or node.type not in ("identifier", "type_identifier") or parent.type == "parameter_list":
        return False
    if node.type == "type_identifier":
        return parent.type == "type_descriptor"
    if parent.type.endswith("declarator"):
        return innermost(parent) != node
    declares = ("parameter_declaration", "declaration", "field_declaration", "type_definition")
    return parent.type not in declares or node not in parent.children_by_field_name("declarator")
