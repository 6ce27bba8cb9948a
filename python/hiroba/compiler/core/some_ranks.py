"""Warns of directives that all ranks execute together, where a condition that depends on the rank decides who comes to
them: the others would wait, or meet another directive. Both branches of a condition may have one; and tasks of some
nodes have conditions of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .combined import squeezed
from .counted import changes
from .declarators import enclosing, innermost
from .found import Directive, Stands
from .operations import RANKS
from .scopes import Declaration
from .source import Node, text_of, walk
from .statements import Statements

if TYPE_CHECKING:
    from .notation import Unit

OPTION = "some-ranks"
GIVES_RANK = re.compile(rf"{'|'.join(RANKS)}|xmpc_all_node_num|hiroba_(?:team_)?rank|xmp_this_image")
SETS_RANK = re.compile(r"MPI_Comm_rank|hiroba_team_rank")  # in their last argument
PURE = ("abs", "labs", "llabs", "div", "fabs", "floor", "ceil", "fmin", "fmax", "fmod", "pow", "sqrt", "log2")
CONDITIONS = ("if_statement", "switch_statement", "while_statement", "do_statement", "for_statement",
              "conditional_expression")  # fmt: skip
LEAVES = ("return_statement", "break_statement", "continue_statement", "goto_statement")
OWN = ("task", "tasks", "taskloop", "single", "critical")  # directives of statements that some ranks execute


class SomeRanks:
    """Requires that the notations have read their directives."""

    def __init__(self, unit: Unit, statements: Statements) -> None:
        self.unit, self.source, self.statements = unit, unit.source, statements
        self.meeting = [d for d in unit.found.directives if d.kind.is_together(d.words)]
        self.own = {
            s.id for d in unit.found.directives
            if d.kind.stands is Stands.ABOVE and d.name in OWN and (s := statements.below(d.end)) is not None
        }  # fmt: skip
        self.at = sorted(d.at for d in self.meeting)  # of these, and of calls of functions that have them
        self.variables: set[Declaration] = set()
        self.members: set[str] = set()
        self.callees: set[str] = set()

    def check(self) -> None:
        if not self.meeting or not any(map(self._gives_rank, walk(self.unit.root))):
            return
        self._find_variables()
        places = [(d.at, self._node_of(d), d) for d in self.meeting]
        has = dict(self._functions(places))
        places += [
            (node.start_byte, node, has[name]) for node in walk(self.unit.root) if node.type == "call_expression"
            and (name := text_of(node.child_by_field_name("function"))) in has
        ]  # fmt: skip
        self.at = sorted(at for at, _, _ in places)
        for at, node, directive in places:
            condition = self._deciding(node) if node is not None else None
            if condition is not None:
                self._say(at, directive, condition)

    def _node_of(self, directive: Directive) -> Node | None:
        if directive.kind.stands is Stands.ABOVE:
            return self.statements.below(directive.end)
        return self.unit.root.descendant_for_byte_range(directive.at, directive.at)

    def _functions(self, places: list[tuple[int, Node | None, Directive]]) -> Iterator[tuple[str, Directive]]:
        """Yields functions with a directive that their callers must all come to."""
        for _, node, directive in places:
            function = enclosing(node, "function_definition") if node is not None else None
            if node is None or function is None or self._deciding(node) is not None or self._is_of_task(node):
                continue
            name = text_of(innermost(function.child_by_field_name("declarator") or function))
            if name != "main":
                yield name, directive

    def _is_of_task(self, node: Node) -> bool:
        at: Node | None = node
        while at is not None and at.id not in self.own:
            at = at.parent
        return at is not None

    # ---- what depends on the rank ----

    def _gives_rank(self, node: Node) -> bool:
        if node.type == "call_expression":
            name = text_of(node.child_by_field_name("function"))
            return GIVES_RANK.fullmatch(name) is not None or name in self.callees
        return node.type == "identifier" and text_of(node) in RANKS

    def _depends(self, node: Node | None) -> bool:
        """Returns true if a value is computed from the rank. Elements of arrays are not: `a[rank + 1] != t`."""
        if node is None or squeezed(node).endswith(">=0"):  # all ranks are
            return False
        if self._gives_rank(node):
            return True
        if node.type == "identifier":
            made = self.unit.declared.denoted(node)
            return made is not None and made.entity in self.variables
        if node.type == "call_expression" and not self._computes(text_of(node.child_by_field_name("function"))):
            return False
        if node.type == "field_expression":
            return text_of(node.child_by_field_name("field")) in self.members
        return node.type != "subscript_expression" and any(map(self._depends, node.named_children))

    def _computes(self, name: str) -> bool:
        """Returns true for a function of this file whose result comes from its arguments alone: it calls nothing that
        may give all ranks one value."""
        function = self.unit.functions.get(name)
        if function is None:
            return name in PURE
        calls = [node for node in walk(function) if node.type == "call_expression"]
        together = any(function.start_byte <= d.at < function.end_byte for d in self.meeting)
        return not together and all(text_of(node.child_by_field_name("function")) in PURE for node in calls)

    def _find_variables(self) -> None:
        """Finds variables, members and functions that have a value computed from the rank."""
        shared = self._same_again()
        before = -1
        while before != (before := len(self.variables) + len(self.members) + len(self.callees)):
            for node in walk(self.unit.root):
                target, value = None, None
                if node.type == "init_declarator":
                    target, value = innermost(node), node.child_by_field_name("value")
                elif (change := changes(node)) is not None and change[1] == "=":
                    target, value = change[0], node.child_by_field_name("right")
                elif node.type == "return_statement" and self._depends(node):
                    function = enclosing(node, "function_definition")
                    self.callees |= {text_of(innermost(function))} if function is not None else set()
                elif node.type == "call_expression" and SETS_RANK.fullmatch(
                    text_of(node.child_by_field_name("function"))
                ):
                    given = node.child_by_field_name("arguments")
                    names = [each for each in walk(given) if each.type == "identifier"] if given is not None else []
                    self._add(names[-1] if names else node, shared)
                if target is not None and self._depends(value):
                    self._add(target, shared)

    def _add(self, target: Node, shared: set[str]) -> None:
        if target.type == "field_expression":
            self.members.add(text_of(target.child_by_field_name("field")))
        elif target.type == "identifier" and text_of(target) not in shared:
            made = self.unit.declared.denoted(target)
            self.variables |= {made.entity} if made is not None else set()

    def _same_again(self) -> set[str]:
        """Returns variables that directives or functions may set to one value for all ranks."""
        words = " ".join(
            d.words for d in self.unit.found.directives if d.name in ("bcast", "reduction", "loop", "parallel")
        )
        out = set(re.findall(r"[A-Za-z_]\w*", words))
        for node in walk(self.unit.root):
            if node.type == "pointer_expression" and squeezed(node).startswith("&"):
                call = enclosing(node, "call_expression")
                if call is None or not SETS_RANK.fullmatch(text_of(call.child_by_field_name("function"))):
                    out.add(squeezed(node)[1:])
        return out

    # ---- conditions ----

    def _deciding(self, node: Node) -> Node | None:
        """Returns the statement whose condition selects the ranks that come to this place."""
        below, at = node, node.parent
        while at is not None and at.type != "function_definition" and (below == node or below.id not in self.own):
            if at.type == "compound_statement":
                for each in at.named_children:
                    if each.end_byte <= below.start_byte and self._leaves(each):
                        return each
            elif at.type in CONDITIONS and self._selects(at, below):
                return at
            below, at = at, at.parent
        return None

    def _selects(self, at: Node, below: Node) -> bool:
        condition = at.child_by_field_name("condition")
        if condition is None or condition == below or not self._depends(condition):
            return False
        if at.type == "for_statement":
            return not self._depends(at.child_by_field_name("initializer"))
        if at.type == "switch_statement":
            return self._meets(at) < 2
        then, other = at.child_by_field_name("consequence"), at.child_by_field_name("alternative")
        if other is None and then is not None and any(node.type in LEAVES for node in walk(then)):
            other = at.parent  # what the others go on with
            return other is None or self._meets(other) == self._meets(then)
        return not all(part is not None and self._meets(part) for part in (then, other))

    def _leaves(self, statement: Node) -> bool:
        """Returns true for `if (rank != 0) return;`, unless those that leave have met others before."""
        then = statement.child_by_field_name("consequence")
        if statement.type != "if_statement" or then is None or self._meets(statement):
            return False
        inside = [node for node in walk(then) if node.type in LEAVES]
        loops = [node for node in walk(then) if node.type in ("for_statement", "while_statement", "switch_statement")]
        return bool(inside) and not loops and self._depends(statement.child_by_field_name("condition"))

    def _meets(self, node: Node) -> int:
        return sum(node.start_byte <= at < node.end_byte for at in self.at)

    def _say(self, at: int, directive: Directive, condition: Node) -> None:
        name = f"#pragma {directive.family} {directive.kind.shown}"
        what = (
            f"{name} is" if at == directive.at else f"this calls {name} in line {self.source.place(directive.at).line},"
        )
        line = self.source.place(condition.start_byte).line
        remedy = "take it out of the condition"
        if directive.family == "xmp":
            remedy += ", or name the nodes that come to it: #pragma xmp task on p[0] above both"
        self.source.complain(
            OPTION,
            at,
            f"{what} for all ranks together, and the condition in line {line} depends on the rank: others do not come",
            remedy,
            "warning",
        )
