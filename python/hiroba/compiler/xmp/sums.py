"""Warns about a variable in which each node has only what its own iterations of a shared loop add to it, where a
sequential program has one value: a sum without `reduction`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.arithmetic import name_of
from ..core.combined import Combination, Combining, depends_on_itself, guards_of, is_renewed, target_name
from ..core.counted import assigned_names, changes, declared_names, identifiers, in_order, is_set, whole
from ..core.declarators import enclosing
from ..core.declared import POINTER, Type, is_parameter
from ..core.every_rank import LOOPS, OPTION
from ..core.scopes import Declaration
from ..core.source import Node, bare, root_of, text_of, walk

if TYPE_CHECKING:
    from .part import Xmp
    from .subscripts import Shared

# Words of these name no variable whose value moves; after NODES_OF stands a node array or a template.
DECLARING = ("nodes", "template", "distribute", "align", "shadow", "static_desc", "template_fix")
NODES_OF = re.compile(r"\b(?:on|from)\s+\w+")
COMBINING = re.compile(r"(?:MPI|xmp|hiroba|smint|sms)_\w+")  # functions that may combine or move the values of nodes
LAST = ("which of the values that iterations set is meant? reduction(max:{name}) is the largest of all nodes, and "
        "reduction(min:{name}) the smallest, if the first value does not exceed it")  # fmt: skip


def warn_of_sums(xmp: Xmp, statement: Node, loops: list[Shared], divided: set[str]) -> set[int]:
    """`divided`: the variables of loops of which nodes have different iterations, at least one. Returns the places of
    warnings."""
    places: set[int] = set()
    function = enclosing(statement, "function_definition")
    if function is None or xmp.is_inside("task", statement.start_byte):
        return places
    variables = {each.counted.name for each in loops}
    told = set(variables)
    for node in walk(statement):
        change = changes(node)
        name = target_name(change[0]) if change is not None else ""
        if change is None or not name or name in told:
            continue
        root = root_of(pointed(change[0]))
        if not is_own(xmp, root, statement) or is_of_iteration(change[0], divided):
            continue
        if is_combined(xmp, xmp.declared.denoted(root)):
            continue
        told.add(name)
        first = next(use for use in in_order(statement) if text_of(use) == text_of(root))
        kind = name_of(element_of(xmp, change[0]))
        found = Combining(statement, name, xmp.unit.functions, kind).find()
        combines = bool(found.operator) or any(depends_on_itself(each, statement) for each in found.changes)
        is_last = not combines and kind is not None and root == change[0] and is_under_condition(found, statement)
        if is_renewed(first, statement) or not (combines or is_last):
            continue
        if any(counts_own(xmp, each) for each in found.changes):
            continue
        if is_read_after(xmp, function, statement, xmp.declared.denoted(root), xmp.declared.type_of(root)):
            told.update(found.locations)
            at = found.changes[0].start_byte
            places.add(at)
            remedy = LAST.format(name=name) if is_last else remedy_of(xmp, name, root, found)
            say(xmp, at, name, remedy)
    return places


def say(xmp: Xmp, at: int, name: str, remedy: str) -> None:
    xmp.source.complain(OPTION, at, f"each node gets a `{name}` of its own iterations only", remedy, "warning")


def counts_own(xmp: Xmp, change: Node) -> bool:
    """Returns true for `list[n++] = i`, a list that each node has of its own iterations, and for `n++ == 0`, which
    finds the first of them."""
    at = change
    while at.parent is not None and at.parent.type == "parenthesized_expression":
        at = at.parent
    user = at.parent
    if user is None or change.type != "update_expression":
        return False
    if user.type == "subscript_expression" and user.child_by_field_name("index") == at:
        return xmp.aligned.of_node(root_of(user)) is None and xmp.rewriter.resolve(root_of(user)) is None
    return user.type == "binary_expression" and text_of(user).endswith("== 0")


def is_under_condition(found: Combination, body: Node) -> bool:
    """Returns true if only some iterations set a variable, so that nodes without such an iteration keep another. A
    condition on what iterations change may find the first iteration of the node itself."""
    changed = assigned_names(body) - set(declared_names(body))
    for each in found.changes:
        change, guards = changes(each), guards_of(each, body)
        if change is None or change[1] != "=" or not guards or any(changed & identifiers(g.condition) for g in guards):
            return False
    return True


def pointed(target: Node) -> Node:
    """Returns p of *p, and other targets unchanged."""
    target = bare(target)
    return bare(target.child_by_field_name("argument") or target) if target.type == "pointer_expression" else target


def element_of(xmp: Xmp, target: Node) -> Type | None:
    kind = xmp.declared.type_of(target)
    return kind.element() if kind is not None else None


def remedy_of(xmp: Xmp, name: str, root: Node, found: Combination) -> str:
    if not found.operator:
        return found.why
    kind = xmp.declared.type_of(root)
    if name == text_of(root) and kind is not None and kind.derived[:1] == (POINTER,) and not has_extents(xmp, root):
        return f"add {found.clause(name)} to the directive, and give `{name}` its length, as the parameter {name}[n]"
    return f"add {found.located(name)} to the directive"


def has_extents(xmp: Xmp, root: Node) -> bool:
    """Returns true for a parameter that is declared with all its extents, `double a[n][m]`."""
    at = xmp.declared.declarator(root)
    while at is not None and at.type == "array_declarator" and at.child_by_field_name("size") is not None:
        at = at.child_by_field_name("declarator")
    return at is not None and at.type == "identifier"


def is_of_iteration(target: Node, variables: set[str]) -> bool:
    """Returns true for h[i], an element for each iteration, and false for h[a[i]], h[i % 4], and h[i] in a loop whose
    iterations over j are divided, too."""
    plain: set[str] = set()
    for at in walk(target):
        index = at.child_by_field_name("index") if at.type == "subscript_expression" else None
        if index is not None and root_of(at) == root_of(target):
            plain |= names_of_sum(index)
    return variables <= plain


def names_of_sum(node: Node) -> set[str]:
    """Returns the variables whose values, in sums and products, make an expression differ."""
    node = bare(node)
    if node.type == "identifier":
        return {text_of(node)}
    if node.type == "cast_expression":
        value = node.child_by_field_name("value")
        return names_of_sum(value) if value is not None else set()
    if node.type == "unary_expression" or (
        node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in ("+", "-", "*")
    ):
        return set().union(*map(names_of_sum, node.named_children))
    return set()


def is_own(xmp: Xmp, root: Node, statement: Node) -> bool:
    """Returns true for a variable that is declared outside of a loop, and of which each node has one."""
    declared = xmp.declared.denoted(root)
    outside = declared is not None and not statement.start_byte <= declared.entity.at < statement.end_byte
    return outside and xmp.aligned.of_node(root) is None and xmp.rewriter.resolve(root) is None


def is_combined(xmp: Xmp, denoted: Declaration | None) -> bool:
    """Returns true if a directive, or a call, combines or moves the values that nodes have in a variable."""
    if denoted is None:
        return False
    word = re.compile(rf"\b{denoted.name}\b")
    for directive in xmp.directives:
        if directive.name in DECLARING or (directive.name == "loop" and "reduction" not in directive.words):
            continue
        below = xmp.statements.below(directive.end) if directive.name in ("gmove", "array") else None
        if word.search(NODES_OF.sub("", directive.words)) or (below is not None and word.search(text_of(below))):
            return True
    for at, use in xmp.unit.scopes.uses():
        if use.entity is denoted.entity:
            node = xmp.unit.root.descendant_for_byte_range(at, at)
            call = enclosing(node, "call_expression") if node is not None else None
            if call is not None and COMBINING.fullmatch(text_of(call.child_by_field_name("function"))):
                return True
    return False


def is_read_after(xmp: Xmp, function: Node, statement: Node, denoted: Declaration | None, kind: Type | None) -> bool:
    """Returns true if the value of a variable after a loop is used, in place of being set anew."""
    if denoted is None:
        return False
    uses = [use for use in in_order(function) if text_of(use) == denoted.name]
    begin = statement.end_byte
    around = statement.parent
    while around is not None and around.id != function.id:
        if around.type in LOOPS:
            later = next((use for use in uses if begin <= use.start_byte < around.end_byte), None)
            if later is not None:
                return not is_set(whole(later))
            first = around.child_by_field_name("initializer")
            begins = first.end_byte if first is not None else around.start_byte
            again = next((use for use in uses if begins <= use.start_byte < statement.start_byte), None)
            if again is not None and not is_set(whole(again)):
                return True
            begin = around.end_byte
        around = around.parent
    later = next((use for use in uses if use.start_byte >= begin), None)
    if later is not None:
        return not is_set(whole(later))
    if denoted.entity.block:  # a parameter of an array or a pointer shows the caller's memory
        top = xmp.declared.top_of(denoted)
        is_pointer = kind is not None and kind.derived[:1] == (POINTER,)
        return is_pointer and top is not None and is_parameter(top.parent)
    return is_read_elsewhere(xmp, function, denoted)


def is_read_elsewhere(xmp: Xmp, function: Node, denoted: Declaration) -> bool:
    """Returns true if another function uses the value of a variable at file scope."""
    for at, use in xmp.unit.scopes.uses():
        if use.entity is denoted.entity and not function.start_byte <= at < function.end_byte:
            node = xmp.unit.root.descendant_for_byte_range(at, at + len(denoted.name))
            if node is not None and node.type == "identifier" and not is_set(whole(node)):
                return True
    return False
