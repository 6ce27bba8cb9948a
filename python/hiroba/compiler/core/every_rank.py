"""What every rank does although one should: statements outside of directives that change shared data by what it was,
and that read the standard input, which only rank 0 has. What guards a statement decides: a condition that depends on
the rank, a directive, a lock, or that it changes an element which depends on the rank."""

from __future__ import annotations

import re
from functools import cached_property

from .counted import changes, identifiers
from .declarators import enclosing, innermost
from .shared import Rewriter, Shared
from .source import Node, text_of, walk

RANKS = frozenset(
    ["sms_rank", "sms_node", "xmp_node_num", "xmpc_node_num", "xmpc_this_image", "smint_single", "xmp_all_node_num"]
)
OPTION = "every-rank"  # of -Wno-error=
CONTROLS = ("if_statement", "for_statement", "while_statement", "do_statement", "switch_statement")
GUARDS = (*CONTROLS, "conditional_expression")
FACTS = ("init_declarator", "assignment_expression", "update_expression", "return_statement", "call_expression")
LEAVES = ("return_statement", "break_statement", "continue_statement", "goto_statement")
# Functions that read the standard input: always, or if a word of their arguments says so.
READS = {"scanf", "vscanf", "getchar", "gets", "getchar_unlocked"}
READS_FROM = {"fscanf", "fgets", "fread", "getline", "getdelim", "fgetc", "getc"}


class RankDependence:
    """Which names of a file have values that differ from rank to rank, as far as the file tells."""

    def __init__(self, root: Node) -> None:
        self.functions = {name_of(f): f for f in root.children if f.type == "function_definition"}
        self.calls = [n for n in walk(root) if n.type == "call_expression"]
        self.names: dict[int, set[str]] = {f.id: set() for f in self.functions.values()}
        self.returning: set[str] = set()
        self._words: dict[int, frozenset[str]] = {}
        self._leaves: dict[int, bool] = {}
        self._facts = {f.id: [n for n in walk(f) if n.type in FACTS] for f in self.functions.values()}
        self._called: dict[int, frozenset[str]] = {}
        before = -1
        while before != (before := self._size()):
            for function in self.functions.values():
                self._spread(function)

    def _size(self) -> int:
        return sum(map(len, self.names.values())) + len(self.returning)

    def called_in(self, function: Node) -> frozenset[str]:
        if function.id not in self._called:
            self._called[function.id] = frozenset(map(called, walk(function)))
        return self._called[function.id]

    def depends(self, node: Node | None, function: Node) -> bool:
        if node is None:
            return False
        if node.id not in self._words:
            self._words[node.id] = frozenset(re.findall(r"[A-Za-z_]\w*", text_of(node)))
        words = self._words[node.id]
        return not (words.isdisjoint(RANKS) and words.isdisjoint(self.names[function.id])
                    and words.isdisjoint(self.returning))  # fmt: skip

    def guarded(self, node: Node, function: Node) -> bool:
        """Whether a condition around the statement, or one by which others have left before, depends on the rank."""
        inner, outer = node, node.parent
        while outer is not None and inner.id != function.id:
            if outer.type in GUARDS:
                body = outer.child_by_field_name("body")
                parts = [c for c in outer.named_children if c.id not in (inner.id, body.id if body is not None else -1)]
                if inner.id != (c := outer.child_by_field_name("condition") or inner).id and self.depends(c, function):
                    return True
                if outer.type == "for_statement" and any(self.depends(part, function) for part in parts):
                    return True
            if outer.type == "compound_statement" and self._left_before(outer, inner, function):
                return True
            inner, outer = outer, outer.parent
        return False

    def _left_before(self, block: Node, statement: Node, function: Node) -> bool:
        for other in block.named_children:
            if other.start_byte >= statement.start_byte:
                return False
            if other.id not in self._leaves:
                self._leaves[other.id] = other.type == "if_statement" and any(n.type in LEAVES for n in walk(other))
            if self._leaves[other.id] and self.depends(other.child_by_field_name("condition"), function):
                return True
        return False

    def _spread(self, function: Node) -> None:
        """One round: from values to the names that get them."""
        known = self.names[function.id]
        for node in self._facts[function.id]:
            if node.type == "init_declarator":
                target, value = innermost(node), node.child_by_field_name("value")
                if target is not None and (self.depends(value, function) or self.guarded(node, function)):
                    known.add(text_of(target))
            elif (change := changes(node)) is not None:
                value = node.child_by_field_name("right")
                # Also through a pointer: *first = ..., which the caller's &first gets.
                root = re.match(r"[\s(*]*([A-Za-z_]\w*)", text_of(change[0]))
                if root is not None and (self.depends(value, function) or self.guarded(node, function)):
                    known.add(root[1])
            elif node.type == "return_statement" and self.depends(node, function):
                self.returning.add(name_of(function))
            elif node.type == "call_expression":
                self._spread_call(node, function)

    def _spread_call(self, call: Node, function: Node) -> None:
        name = text_of(call.child_by_field_name("function"))
        arguments = call.child_by_field_name("arguments")
        given = arguments.named_children if arguments is not None else []
        called = self.functions.get(name)
        guarded = called is not None and self.guarded(call, function)
        any_depends = any(self.depends(a, function) for a in given)
        own = self.names[called.id] if called is not None else set()
        parameters = parameters_of(called) if called is not None else []
        for i, argument in enumerate(given):
            parameter = parameters[i] if i < len(parameters) else ""
            if parameter and (guarded or self.depends(argument, function)):
                own.add(parameter)
            out = re.fullmatch(r"\s*&?\s*([A-Za-z_]\w*)\s*", text_of(argument))
            told = parameter in own if called is not None else any_depends or name.startswith(("sms_", "xmp_", "MPI_"))
            if out is not None and told and text_of(argument).lstrip().startswith("&"):
                self.names[function.id].add(out[1])


def called(node: Node) -> str:
    """The name of the function that a node calls, if it is a call."""
    return text_of(node.child_by_field_name("function")) if node.type == "call_expression" else ""


def name_of(function: Node) -> str:
    found = innermost(function.child_by_field_name("declarator") or function)
    return text_of(found)


def parameters_of(function: Node) -> list[str]:
    lists = [n for n in walk(function.child_by_field_name("declarator") or function) if n.type == "parameter_list"]
    named = lists[0].named_children if lists else []
    return [text_of(innermost(p.child_by_field_name("declarator") or p)) for p in named]


class EveryRank:
    """`covered`: what one rank does, or what is shared out."""

    def __init__(self, rewriter: Rewriter, covered: list[tuple[int, int]]) -> None:
        self.rewriter, self.covered = rewriter, covered
        self.source = rewriter.source

    @cached_property
    def rank(self) -> RankDependence:
        return RankDependence(self.rewriter.root)

    def check(self) -> None:
        seen = self._check_changes()
        if self.source.errors:
            return
        for node in walk(self.rewriter.root):
            change = changes(node)
            if change is None or not self.source.of_user(node.start_byte):
                continue
            base: Node | None = change[0]
            while base is not None and base.type in ("subscript_expression", "field_expression"):
                base = base.child_by_field_name("argument")
            shared = self.rewriter.resolve(base) if base is not None and base.type == "identifier" else None
            if shared is None or self._is_covered(node):
                continue
            function = enclosing(node, "function_definition")
            if function is None or (function.id, shared.name) in seen:
                continue
            if not shared.directive:
                self._warn_of_scalar(node, function, shared)
                continue
            if self._is_meant(node, change[0], function):
                continue
            seen.add((function.id, shared.name))
            self.source.warn(
                node.start_byte,
                f"every rank writes shared `{shared.name}` here",
                "put `#pragma SMint single` above this statement, or `parallel for` above its loop",
            )

    def _warn_of_scalar(self, node: Node, function: Node, shared: Shared) -> None:
        """Where ranks share work by their numbers: each does what main does under no condition."""
        main = re.match(r"main\s*\(", text_of(function.child_by_field_name("declarator"))) is not None
        decided = enclosing(node, *CONTROLS) is not None or "sms_lock" in self.rank.called_in(function)
        if main and not decided and not shared.dims and not shared.codims:
            self.source.warn(
                node.start_byte,
                f"every rank writes shared `{shared.name}` here",
                f"write if (MYPID == 0) {text_of(node)}; and a barrier after it",
            )

    def _say(self, at: int, message: str, remedy: str) -> None:
        self.source.complain(OPTION, at, message, remedy)

    def _locks(self, function: Node) -> bool:
        """Whether it calls what takes a lock, or is that itself."""
        return any(name.endswith("lock") for name in (name_of(function), *self.rank.called_in(function)))

    def _check_changes(self) -> set[tuple[int, str]]:
        """Returns the functions and names of which it has told."""
        told: set[tuple[int, str]] = set()
        for node in walk(self.rewriter.root):
            if not self.source.of_user(node.start_byte) or self._is_covered(node):
                continue
            function = enclosing(node, "function_definition")
            if function is None:
                continue
            if node.type == "call_expression":
                self._check_input(node, function)
                continue
            change = changes(node)
            shared = self._target(change[0]) if change is not None else None
            if change is None or shared is None or shared.codims or (function.id, shared.name) in told:
                continue
            if not self._depends_on_itself(node, change, shared) or self._is_meant(node, change[0], function):
                continue
            told.add((function.id, shared.name))
            self._say(
                node.start_byte,
                f"every rank does this, so shared `{shared.name}` is changed as many times as there are ranks",
                "put `#pragma SMint parallel for` above its loop"
                if enclosing(node, "for_statement") is not None and shared.dims
                else "put `#pragma SMint single` above it, or write if (MYPID == 0) before it",
            )
        return told

    def _is_covered(self, node: Node) -> bool:
        return any(a <= node.start_byte < b for a, b in self.covered)

    def _target(self, node: Node) -> Shared | None:
        base: Node | None = node
        while base is not None and base.type in (
            "subscript_expression",
            "field_expression",
            "parenthesized_expression",
        ):
            base = base.child_by_field_name("argument") or base.named_children[0]
        return self.rewriter.resolve(base) if base is not None and base.type == "identifier" else None

    def _depends_on_itself(self, node: Node, change: tuple[Node, str], shared: Shared) -> bool:
        right = node.child_by_field_name("right")
        return change[1] != "=" or (right is not None and shared.name in identifiers(right))

    def _is_meant(self, node: Node, target: Node, function: Node, depth: int = 0) -> bool:
        """Whether ranks do different things here, or one after the other."""
        if self.rank.guarded(node, function) or self._locks(function):
            return True
        if target.id != node.id and self.rank.depends(target, function):
            return True
        callers = [c for c in self.rank.calls if text_of(c.child_by_field_name("function")) == name_of(function)]
        if name_of(function) == "main" or depth > 8:
            return False
        if not callers:  # another file's to know
            return True
        return all(
            self._is_covered(call)
            or ((outer := enclosing(call, "function_definition")) is not None
                and outer.id != function.id and self._is_meant(call, call, outer, depth + 1))
            for call in callers
        )  # fmt: skip

    def _check_input(self, call: Node, function: Node) -> None:
        name = text_of(call.child_by_field_name("function"))
        words = text_of(call.child_by_field_name("arguments"))
        reads = name in READS or (name in READS_FROM and re.search(r"\bstdin\b", words)) or (
            name == "read" and re.match(r"\(\s*(0|STDIN_FILENO)\s*,", words)
        )  # fmt: skip
        if not reads or self._is_meant(call, call, function):
            return
        out = re.findall(r"&\s*([A-Za-z_]\w*)", words) or re.findall(r"^\(\s*([A-Za-z_]\w*)\s*,", words)
        names = ", ".join(dict.fromkeys(out)) or "x"
        self._say(
            call.start_byte,
            f"every rank calls {name} here, and only rank 0 has the standard input",
            f"put `#pragma SMint single copy({names})` above this statement: rank 0 reads, and all get its `{names}`",
        )
