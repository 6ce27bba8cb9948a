"""Counted loops, and the variables that statements change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .affine import integer
from .declarators import innermost
from .source import Node, bare, text_of, walk

# The nodes that a step may contain.
STEADY = ("identifier", "number_literal", "binary_expression", "parenthesized_expression", "sizeof_expression")
REAL = ("float", "double", "long double")


@dataclass
class Counted:
    """`for (v = first; v < end; v += step)`. `end` is exclusive in the loop's direction."""

    name: str
    variable: Node
    first: Node
    bound: Node
    past: int  # added to the bound: 1 for <=, -1 for >=
    step: int  # the step if it is a number; else 1 or -1, by the comparison
    by: Node | None  # if it is no number: the step, or the number subtracted
    compare: Node  # the comparison, for rewriting
    declared: str  # type, if declared here


def read_for(loop: Node) -> Counted | str:
    """Returns a counted loop, or the reason why it is none."""
    first, condition = loop.child_by_field_name("initializer"), loop.child_by_field_name("condition")
    update = loop.child_by_field_name("update")
    if first is None or condition is None or update is None:
        return "needs all three parts: for (i = first; i < end; i++)"
    declared = ""
    if first.type == "declaration":
        declarators = first.children_by_field_name("declarator")
        if len(declarators) != 1 or declarators[0].type != "init_declarator":
            return "declares more than its variable"
        variable, start = declarators[0].child_by_field_name("declarator"), declarators[0].child_by_field_name("value")
        kind = first.child_by_field_name("type")
        declared = text_of(kind) if kind is not None else "int"
    elif first.type == "assignment_expression" and text_of(first.child_by_field_name("operator")) == "=":
        variable, start = first.child_by_field_name("left"), first.child_by_field_name("right")
    else:
        return "does not begin with an assignment to its variable"
    if variable is None or start is None or variable.type != "identifier":
        return "has no simple variable"
    name = text_of(variable)
    found = read_step(update, name)
    if found is None:
        return f"does not change `{name}` by a number that stays the same"
    step, by = found
    end = end_of(condition, name, step, by)
    if isinstance(end, str):
        return end
    return Counted(name, variable, start, *end, step, by, condition, declared)


def end_of(
    condition: Node, name: str, step: int, by: Node | None, leaves: bool = False, shown: Callable[[Node], str] = text_of
) -> tuple[Node, int] | str:
    """Returns the bound of a condition and what is added to it, or the reason why it has none. `leaves`: the loop ends
    where the condition holds. `shown`: the name of a side that may be the variable."""
    if condition.type != "binary_expression":
        return f"does not compare `{name}` with its end"
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    operator = text_of(condition.child_by_field_name("operator"))
    if left is None or right is None:
        return "has no condition"
    if shown(right) == name:
        left, right = right, left
        operator = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
    if leaves:
        operator = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!="}.get(operator, "")
    allowed = ("<", "<=") if step > 0 else (">", ">=")
    one_by_one = operator == "!=" and abs(step) == 1 and by is None
    if shown(left) != name or not (operator in allowed or one_by_one):
        return f"does not compare `{name}` by {allowed[0]} or {allowed[1]} with its end"
    return right, {"<=": 1, ">=": -1}.get(operator, 0)


def moved(node: Node) -> str:
    """Returns the text of an expression; of `i++`, that of the variable."""
    argument = node.child_by_field_name("argument") if node.type == "update_expression" else None
    return text_of(argument or node)


def read_loop(loop: Node) -> Counted | None:
    """Returns what any loop counts, such as `while (v < end) {.. v++; ..}`: its condition, or that of the break with
    which its body begins, compares a variable that one statement in it changes, and it, or the last statement before
    it in the same block, sets the variable."""
    condition, body = bare(loop.child_by_field_name("condition") or loop), loop.child_by_field_name("body")
    if body is None:
        return None
    first = body.named_children[0] if body.type == "compound_statement" and body.named_children else body
    leaves = condition.type in ("number_literal", "true", loop.type) and first.type == "if_statement"
    if leaves and "break" in text_of(first.child_by_field_name("consequence")):
        condition = bare(first.child_by_field_name("condition") or first)
    for change in walk(loop) if condition.type == "binary_expression" else ():
        made = changes(change)
        name = text_of(made[0]) if made is not None else ""
        found = read_step(change, name) if name in identifiers(condition) else None
        begin = loop.child_by_field_name("initializer")
        others = [text_of(n) for n in assignments(loop) if begin is None or n.start_byte >= begin.end_byte]
        if found is None or others.count(name) != 1:
            continue
        end = end_of(condition, name, *found, leaves, moved)
        start = (set_by(begin, name) if begin is not None else None) or first_before(loop, name)
        if isinstance(end, tuple) and start is not None:
            return Counted(name, *start, *end, *found, condition, "")
    return None


def first_before(loop: Node, name: str) -> tuple[Node, Node] | None:
    """Returns the variable and its value where a statement before the loop sets it last."""
    at = loop.prev_named_sibling
    while at is not None and name not in (assigned_names(at) | set(declared_names(at))):
        at = at.prev_named_sibling
    return set_by(at, name) if at is not None else None


def set_by(statement: Node, name: str) -> tuple[Node, Node] | None:
    """Returns the variable and its value, if a declaration or an assignment sets it."""
    declarators = [d for d in statement.children_by_field_name("declarator") if d.type == "init_declarator"]
    sides = [(d.child_by_field_name("declarator"), d.child_by_field_name("value")) for d in declarators]
    for node in walk(statement) if "expression" in statement.type else ():
        if node.type == "assignment_expression" and text_of(node.child_by_field_name("operator")) == "=":
            sides.append((node.child_by_field_name("left"), node.child_by_field_name("right")))
    for left, right in sides:
        if left is not None and right is not None and text_of(left) == name:
            return left, right
    return None


def read_step(update: Node, name: str) -> tuple[int, Node | None] | None:
    """Returns a number; or 1 or -1, and the expression of the number."""
    argument = update.child_by_field_name("argument")
    if update.type == "update_expression" and argument is not None and text_of(argument) == name:
        return (1 if "++" in text_of(update) else -1), None
    left, right = update.child_by_field_name("left"), update.child_by_field_name("right")
    if update.type != "assignment_expression" or left is None or right is None or text_of(left) != name:
        return None
    operator = text_of(update.child_by_field_name("operator"))
    sign = {"+=": 1, "-=": -1}.get(operator)
    if operator == "=" and right.type == "binary_expression":
        parts = [right.child_by_field_name(p) for p in ("left", "operator", "right")]
        words = [text_of(p) for p in parts if p is not None]
        if words[:2] == [name, "+"] or words[:2] == [name, "-"]:
            sign, right = (1 if words[1] == "+" else -1), parts[2]
    if sign is None or right is None:
        return None
    value = integer(text_of(right))
    if value is not None:
        return (sign * value, None) if value else None
    steady = all(n.type in STEADY or not n.is_named for n in walk(right)) and name not in identifiers(right)
    return (sign, right) if steady else None


def identifiers(node: Node) -> set[str]:
    return {text_of(n) for n in walk(node) if n.type == "identifier"}


def assignments(body: Node) -> list[Node]:
    """Returns the names that the body changes, or takes the address of."""
    out: list[Node] = []
    for node in walk(body):
        target = None
        if node.type == "assignment_expression":
            target = node.child_by_field_name("left")
        elif node.type == "update_expression" or node.type == "pointer_expression" and text_of(node).startswith("&"):
            target = node.child_by_field_name("argument")
        if target is not None and bare(target).type == "identifier":
            out.append(bare(target))
    return out


def changes(node: Node) -> tuple[Node, str] | None:
    """Returns the target of an assignment, and its operator."""
    if node.type == "assignment_expression":
        left = node.child_by_field_name("left")
        return (left, text_of(node.child_by_field_name("operator"))) if left is not None else None
    if node.type == "update_expression":
        argument = node.child_by_field_name("argument")
        return (argument, f"{'+' if '++' in text_of(node) else '-'}=") if argument is not None else None
    return None


def is_sum(change: Node, target: Node, operator: str) -> bool:
    """Returns true if the new value depends on the old one."""
    right = change.child_by_field_name("right")
    name, value = (re.sub(r"\s", "", text_of(node)) for node in (target, right))
    again = right is not None and re.search(rf"(?<![\w.])(?<!->){re.escape(name)}(?!\w)", value) is not None
    return operator != "=" or again


def is_set(use: Node) -> bool:
    """Returns true if this use gives the variable a new value that does not depend on the old one."""
    parent = use.parent
    if parent is None or parent.type != "assignment_expression" or parent.child_by_field_name("left") != use:
        return parent is not None and parent.type.endswith("declarator") and innermost(parent) == use
    right = parent.child_by_field_name("right")
    return text_of(parent.child_by_field_name("operator")) == "=" and (
        right is None or text_of(use) not in identifiers(right)
    )


def whole(use: Node) -> Node:
    """Returns the element or member that begins with this name, if any."""
    while use.parent is not None and use.parent.type in ("subscript_expression", "field_expression"):
        if use.parent.child_by_field_name("argument") != use:
            break
        use = use.parent
    return use


def in_order(node: Node) -> Iterator[Node]:
    """Yields identifiers in the order of their use: the target of an assignment comes after the value."""
    if node.type == "identifier":
        yield node
        return
    children = list(node.named_children)
    if node.type == "assignment_expression" and text_of(node.child_by_field_name("operator")) == "=":
        children.reverse()
    for child in children:
        yield from in_order(child)


def assigned_names(body: Node) -> set[str]:
    return {text_of(target) for target in assignments(body)}


def declared_names(body: Node) -> dict[str, Node | None]:
    """Returns local variables of the body and their first values."""
    out: dict[str, Node | None] = {}
    for node in walk(body):
        if node.type != "declaration":
            continue
        for declarator in node.children_by_field_name("declarator"):
            name = innermost(declarator)
            if name is None:
                continue
            plain = declarator.type == "init_declarator" and declarator.child_by_field_name("declarator") == name
            out[text_of(name)] = declarator.child_by_field_name("value") if plain else None
    return out


def declared_pointers(body: Node) -> set[str]:
    out = set()
    for declaration in (n for n in walk(body) if n.type == "declaration"):
        for top in declaration.children_by_field_name("declarator"):
            shape = top.child_by_field_name("declarator") if top.type == "init_declarator" else top
            if shape is not None and any(n.type == "pointer_declarator" for n in walk(shape)):
                out.add(text_of(innermost(top)))
    return out


def bounds_of(counted: Counted) -> list[Node]:
    """Returns the ends of a loop; `a < b ? a : b`, which ends at the smaller one, has two ends that it does not
    pass."""
    node = bare(counted.bound)
    if node.type != "conditional_expression" or counted.step < 0:
        return [node]
    parts = [node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")]
    texts = [re.sub(r"[\s()]+", "", text_of(part)) for part in parts]
    smaller = any(texts[0] == f"{texts[1]}{sign}{texts[2]}" for sign in ("<", "<="))
    smaller = smaller or any(texts[0] == f"{texts[2]}{sign}{texts[1]}" for sign in (">", ">="))
    return [part for part in parts[1:] if part is not None] if smaller else [node]
