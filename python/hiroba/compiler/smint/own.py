"""Warns about private variables, of which each rank has its own, where a serial program has one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from ..core.arithmetic import name_of
from ..core.combined import Combination, Combining, depends_on_itself, is_renewed, target_name
from ..core.counted import changes, declared_names, identifiers, in_order, is_set, is_sum, whole
from ..core.declarators import enclosing, innermost
from ..core.declared import ARRAY, Declared
from ..core.every_rank import OPTION
from ..core.pragmas import COPIES, PRAGMA, clauses
from ..core.shared import Rewriter
from ..core.source import Node, root_of, text_of, walk
from .loops import LoopReader
from .private import elements_of_iterations

PRIVATE = ("private", "firstprivate", "lastprivate")
CONDITIONS = ("if_statement", "conditional_expression")


class OwnVariables:
    def __init__(self, rewriter: Rewriter, declared: Declared, functions: Mapping[str, Node]) -> None:
        self.rewriter, self.declared, self.functions = rewriter, declared, functions
        self.singles: list[tuple[int, int, frozenset[str]]] = []  # and the variables that all ranks get a copy of
        self._uses: dict[int, dict[str, list[Node]]] = {}  # by function and name, in order

    def uses(self, function: Node | None, name: str) -> list[Node]:
        if function is None:
            return []
        if function.id not in self._uses:
            names: dict[str, list[Node]] = {}
            for use in in_order(function):
                names.setdefault(text_of(use), []).append(use)
            self._uses[function.id] = names
        return self._uses[function.id].get(name, [])

    # ---- parallel for ----

    def warn_of_loop(self, loop: Node, reader: LoopReader, reduced: list[str], above: int) -> None:
        """`above`: the position of the directive; those of OpenMP are between it and the loop."""
        copies = {word for text in self.copies(above, loop) for word in re.findall(r"[A-Za-z_]\w*", text)}
        seen, affine = {*reader.locals, *reduced, *copies}, elements_of_iterations(reader)
        for node in walk(loop):
            change = changes(node)
            if change is None:
                continue
            target, operator = change
            root = root_of(target)
            name = text_of(root)
            if root.type != "identifier" or name in seen or self.rewriter.resolve(root) is not None:
                continue
            if target.type == "identifier":
                seen.add(name)
                self._warn_of_variable(loop, reader, target)
            elif target.id not in affine and self.combines(node, loop):
                continue  # private.py reports it
            elif self._each_its_own(loop, reader, target, root):
                seen.add(name)
                found = self.combination(loop, target)
                self.rewriter.source.warn(
                    node.start_byte,
                    f"`{name}` is not shared, so each rank sets elements of its own for its iterations only",
                    f"declare it shared, or add {found.clause(name)} to the directive"
                    if found.operator and is_sum(node, target, operator) else
                    "declare it shared",
                )  # fmt: skip

    def combination(self, loop: Node, target: Node) -> Combination:
        kind = self.declared.type_of(target)
        kind_name = name_of(kind.element()) if kind is not None else None
        return Combining(loop, target_name(target), self.functions, kind_name).find()

    def combines(self, change: Node, body: Node) -> bool:
        """Returns true for a sum or the like, and for a maximum or minimum of which only the condition reads the old
        value. Other conditions on it, as `if (!ready) ready = 1`, are left to the program."""
        made = changes(change)
        if made is None:
            return False
        if is_sum(change, *made) or not depends_on_itself(change, body):
            return is_sum(change, *made)
        return self.combination(body, made[0]).operator in ("max", "min")

    def copies(self, above: int, loop: Node) -> list[str]:
        """Returns the variables that OpenMP gives each thread or iteration."""
        text = self.rewriter.source.text
        out = []
        for line in PRAGMA.finditer(text, above, loop.end_byte):
            found = clauses(line[2], line.start(2))
            out += [text[c.begin : c.end] for c in found if c.name in COPIES]
        return out

    def _warn_of_variable(self, loop: Node, reader: LoopReader, target: Node) -> None:
        name, say = text_of(target), self.rewriter.source.warn
        function = enclosing(loop, "function_definition")
        uses = [u for u in self.uses(function, name) if reader.body.start_byte <= u.start_byte < reader.body.end_byte]
        after = (u for u in self.uses(function, name) if u.start_byte >= loop.end_byte)
        use = next((u for u in after if not self._is_private(u)), None)
        is_used = use is not None and not is_set(use)
        found = self.combination(loop, target)
        is_flag = found.operator != "" and is_used and bool(uses) and not is_renewed(uses[0], loop)
        if name != reader.counted.name and uses and (is_flag or not is_set(uses[0])):
            change = found.changes[0] if found.changes else target.parent or target
            if self._is_induction(reader, name, uses):
                say = partial(self.rewriter.source.complain, OPTION)
                say(
                    change.start_byte,
                    f"`{name}` depends on the iterations before, which other ranks do",
                    f"compute it in each iteration from `{reader.counted.name}`",
                )
                return
            if found.operator and not is_set(uses[0]) and self.uses(function, name)[-1].start_byte >= loop.end_byte:
                say = partial(self.rewriter.source.complain, OPTION)
            remedy = f"add {found.clause(name)} to the directive" if found.operator else found.why
            if found.locations:
                remedy += f", and find {', '.join(found.locations)} in a loop after it"
            say(change.start_byte, f"each rank gets a `{name}` of its own iterations only", remedy)
            return
        if use is not None and is_used:
            say(
                use.start_byte,
                f"each rank has the `{name}` here that its own last iteration has left",
                "set it anew behind the loop" if name == reader.counted.name else
                "keep it in a shared variable, or set it anew behind the loop",
            )  # fmt: skip

    def _is_induction(self, reader: LoopReader, name: str, uses: list[Node]) -> bool:
        """Returns true if a variable advances by the same step, and the body also uses its value elsewhere."""
        moves = [n for n in walk(reader.body) if (c := changes(n)) is not None and text_of(c[0]) == name]
        inside = {u.id for move in moves for u in walk(move)}
        others = [u for u in uses if u.id not in inside]
        return any(enclosing(u, "subscript_expression") is not None for u in others)

    def _is_private(self, use: Node) -> bool:
        """Returns true if OpenMP gives each thread its own: the value from before is not seen."""
        node: Node | None = use
        while node is not None and node.type != "function_definition":
            if node.type == "for_statement":
                text = self.rewriter.source.text
                begin = max(text.rfind(c, 0, node.start_byte) for c in ";{}")
                if text_of(use) in private_names(text[begin + 1 : node.start_byte]):
                    return True
            node = node.parent
        return False

    def _each_its_own(self, loop: Node, reader: LoopReader, target: Node, root: Node) -> bool:
        """Returns true if an ordinary array gets its values from the iterations, and is used elsewhere."""
        of = self.declared.type_of(root)
        if of is None or of.derived[:1] != (ARRAY,):
            return False
        inner = {values.name for values in reader.out.loops[1:]}
        varying = {reader.counted.name, *(set(reader.locals) - inner)}
        node, indices = target, set()
        while node.type != "identifier":
            index = node.child_by_field_name("index") if node.type == "subscript_expression" else None
            indices |= identifiers(index) if index is not None else set()
            node = node.child_by_field_name("argument") or node.named_children[0]
        if not indices & varying:
            return False
        own = self.declared.declarator(root)
        return own is not None and any(
            not loop.start_byte <= use.start_byte < loop.end_byte
            and self.declared.declarator(use) == own and use != innermost(own)
            for function in self.rewriter.root.children if function.type == "function_definition"
            for use in self.uses(function, text_of(root))
        )  # fmt: skip

    # ---- single ----

    def warn_of_singles(self) -> None:
        for begin, end, copied in self.singles:
            statement = self.rewriter.root.descendant_for_byte_range(begin, end - 1)
            function = enclosing(statement, "function_definition") if statement is not None else None
            if statement is None or function is None:
                continue
            inside = declared_names(statement)
            for node in walk(statement):
                change = changes(node)
                target = change[0] if change is not None else None
                if node.type == "pointer_expression" and text_of(node).startswith("&"):
                    target = node.child_by_field_name("argument")
                if (
                    target is None
                    or target.type != "identifier"
                    or text_of(target) in inside
                    or text_of(target) in copied
                ):
                    continue
                if self.rewriter.resolve(target) is None and self.used_by_all(function, text_of(target), end):
                    inside[text_of(target)] = None  # once
                    name = text_of(target)
                    self.rewriter.source.warn(
                        target.start_byte,
                        f"only rank 0 sets `{name}` here, and the other ranks go on with what they had",
                        f"say `single copy({name})`, or declare `{name}` shared, with ::[](0,1), or set it on all",
                    )

    def used_by_all(self, function: Node, name: str, behind: int) -> bool:
        """Returns true if the next use outside of rank 0's statements only reads it."""
        for use in self.uses(function, name):
            if use.start_byte < behind:
                continue
            condition = use.parent
            while condition is not None and not (condition.type in CONDITIONS and "sms_rank" in identifiers(condition)):
                condition = condition.parent
            if condition is None and not any(a <= use.start_byte < b for a, b, _ in self.singles):
                return not is_set(whole(use))
        return False


def private_names(text: str) -> set[str]:
    """Returns variables of which directives of OpenMP in this text give each thread its own."""
    arguments = [
        text[clause.begin : clause.end]
        for line in PRAGMA.finditer(text)
        if line[1] == "omp"
        for clause in clauses(line[2], line.start(2))
        if clause.name in PRIVATE
    ]
    return {word for argument in arguments for word in re.findall(r"[A-Za-z_]\w*", argument)}
