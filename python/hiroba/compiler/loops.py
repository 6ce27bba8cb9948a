"""`parallel for`: which iterations are whose, what they touch, as the affine accesses of smint.h."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from .affine import Form, Reader, add, integer
from .declared import POINTER, Declared
from .notation import Directive, matching, split_list
from .shared import Rewriter, innermost
from .source import Node, Source, one_line, text_of, walk

MAX_LOOPS, MAX_DIMS, MAX_SHARED, MERGE_WITHIN = 8, 8, 3, 64
OPERATORS = {
    "+": ("SMINT_SUM", "0"),
    "-": ("SMINT_SUM", "0"),
    "*": ("SMINT_PROD", "1"),
    "min": ("SMINT_MIN", ""),
    "max": ("SMINT_MAX", ""),
    "&": ("SMINT_BITAND", "~0"),
    "|": ("SMINT_BITOR", "0"),
    "^": ("SMINT_BITXOR", "0"),
    "&&": ("SMINT_AND", "1"),
    "||": ("SMINT_OR", "0"),
}


@dataclass
class Counted:
    """`for (v = first; v < end; v += step)`. `end` is exclusive in the loop's direction."""

    name: str
    variable: Node
    first: Node
    bound: Node
    past: int  # added to the bound: 1 for <=, -1 for >=
    step: int
    compare: Node  # the comparison, for rewriting
    declared: str  # type, if declared here


@dataclass
class Access:
    text: str
    base: str
    name: str
    node: Node
    writes: bool
    reads: bool
    low: list[Form]
    high: list[Form]


@dataclass
class Analysis:
    accesses: list[Access] = field(default_factory=list)
    single: list[Access] = field(default_factory=list)  # as they stand, before merging
    loops: list[tuple[str, str, str, int]] = field(default_factory=list)  # name, first, end, step
    irregular: list[str] = field(default_factory=list)
    unknown: list[Access] = field(default_factory=list)  # of these the arrays: what pointers point to before the loop
    loose: bool = False  # some loop ends at the smaller of two values, and counts as ending at one of them
    shared: list[Counted] = field(default_factory=list)  # the loop, and those nested in it perfectly


def read_for(loop: Node) -> Counted | str:
    """A counted loop, or what is wrong with it."""
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
    step = read_step(update, name)
    if step is None:
        return f"does not change `{name}` by a constant number"
    if condition.type != "binary_expression":
        return f"does not compare `{name}` with its end"
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    operator = text_of(condition.child_by_field_name("operator"))
    if left is None or right is None:
        return "has no condition"
    if text_of(right) == name:
        left, right = right, left
        operator = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
    allowed = ("<", "<=") if step > 0 else (">", ">=")
    if text_of(left) != name or operator not in allowed:
        return f"does not compare `{name}` by {allowed[0]} or {allowed[1]} with its end"
    past = {"<": 0, "<=": 1, ">": 0, ">=": -1}[operator]
    return Counted(name, variable, start, right, past, step, condition, declared)


def read_step(update: Node, name: str) -> int | None:
    argument = update.child_by_field_name("argument")
    if update.type == "update_expression" and argument is not None and text_of(argument) == name:
        return 1 if "++" in text_of(update) else -1
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
    value = integer(text_of(right)) if right is not None else None
    return sign * value if sign is not None and value else None


def assigned_names(body: Node) -> set[str]:
    """Names that the body changes, or whose address it takes."""
    out: set[str] = set()
    for node in walk(body):
        target = None
        if node.type == "assignment_expression":
            target = node.child_by_field_name("left")
        elif node.type == "update_expression" or node.type == "pointer_expression" and text_of(node).startswith("&"):
            target = node.child_by_field_name("argument")
        while target is not None and target.type == "parenthesized_expression":
            target = target.named_children[0]
        if target is not None and target.type == "identifier":
            out.add(text_of(target))
    return out


def declared_names(body: Node) -> dict[str, Node | None]:
    """Local variables of the body and their first values."""
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


def through_pointer(node: Node) -> bool:
    """*p and p->x."""
    if node.type == "pointer_expression":
        return text_of(node).startswith("*")
    return node.type == "field_expression" and "->" in [c.type for c in node.children]


class LoopReader:
    """Reads one `parallel for` nest."""

    def __init__(self, rewriter: Rewriter, declared: Declared, loop: Node, counted: Counted) -> None:
        self.declared = declared
        self.rewriter, self.source, self.loop, self.counted = rewriter, rewriter.source, loop, counted
        self.body = loop.child_by_field_name("body") or loop
        self.assigned = assigned_names(loop)
        self.locals = declared_names(loop)
        self.local_pointers = declared_pointers(loop)
        self.calls = any(n.type == "call_expression" for n in walk(self.body))
        self.reader = Reader({counted.name: Form(0, "", {0: "1"})}, self._invariant, self.render)
        self.out = Analysis()
        self.entered: set[int] = set()  # loops that are known already

    def render(self, node: Node) -> str:
        """An expression as C, with shared names and coindexed objects rewritten."""
        coindexed = self.rewriter.coindexed(node)
        if coindexed is not None:
            return coindexed
        shared = self.rewriter.resolve(node) if node.type == "identifier" else None
        if shared is not None:
            return shared.renamed
        pieces, at = [], node.start_byte
        for child in node.children:
            pieces += [self.source.text[at : child.start_byte], self.render(child)]
            at = child.end_byte
        return one_line("".join([*pieces, self.source.text[at : node.end_byte]]))

    def _invariant(self, node: Node) -> bool:
        name = text_of(node)
        return name not in self.assigned and name not in self.locals and self.rewriter.resolve(node) is None

    def read(self) -> Analysis:
        first, bound = self.render(self.counted.first), self.render(self.counted.bound)
        self.out.loops.append((self.counted.name, first, past(bound, self.counted.past), self.counted.step))
        self.out.shared.append(self.counted)
        self._nested(self.body)
        self._walk(self.body)
        return self.out

    def _nested(self, body: Node) -> None:
        """Loops that are all there is in the one around them, with bounds that stay, can be shared out with it."""
        while len(self.out.shared) < MAX_SHARED:
            inside = (
                [n for n in body.named_children if n.type != "comment"] if body.type.startswith("compound") else [body]
            )
            if len(inside) != 1 or inside[0].type != "for_statement":
                return
            counted, body_inside = read_for(inside[0]), inside[0].child_by_field_name("body")
            if isinstance(counted, str) or body_inside is None or counted.name in assigned_names(body_inside):
                return
            bounds = [self.reader.read(counted.first), self.reader.read(counted.bound)]
            if any(form is None or form.factors for form in bounds) or counted.name in self.reader.variables:
                return
            self.reader.variables[counted.name] = Form(0, "", {len(self.out.loops): "1"})
            first, bound = self.render(counted.first), self.render(counted.bound)
            self.out.loops.append((counted.name, first, past(bound, counted.past), counted.step))
            self.out.shared.append(counted)
            self.entered.add(inside[0].id)
            body = body_inside

    def _walk(self, node: Node) -> None:
        if node.type == "for_statement" and node.id not in self.entered:
            self._enter(node)
        elif node.type == "declaration":
            self._copies(node)
        if node.type == "subscript_expression":
            self._access(node)
            return
        if through_pointer(node):
            self.out.irregular.append(f"{text_of(node)}: what this pointer points to is not known")
            self._unknown(node, node.child_by_field_name("argument"))
        for child in node.named_children:
            self._walk(child)

    def _enter(self, loop: Node) -> None:
        counted = read_for(loop)
        if isinstance(counted, str) or len(self.out.loops) >= MAX_LOOPS:
            return
        self.reader.variables.pop(counted.name, None)
        first, body = self.reader.read(counted.first), loop.child_by_field_name("body")
        if first is None or body is None or counted.name in assigned_names(body):
            return
        variable = Form(0, "", {len(self.out.loops): "1"})
        self.out.loose = self.out.loose or len(bounds_of(counted)) > 1
        for bound in (self.reader.read(node) for node in bounds_of(counted)):
            if bound is not None and not first.factors and not bound.factors:
                self.reader.variables[counted.name] = variable
                self.out.loops.append((counted.name, first.value(), past(bound.value(), counted.past), counted.step))
                return
            length = add(bound, first, -1) if bound is not None else first
            if not length.factors:  # a block that begins where an outer variable is
                self.reader.variables[counted.name] = add(first, variable)
                self.out.loops.append((counted.name, "0", past(length.value(), counted.past), counted.step))
                return

    def _copies(self, declaration: Node) -> None:
        """`int n = i;`: n stands for i, if nothing changes it."""
        for declarator in declaration.children_by_field_name("declarator"):
            name = innermost(declarator)
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            if name is None or value is None or declarator.child_by_field_name("declarator") != name:
                continue
            if declaration.parent is not None and declaration.parent.type == "for_statement":
                continue
            changed = text_of(name) in assigned_names(self.body)
            form = None if changed else self.reader.read(value)
            if form is not None:
                self.reader.variables[text_of(name)] = form

    # ---- accesses ----

    def _access(self, node: Node) -> None:
        subscripts: list[Node] = []
        base: Node | None = node
        while base is not None and base.type == "subscript_expression":
            index = base.child_by_field_name("index")
            if index is None:
                return
            subscripts.insert(0, index)
            base = base.child_by_field_name("argument")
        for index in subscripts:
            self._walk(index)
        if base is None or base.type != "identifier":
            self.out.irregular.append(f"{text_of(node)}: what this points to is not known")
            self._unknown(node, base)
            if base is not None:
                self._walk(base)
            return
        name = text_of(base)
        if (coarray := self.rewriter.resolve(base)) is not None and coarray.codims:
            return  # each image has its own part, and what is on other images is not the loop's to fetch
        if name in self.local_pointers or len(subscripts) > MAX_DIMS:
            self.out.irregular.append(f"{text_of(node)}: what `{name}` points to is not known")
            return
        if name in self.locals:  # an array of each iteration's own
            return
        if name in self.assigned:
            self.out.irregular.append(f"{text_of(node)}: `{name}` changes in the loop")
            self._unknown(node, base)
            return
        if len(subscripts) > 1 and self._by_pointers(base, len(subscripts)):
            self.out.irregular.append(f"{text_of(node)}: `{name}` has pointers in it, not rows")
            self._unknown(node, None)
            return
        forms = [self.reader.read(index) for index in subscripts]
        if any(form is None for form in forms):
            self.out.irregular.append(f"{text_of(node)}: a subscript is not affine")
            self._unknown(node, base)
            return
        shared = self.rewriter.resolve(base)
        if shared is not None and len(subscripts) < shared.dims:
            self.out.irregular.append(f"{text_of(node)}: fewer subscripts than dimensions")
            self._unknown(node, base)
            return
        if address_taken(node):
            self.out.irregular.append(f"&{text_of(node)}: what is done with this address is not known")
            self._unknown(node, base)
            return
        writes, reads = how_used(node)
        access = Access(
            text_of(node),
            f"(*{shared.pointer})" if shared is not None else name,
            name,
            node,
            writes,
            reads,
            [f for f in forms if f is not None],
            [f for f in forms if f is not None],
        )
        self.out.single.append(replace(access))
        self._merge(access)

    def _by_pointers(self, base: Node, subscripts: int) -> bool:
        """double **rows; double *rows[N]: each row may be anywhere."""
        of = self.declared.type_of(base)
        return of is not None and POINTER in of.derived[1:subscripts]

    def _unknown(self, node: Node, base: Node | None) -> None:
        """An access of which the array is known at most: that of a name, or of *name."""
        while base is not None and base.type in ("parenthesized_expression", "pointer_expression"):
            base = base.named_children[0] if base.named_children else None
        if base is None or base.type != "identifier" or text_of(base) in {*self.locals, *self.reader.variables}:
            return
        shared, (writes, reads) = self.rewriter.resolve(base), how_used(node)
        if shared is not None and shared.codims:
            return
        whole = f"(*{shared.pointer})" if shared is not None else text_of(base)
        self.out.unknown.append(Access(one_line(text_of(node)), whole, text_of(base), node, writes, reads, [], []))

    def _merge(self, new: Access) -> None:
        """Accesses that differ by small constants only are one, that touches all between them."""
        for old in self.out.accesses:
            if old.base != new.base or len(old.low) != len(new.low) or old.writes != new.writes:
                continue
            same = all(a.text == b.text and a.factors == b.factors for a, b in zip(old.low, new.low, strict=True))
            close = all(abs(a.constant - b.constant) <= MERGE_WITHIN for a, b in zip(old.low, new.low, strict=True))
            if not same or not close:
                continue
            old.low = [min(a, b, key=lambda f: f.constant) for a, b in zip(old.low, new.low, strict=True)]
            old.high = [max(a, b, key=lambda f: f.constant) for a, b in zip(old.high, new.high, strict=True)]
            old.reads = old.reads or new.reads
            return
        self.out.accesses.append(new)


def bounds_of(counted: Counted) -> list[Node]:
    """The end of a loop; of `a < b ? a : b`, which ends at the smaller one, each of both is an end that it does not
    pass."""
    node = counted.bound
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    if node.type != "conditional_expression" or counted.step < 0:
        return [node]
    parts = [node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")]
    texts = [re.sub(r"[\s()]+", "", text_of(part)) for part in parts]
    smaller = any(texts[0] == f"{texts[1]}{sign}{texts[2]}" for sign in ("<", "<="))
    smaller = smaller or any(texts[0] == f"{texts[2]}{sign}{texts[1]}" for sign in (">", ">="))
    return [part for part in parts[1:] if part is not None] if smaller else [node]


def past(bound: str, more: int) -> str:
    return bound if more == 0 else f"({bound}) {'+' if more > 0 else '-'} 1"


def how_used(node: Node) -> tuple[bool, bool]:
    """Whether this expression is written, and whether it is read."""
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "field_expression"):
        node, parent = parent, parent.parent
    if parent is None:
        return False, True
    if parent.type == "assignment_expression" and parent.child_by_field_name("left") == node:
        return True, text_of(parent.child_by_field_name("operator")) != "="
    if parent.type == "update_expression":
        return True, True
    return False, True


def address_taken(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type in ("parenthesized_expression", "field_expression"):
        parent = parent.parent
    return parent is not None and parent.type == "pointer_expression" and text_of(parent).startswith("&")


# ---- writing ---------------------------------------------------------------------------------------------------------


def table(values: list[str]) -> str:
    return "{" + ", ".join(values) + "}"


def used_flags(access: Access) -> list[str]:
    return ["SMINT_READS"] * access.reads + ["SMINT_WRITES"] * access.writes


def write_access(access: Access, owns: bool, perhaps: bool = False) -> str:
    element, strides = access.base, []
    for _ in access.low:
        element += "[0]"
        strides.append(f"(int64_t)sizeof {element}")
    flags = [*used_flags(access), *["SMINT_OWNS"] * owns, *["SMINT_PERHAPS"] * perhaps]
    factors = [table([f"[{k}] = {f}" for k, f in form.factors.items()] or ["0"]) for form in access.low]
    text = access.text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f'{{"{re.sub(chr(10), " ", text)}", &{element}, {" | ".join(flags)}, {len(access.low)}, {strides[-1]},'
        f" {table(strides)}, {table([f.value() for f in access.low])}, {table([f.value() for f in access.high])},"
        f" {table(factors)}}}"
    )


def clauses_of(source: Source, directive: Directive) -> list[tuple[str, str]]:
    out = []
    rest = words = directive.words
    where = directive.where or (lambda _: directive.at)
    while rest:
        name = re.match(r"\w+", rest)
        if name is None:
            at = where(len(words) - len(rest))
            source.error(at, f"cannot read `{rest}` in this directive", "write words, with brackets behind some")
            break
        rest = rest[name.end() :].lstrip()
        argument = ""
        if rest.startswith("("):
            end = matching(rest, 0)
            if end < 0:
                at = where(len(words) - len(rest))
                source.error(at, f"the bracket of `{name[0]}` is not closed", "close it on the same line")
                break
            argument, rest = rest[1 : end - 1], rest[end:]
        out.append((name[0], argument.strip()))
        rest = rest.lstrip(", \t")
    return out


def reductions(source: Source, directive: Directive, clauses: list[tuple[str, str]]) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    for name, argument in clauses:
        if name != "reduction":
            continue
        operator, colon, variables = argument.partition(":")
        if not colon or operator.strip() not in OPERATORS:
            source.error(
                directive.place(argument),
                f"reduction({argument})",
                f"write reduction(op:variables) with one of {' '.join(OPERATORS)}",
            )
            continue
        out += [(operator.strip(), v) for v in split_list(variables)]
    return list(dict.fromkeys(out))
