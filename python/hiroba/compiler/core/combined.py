"""Finds the operator by which what ranks have of a variable becomes the value of a serial program: that of the
reduction which a loop needs whose iterations change the variable. Requires no types but that of the variable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .counted import assigned_names, changes, declared_names, identifiers, in_order, is_set, is_sum, whole
from .declarators import innermost
from .operators import REDUCTIONS
from .source import Node, bare, root_of, text_of, walk

EXTREME = re.compile(r"(?:__builtin_)?[a-z]?(max|min)(?:imum|[a-z])?\d{0,3}", re.IGNORECASE)
COMPARED = {"__builtin_isgreater": ">", "__builtin_isgreaterequal": ">=", "__builtin_isless": "<",
            "__builtin_islessequal": "<="}  # fmt: skip
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
# The operator of a reduction for each that changes a variable. That of / is for real numbers only.
SAME = {"+": "+", "-": "+", "*": "*", "/": "*", "&": "&", "|": "|", "^": "^", "&&": "&&", "||": "||"}
ONE_SIDED = ("-", "/")  # the old value has to be on their left
FLAGS = {"0": "&&", "false": "&&", "1": "||", "true": "||"}
CHAINS = ("subscript_expression", "field_expression", "pointer_expression")
Names = Mapping[str, tuple[Node, "Names"]]  # the values of parameters and local names, with the names in these
Operators = frozenset[str]
KEPT: Operators = frozenset()
NOTHING: Names = {}


@dataclass(frozen=True)
class Combination:
    operator: str = ""  # of the reduction; "" if none has this effect
    locations: tuple[str, ...] = ()  # variables that are set together with a maximum or minimum
    first: bool = True  # of equal values, the first one has the locations
    why: str = ""  # what to do if there is no operator
    changes: tuple[Node, ...] = ()

    def clause(self, name: str) -> str:
        return f"reduction({self.operator}:{name})"

    def located(self, name: str) -> str:
        """Returns the clause that gives the locations, too, in XcalableMP."""
        if not self.locations:
            return self.clause(name)
        return f"reduction({'first' if self.first else 'last'}{self.operator}:{name}/{', '.join(self.locations)}/)"


@dataclass(frozen=True)
class Guard:
    """A condition that has this value where a statement is executed."""

    condition: Node
    value: bool
    is_loop: bool = False


def target_name(target: Node) -> str:
    """Returns what a loop changes: an array as a whole, else a variable, a member, or the target of a pointer."""
    target = bare(target)
    if target.type == "pointer_expression":
        inner = bare(target.child_by_field_name("argument") or target)
        return f"{text_of(inner)}[0]" if inner.type == "identifier" else ""
    at = target
    while at.type in ("subscript_expression", "field_expression", "parenthesized_expression"):
        if at.type == "subscript_expression" and not text_of(at.child_by_field_name("index")).isdigit():
            return text_of(root_of(target))
        at = at.child_by_field_name("argument") or at.named_children[0]
    return squeezed(target) if at.type == "identifier" else ""


def squeezed(node: Node) -> str:
    return re.sub(r"\s+", "", text_of(node))


@dataclass
class Combining:
    """The changes of one variable in the body of a loop. `functions`: those of the file."""

    body: Node
    name: str
    functions: Mapping[str, Node] = field(default_factory=dict)
    kind: str | None = None  # its arithmetic type, if that is known
    found: Combination | None = field(default=None, init=False)  # of a maximum or minimum by an if statement

    def find(self) -> Combination:
        made = [(node, *change) for node in walk(self.body)
                if (change := changes(node)) is not None and target_name(change[0]) == self.name]  # fmt: skip
        changed = assigned_names(self.body)  # so their first values say nothing of them
        self.locals = {name: value for name, value in declared_names(self.body).items()
                       if value is not None and name not in changed}  # fmt: skip
        self.carried = carried(self.body) - {root_name(self.name)}
        self.seen: set[int] = set()  # uses that are part of changes, and of their conditions
        nodes = tuple(node for node, _, _ in made)
        operators, wrong = KEPT, False
        for node, target, operator in made:
            self.target = squeezed(target)
            new = self._changed(node, operator)
            wrong = wrong or new is None or is_used(node)
            operators |= new or KEPT
            self.seen |= {use.id for use in walk(node)}
        root = root_name(self.name)
        depends = any(
            use.type == "identifier" and text_of(use) == root and use.id not in self.seen and not self._apart(use)
            for use in walk(self.body)
        )
        if depends or any(map(is_used, nodes)) or any(map(self._follows, nodes)):
            return Combination(changes=nodes, why="no reduction gives what iterations before have left, which others "
                               "do: compute it in each iteration from the loop's variables")  # fmt: skip
        if len(operators) > 1:
            both = " and ".join(sorted(operators))
            return Combination(changes=nodes, why=f"no reduction has the effect of {both}: use a variable for each")
        if wrong or not operators:
            signs = " ".join(dict.fromkeys([*SAME.values(), "max", "min"]))
            return Combination(changes=nodes, why="no reduction has the effect of this statement: change it by one of "
                               f"{signs} alone, and name that in reduction(op:{self.name})")  # fmt: skip
        (operator,) = operators
        misfit = REDUCTIONS[operator].misfit(self.kind)
        if misfit is not None:
            return Combination(changes=nodes, why=misfit[1])
        if self.found is not None and len(made) == 1:
            return Combination(operator, self.found.locations, self.found.first, changes=nodes)
        return Combination(operator, changes=nodes)

    def _apart(self, use: Node) -> bool:
        """Returns true for a use that reads no value: its declaration, sizeof, and other members of a structure."""
        at = use
        if use.parent is not None and use.parent.type.endswith("declarator") and innermost(use.parent) == use:
            return True
        while at.parent is not None and at.parent.type in ("field_expression", "subscript_expression"):
            at = at.parent
        if at.parent is not None and at.parent.type == "sizeof_expression":
            return True
        return at.type == "field_expression" and squeezed(at) != self.name and not self.name.isidentifier()

    def _follows(self, node: Node) -> bool:
        """Returns true if a change depends on another variable that iterations change by its old value."""
        parts = [guard.condition for guard in guards_of(node, self.body)]
        right = node.child_by_field_name("right")
        return any(self.carried & identifiers(part) for part in [*parts, *([right] if right is not None else [])])

    # ---- a change ----

    def _changed(self, node: Node, operator: str) -> Operators | None:
        """Returns the operators of a change, none if the value is kept; nothing if no operator has its effect."""
        value, guards = node.child_by_field_name("right"), guards_of(node, self.body)
        testing = [guard for guard in guards if self._reads(guard.condition, NOTHING)]
        if operator != "=":
            sign = SAME.get(operator[:-1])
            if testing or sign is None or (value is not None and self._reads(value, NOTHING)):
                return None
            return frozenset({sign}) if operator != "/=" or self._is_real() else None
        if value is None:
            return None
        if self._reads(value, NOTHING):
            found = self._value(value, NOTHING)
            return found if found is not None and (not testing or found <= {"max", "min"}) else None
        flag = FLAGS.get(self._text(value, NOTHING))
        for guard in testing:
            extreme = self._extreme(guard.condition, value, guard.value)
            if extreme is None and flag is None:
                return None
            self.seen |= {use.id for use in walk(guard.condition)}
            if extreme is not None and flag is None:
                which, strict = extreme
                self.found = Combination(which, set_with(node, guard, self.body, self.target), strict)
                return frozenset({which}) if len(testing) == 1 else None
        return frozenset({flag}) if flag is not None and guards else None

    def _is_real(self) -> bool:
        return self.kind is not None and ("float" in self.kind or "double" in self.kind)

    def _resolved(self, node: Node, names: Names) -> tuple[Node, Names]:
        """Returns an expression without brackets and casts, for a local name its value; and the names that hold in
        it."""
        for _ in range(16):
            node = bare(node)
            if node.type == "cast_expression":
                node = node.child_by_field_name("value") or node
            elif node.type == "identifier" and text_of(node) in names:
                node, names = names[text_of(node)]
            elif node.type == "identifier" and text_of(node) != self.target and text_of(node) in self.locals:
                node = self.locals[text_of(node)]
            else:
                break
        return node, names

    def _text(self, node: Node, names: Names) -> str:
        return squeezed(self._resolved(node, names)[0])

    def _reads(self, node: Node, names: Names) -> bool:
        """Returns true if a value is computed from the variable."""
        kinds = ("identifier",) if self.target.isidentifier() else CHAINS
        for each in walk(node):
            if each.type == "identifier" and text_of(each) in names:
                if self._reads(*names[text_of(each)]):
                    return True
            elif each.type in kinds and squeezed(each) == self.target:
                return True
        return False

    # ---- values ----

    def _value(self, node: Node, names: Names) -> Operators | None:
        """Returns the operators by which a value comes from the old one."""
        node, names = self._resolved(node, names)
        if squeezed(node) == self.target:
            return KEPT
        if node.type == "binary_expression":
            return self._binary(node, names)
        if node.type == "conditional_expression":
            condition, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
            other = node.child_by_field_name("alternative")
            if condition is None or then is None or other is None:
                return None
            return self._choice(condition, then, other, names)
        if node.type == "call_expression":
            return self._call(node, names)
        if node.type == "compound_statement" and node.named_children:  # GNU's ({ .. })
            values = {name: (value, names) for name, value in declared_names(node).items() if value is not None}
            last = node.named_children[-1]
            if last.type == "expression_statement" and last.named_children:
                return self._value(last.named_children[0], {**names, **values})
        return None

    def _binary(self, node: Node, names: Names) -> Operators | None:
        operator = text_of(node.child_by_field_name("operator"))
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or operator not in SAME or (operator == "/" and not self._is_real()):
            return None
        if self._reads(left, names) == self._reads(right, names):
            return None
        if self._reads(right, names) and operator in ONE_SIDED:
            return None
        found = self._value(left if self._reads(left, names) else right, names)
        return found | {SAME[operator]} if found is not None else None

    def _of_two(self, sign: str, one: Node, other: Node, names: Names) -> Operators | None:
        """Returns the operators of a maximum or minimum of two values."""
        reading = [each for each in (one, other) if self._reads(each, names)]
        found = self._value(reading[0], names) if len(reading) == 1 else None
        return found | {sign} if found is not None else None

    def _choice(self, condition: Node, then: Node, other: Node, names: Names) -> Operators | None:
        """Returns the operators of condition ? then : other."""
        compared = comparison(condition)
        if compared is not None:
            left, sign, right = self._text(compared[0], names), compared[1], self._text(compared[2], names)
            texts = [self._text(then, names), self._text(other, names)]
            if texts in ([left, right], [right, left]):
                is_max = (sign[0] == ">") == (texts == [left, right])
                return self._of_two("max" if is_max else "min", then, other, names)
        if self._reads(condition, names):
            for value, kept, when in ((then, other, True), (other, then, False)):
                if self._text(kept, names) == self.target:
                    extreme = self._extreme(condition, value, when)
                    return frozenset({extreme[0]}) if extreme is not None else None
            return None
        out = KEPT
        for each in (then, other):
            flag = FLAGS.get(self._text(each, names))
            found = self._value(each, names) if self._reads(each, names) else frozenset({flag}) if flag else None
            if found is None:
                return None
            out |= found
        return out

    def _extreme(self, condition: Node, value: Node, when: bool) -> tuple[str, bool] | None:
        """Returns `max` or `min` if the variable is set to a value where a condition says that this is larger, or
        smaller, and true if it is not set to an equal one."""
        condition = bare(condition)
        operator = text_of(condition.child_by_field_name("operator"))
        if condition.type == "unary_expression" and operator == "!":
            inner = condition.child_by_field_name("argument")
            return self._extreme(inner, value, not when) if inner is not None else None
        if condition.type == "binary_expression" and operator == ("&&" if when else "||"):
            parts = [condition.child_by_field_name(side) for side in ("left", "right")]
            found = [self._extreme(part, value, when) for part in parts if part is not None]
            known = [each for each in found if each is not None]
            others = [part for part, each in zip(parts, found, strict=True) if part is not None and each is None]
            return known[0] if len(known) == 1 and not any(self._reads(part, NOTHING) for part in others) else None
        compared = comparison(condition)
        if compared is None:
            return None
        left, sign, right = compared
        if self._text(left, NOTHING) == self.target:
            left, sign, right = right, TURNED[sign], left
        if self._text(right, NOTHING) != self.target:
            return None
        given = bare(left)
        same = [given] if given.type != "assignment_expression" else [
            part for part in (given.child_by_field_name(side) for side in ("left", "right")) if part is not None
        ]  # fmt: skip
        if self._text(value, NOTHING) not in [self._text(each, NOTHING) for each in same]:
            return None
        sign = sign if when else NEGATED[sign]
        return ("max" if sign[0] == ">" else "min"), len(sign) == 1

    def _call(self, call: Node, names: Names) -> Operators | None:
        name = text_of(call.child_by_field_name("function"))
        given = call.child_by_field_name("arguments")
        arguments = list(given.named_children) if given is not None else []
        function = self.functions.get(name)
        if function is not None:
            return self._called(function, arguments, names)
        word = next((found for part in name.split("_") if (found := EXTREME.fullmatch(part))), None)
        if word is None or len(arguments) != 2:
            return None
        return self._of_two(word[1].lower(), arguments[0], arguments[1], names)

    def _called(self, function: Node, arguments: list[Node], names: Names) -> Operators | None:
        """Returns the operators of a function of this file that returns one expression, or one of two."""
        declared, body = function.child_by_field_name("declarator"), function.child_by_field_name("body")
        while declared is not None and declared.type != "function_declarator":
            declared = declared.child_by_field_name("declarator")
        listed = declared.child_by_field_name("parameters") if declared is not None else None
        if listed is None or body is None:
            return None
        own = [text_of(each.child_by_field_name("declarator")) for each in listed.named_children]
        given = {name: (each, names) for name, each in zip(own, arguments, strict=False)}
        statements = [each for each in body.named_children if each.type != "comment"]
        first, last = (statements[0], statements[-1]) if statements else (body, body)
        if first.type == "return_statement" and first.named_children:
            return self._value(first.named_children[0], given)
        otherwise = first.child_by_field_name("alternative") if first.type == "if_statement" else None
        then, other = returned(first.child_by_field_name("consequence")), returned(otherwise or last)
        condition = first.child_by_field_name("condition")
        if len(statements) > 2 or condition is None or then is None or other is None:
            return None
        return self._choice(condition, then, other, given)


def comparison(node: Node) -> tuple[Node, str, Node] | None:
    """Returns the sides of a comparison by size, and its operator."""
    node = bare(node)
    if node.type == "call_expression":
        sign, given = COMPARED.get(text_of(node.child_by_field_name("function"))), node.child_by_field_name("arguments")
        if sign is not None and given is not None and len(given.named_children) == 2:
            return given.named_children[0], sign, given.named_children[1]
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = text_of(node.child_by_field_name("operator"))
    if node.type != "binary_expression" or left is None or right is None or sign not in TURNED:
        return None
    return left, sign, right


def returned(node: Node | None) -> Node | None:
    """Returns the value of a statement that only returns one."""
    while node is not None and node.type in ("compound_statement", "else_clause") and len(node.named_children) == 1:
        node = node.named_children[0]
    if node is None or node.type != "return_statement" or not node.named_children:
        return None
    return node.named_children[0]


def depends_on_itself(change: Node, body: Node) -> bool:
    """Returns true if the new value, or whether there is one, depends on the old one."""
    made = changes(change)
    if made is None:
        return False
    names = re.compile(rf"(?<![\w.])(?<!->){re.escape(squeezed(made[0]))}(?!\w)")
    guarded = any(names.search(squeezed(guard.condition)) for guard in guards_of(change, body))
    return guarded or is_sum(change, *made) or is_sum_of_copy(change, body, names)


def is_sum_of_copy(change: Node, body: Node, names: re.Pattern[str]) -> bool:
    """Returns true for `double y = x; y += a[i]; x = y`, and false for `int before = x; x = 1; f(); x = before`."""
    value = change.child_by_field_name("right")
    if value is None:
        return False
    locals_ = {name: first for name, first in declared_names(body).items() if first is not None}
    copies: set[str] = set()
    while more := {name for name, first in locals_.items() if name not in copies
                   and (names.search(squeezed(first)) or copies & identifiers(first))}:  # fmt: skip
        copies |= more
    is_plain = bare(value).type == "identifier"
    return bool(identifiers(value) & (copies & assigned_names(body) if is_plain else copies))


def guards_of(node: Node, body: Node) -> list[Guard]:
    """Returns the conditions under which an iteration comes to this place."""
    out = []
    below, at = node, node.parent
    while at is not None and below.id != body.id:
        condition = at.child_by_field_name("condition")
        if at.type in ("if_statement", "conditional_expression") and condition is not None and condition != below:
            out.append(Guard(condition, at.child_by_field_name("consequence") == below))
        elif at.type in ("while_statement", "for_statement", "switch_statement") and condition is not None:
            inside = below in (at.child_by_field_name("body"), at.child_by_field_name("update"))
            out += [Guard(condition, True, at.type != "switch_statement")] * (at.id != body.id and inside)
        elif at.type == "binary_expression" and text_of(at.child_by_field_name("operator")) in ("&&", "||"):
            left = at.child_by_field_name("left")
            if left is not None and left != below:
                out.append(Guard(left, text_of(at.child_by_field_name("operator")) == "&&"))
        elif at.type == "compound_statement":
            before = [each for each in at.named_children if each.end_byte <= below.start_byte]
            out += [guard for each in before if (guard := leaving(each)) is not None]
        below, at = at, at.parent
    return out


def leaving(statement: Node) -> Guard | None:
    """Returns the condition that is false after `if (condition) continue;`."""
    condition, then = statement.child_by_field_name("condition"), statement.child_by_field_name("consequence")
    while then is not None and then.type == "compound_statement" and len(then.named_children) == 1:
        then = then.named_children[0]
    if statement.type != "if_statement" or condition is None or then is None:
        return None
    return Guard(condition, False) if then.type == "continue_statement" else None


def is_used(change: Node) -> bool:
    """Returns true if the value of an assignment is used, too: `list[n++] = i`."""
    below, at = change, change.parent
    while at is not None:
        if at.type in ("expression_statement", "for_statement"):
            return False
        last = at.type == "comma_expression" and at.child_by_field_name("left") == below
        if last:
            return False
        logical = at.type == "binary_expression" and text_of(at.child_by_field_name("operator")) in ("&&", "||")
        is_end = (logical and at.child_by_field_name("right") == below) or (
            at.type == "conditional_expression" and at.child_by_field_name("condition") != below
        )
        if at.type not in ("parenthesized_expression", "comma_expression", "cast_expression") and not is_end:
            return at.type != "compound_statement"
        below, at = at, at.parent
    return False


def set_with(change: Node, guard: Guard, body: Node, target: str) -> tuple[str, ...]:
    """Returns the variables from outside of a loop that are set beside a maximum: its location."""
    top = change
    while top.parent is not None and top.parent.type != "compound_statement" and top.parent.id != body.id:
        if top.type == "expression_statement":
            break
        top = top.parent
    block = top.parent if top.parent is not None and top.parent.type == "compound_statement" else None
    statements = block.named_children if block is not None else [top]
    inside = declared_names(body)
    out: dict[str, None] = {}
    for statement in statements:
        if statement.type != "expression_statement" or statement.start_byte < guard.condition.end_byte:
            continue
        for node in walk(statement):
            made = changes(node)
            if made is None or made[1] != "=" or squeezed(made[0]) == target or is_used(node):
                continue
            name, right = target_name(made[0]), node.child_by_field_name("right")
            if name and root_name(name) not in inside and right is not None and name not in identifiers(right):
                out[name] = None
    return tuple(out)


def root_name(name: str) -> str:
    return re.split(r"\W", name, maxsplit=1)[0]


def carried(body: Node) -> set[str]:
    """Returns the variables from outside of a loop that an iteration gets from those before."""
    first: dict[str, Node] = {}
    for use in in_order(body):
        first.setdefault(text_of(use), use)
    names = assigned_names(body) - set(declared_names(body))
    return {name for name in names if name in first and not is_renewed(first[name], body)}


def is_renewed(first: Node, body: Node) -> bool:
    """Returns true if each iteration sets a variable anew, of which this is the first use."""
    return is_set(whole(first)) and all(guard.is_loop for guard in guards_of(first, body))
