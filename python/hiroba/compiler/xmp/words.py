"""The words of #pragma xmp: expressions, variables, parts of node arrays, clauses."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..core.affine import integer
from ..core.constants import limited, value_of
from ..core.declarators import enclosing
from ..core.found import Directive
from ..core.notation import Notation, Part, Unit
from ..core.shared import PREFIX, Anchor
from ..core.source import COMPLEX, Node, Source, blank_all, parse
from ..core.text import matching, split_list
from .arrays import Arrays
from .references import Reference
from .sections import lift

ALL, SELF = ("0", "XMP_REST", "1"), ("XMP_SELF", "1", "1")
NO_NODES = "(const xmp_node_reference*)0"


@dataclass
class Nodes:
    """A node array: its name has this meaning from one place to another."""

    name: str
    begin: int
    end: int
    extents: list[str]  # "*" is what the others leave
    round: bool  # p(2,*), where indices count from 1 and the first changes fastest
    counts: list[int | None]  # the extents, as far as the compiler knows them

    @property
    def dims(self) -> int:
        return len(self.extents)


@dataclass
class Template:
    """Its name has this meaning from one place to another."""

    name: str
    begin: int
    end: int
    round: bool  # t(0:7,0:7)
    lower: list[str]
    extent: list[str]
    in_block: bool
    known: list[tuple[int | None, int | None]]  # lower and extent, as far as the compiler knows them
    later: bool = False  # template_fix gives its extents, or sizes of gblock
    formats: list[str] = field(default_factory=list)  # "block", "cyclic", "gblock", "*"; none before distribute
    widths: list[str] = field(default_factory=list)  # in C; "" of equal blocks; of gblock the array of sizes
    divisions: list[str] = field(default_factory=list)  # C for each dimension
    onto: str = ""

    @property
    def dims(self) -> int:
        return len(self.extent)

    @property
    def variable(self) -> str:
        return f"{PREFIX}template_{self.name}"

    def shown(self, d: int) -> str:
        """Returns the format of a dimension, for messages."""
        plain = {"block": "", "cyclic": "1", "*": ""}.get(self.formats[d])
        return self.formats[d] + (f"({self.widths[d]})" if self.widths[d] != plain else "")


@dataclass
class Clauses:
    """The words after the argument of a directive."""

    on: str = NO_NODES
    from_: str = NO_NODES
    trylock: str = ""
    id: str = ""  # of async(id)


def by_name(words: str) -> list[str]:
    """`[block] onto p :: t, u` is `t[block] onto p` and `u[block] onto p`."""
    of_all, sign, names = words.strip().partition("::")
    if not sign or not of_all.startswith(("[", "(")):
        return [words]
    return [name.strip() + of_all for name in names.split(",")]


def one_by_one(words: str) -> list[str]:
    """Returns the declarations of a directive, each with its name first."""
    return [part for each in by_name(words) for part in split_list(each)]


def number_or(value: int | None, text: str) -> str:
    """Returns a value that the compiler knows, else the expression of C."""
    return text if value is None else f"({value})"


class XmpWords(Part):
    lowering: Arrays  # from declare() on

    def __init__(self, notation: Notation, unit: Unit) -> None:
        super().__init__(notation, unit)
        self.nodes: list[Nodes] = []
        self.templates: list[Template] = []

    def error(self, directive: Directive, message: str, remedy: str) -> None:
        self.source.error(directive.at, message, remedy)

    def scope_of(self, directive: Directive) -> Node | None:
        """Returns the block that contains it; none at file scope."""
        node = self.anchor(directive).node
        return node if node.type == "compound_statement" else enclosing(node, "compound_statement")

    def write(self, directive: Directive, text: str) -> None:
        """Puts C in the place of a directive, after what is there already."""
        if any(edit[:2] == (directive.at, directive.end) for edit in self.source.edits):
            self.source.insert(directive.end, " " + text)
        else:
            self.source.replace(directive.at, directive.end, text)

    def unknown_nodes(self, directive: Directive, name: str) -> None:
        self.source.error(
            directive.place(name), f"`{name}` is no node array", f"declare it before: #pragma xmp nodes {name}[*]"
        )

    def fragment(self, directive: Directive, text: str) -> tuple[Arrays, Node] | None:
        """Returns an expression in a directive, ready to be lowered."""
        whole = f"void f(void) {{ return {text}; }}"
        brackets = lift(Source(whole), blank_all(COMPLEX, whole))
        root = parse(brackets.text)
        if root.has_error or not text.strip():
            self.error(directive, f"cannot read `{text.strip()}`", "write a C expression here")
            return None
        body = root.named_children[0].child_by_field_name("body")
        statement = body.named_children[0] if body is not None else root
        return self.lowering.within(brackets, self.anchor(directive)), statement.named_children[0]

    def expression(self, directive: Directive, text: str) -> str:
        found = self.fragment(directive, text)
        return found[0].render(found[1]) if found is not None else "0"

    def known(self, text: str, at: Anchor) -> int | None:
        """Returns the value of an expression of C, if the compiler knows it."""
        if not text.strip() or text.startswith("XMP_"):
            return None
        number = limited(integer(text))  # most are numbers, which need no parser
        if number is not None:
            return number
        root = parse(f"void f(void) {{ return {text}; }}")
        body = root.named_children[0].child_by_field_name("body") if not root.has_error else None
        return value_of(self.declared, body.named_children[0].named_children[0], at) if body is not None else None

    def is_inside(self, name: str, at: int) -> bool:
        """Returns true if the statement of a directive with this name is around a place."""
        for directive in self.directives:
            if directive.name == name and directive.at < at:
                around = self.statements.below(directive.end)
                if around is not None and around.start_byte <= at < around.end_byte:
                    return True
        return False

    def folded(self, text: str, at: Anchor) -> str:
        """Returns an expression of C, for its value only."""
        return number_or(self.known(text, at), text)

    def variable(self, directive: Directive, text: str) -> tuple[Arrays, Reference] | None:
        """Returns a variable, an element or a section that a directive names."""
        found = self.fragment(directive, text)
        if found is None:
            return None
        lowering, node = found
        ref = lowering.reference(node, whole=True)
        if ref is None and self.clean:
            self.error(directive, f"`{text}` is no variable", "name a variable, an element or a section")
        return (lowering, ref) if ref is not None else None

    def find_nodes(self, name: str, at: int) -> Nodes | None:
        inside = [n for n in self.nodes if n.name == name and n.begin <= at < n.end]
        return max(inside, key=lambda n: n.begin) if inside else None

    def find_template(self, name: str, at: int) -> Template | None:
        inside = [t for t in self.templates if t.name == name and t.begin <= at < t.end]
        return max(inside, key=lambda t: t.begin) if inside else None

    @staticmethod
    def brackets_of(text: str) -> list[str] | None:
        """Returns the parts of `[a][b]` or of `(a,b)`, which must be all of the text."""
        text = text.strip()
        if text.startswith("("):
            return split_list(text[1:-1]) if matching(text, 0) == len(text) else None
        out, at = [], 0
        while at < len(text):
            end = matching(text, at) if text[at] == "[" else -1
            if end < 0:
                return None
            out.append(text[at + 1 : end - 1].strip())
            at = end + len(text[end:]) - len(text[end:].lstrip())
        return out

    @classmethod
    def in_c_order(cls, text: str) -> list[str] | None:
        """Returns the parts of `[a][b]` or of `(b,a)`, which is Fortran's order: a, b."""
        parts = cls.brackets_of(text)
        return parts[::-1] if parts is not None and text.startswith("(") else parts

    def reference(self, directive: Directive, text: str) -> str:
        """Returns the address of an xmp_node_reference for `p`, `p[1]`, `p[0:2][*]`, `p(1:2,:)`."""
        found = re.fullmatch(r"(\w+)\s*(.*)", text.strip(), re.DOTALL)
        nodes = self.find_nodes(found[1], directive.at) if found is not None else None
        if found is None or nodes is None:
            self.unknown_nodes(directive, found[1] if found is not None else text)
            return NO_NODES
        parts = self.brackets_of(found[2])
        if parts is None or (parts and len(parts) != nodes.dims):
            self.error(
                directive,
                f"`{text.strip()}` does not fit to `{nodes.name}`, which has {nodes.dims} dimension"
                + "s" * (nodes.dims != 1),
                "give an index, a range or * for each, or the name alone",
            )
            return NO_NODES
        round_ = found[2].startswith("(")
        ranges = [self._range(directive, part, round_) for part in parts] or [ALL] * nodes.dims
        if parts and round_ != nodes.round:  # the same array read from its other end
            ranges.reverse()
        for d, (begin, length, step) in enumerate(ranges):
            anchor, extent = self.anchor(directive), nodes.counts[d]
            first, many, by = (self.known(each, anchor) for each in (begin, length, step))
            if first is None:
                continue
            last = first + ((many or 1) - 1) * (by or 1)
            if min(first, last) < 0 or (extent is not None and max(first, last) >= extent):
                least, most = (1, extent) if round_ else (0, extent - 1 if extent is not None else None)
                words = f"{least}..{'' if most is None else most}"
                text = f"`{text.strip()}` leaves dimension {d + 1} of node array `{nodes.name}`, which has {words}"
                remedy = "name nodes that are there"
                if many is not None and by not in (None, 1) and not round_:
                    remedy += f"; [{first}:{many}:{by}] are {many} nodes, of which each is {by} after the one before"
                self.error(directive, text, remedy)
        listed = ", ".join(f"{{{', '.join(each)}}}" for each in ranges)
        return f"&(const xmp_node_reference){{.nodes = &{PREFIX}nodes_{nodes.name}, .range = {{{listed}}}}}"

    def _range(self, directive: Directive, text: str, round_: bool) -> tuple[str, str, str]:
        """[base:length:step] counts from 0, (first:last:step) from 1."""
        if text == "*":
            return SELF
        whole = f"a[{text}]"
        section = lift(Source(whole), whole).sections.get(1)
        parts = [whole[p.begin : p.end].strip() for p in section.parts] if section is not None else [text]
        values = [f"{self.expression(directive, p)}" if p else "" for p in parts]
        origin = " - 1" * round_
        if section is None:
            return f"{values[0]}{origin}", "1", "1"
        first, last, step = [*values, "", ""][:3]
        begin = f"{first}{origin}" if first else "0"
        if not last:
            return begin, "XMP_REST", step or "1"
        length = f"({last} - ({first or 1})){f' / ({step})' * bool(step)} + 1" if round_ else last
        return begin, length, step or "1"

    def arguments(self, directive: Directive) -> tuple[list[str], str]:
        """Returns the text in the parentheses of a directive, and the text after them."""
        words = directive.words
        end = matching(words, 0) if words.startswith("(") else -1
        if end < 0:
            return [], words
        return split_list(words[1 : end - 1]), words[end:].strip()

    def clauses(self, directive: Directive, words: str) -> Clauses:
        """Returns the clauses after the argument that the directive is registered with."""
        out, allowed = Clauses(), directive.kind.clauses
        while words:
            found = re.match(r"(\w+)\s*", words)
            name = found[1].lower() if found is not None else words[0]
            rest = words[found.end() :] if found is not None else ""
            if name not in allowed:
                remedy = f"this directive takes {' and '.join(allowed) or 'nothing more'}"
                at = directive.place(found[1] if found is not None else "")
                self.source.error(at, f"`{name}` in #pragma xmp {directive.name}", remedy)
                return out
            argument, words = self._argument(rest)
            if name == "on":
                out.on = self.reference(directive, argument)
            elif name == "from":
                out.from_ = self.reference(directive, argument)
            elif name == "acquired_lock":
                out.trylock = self.expression(directive, argument.strip("() "))
            elif name == "async":
                out.id = self._id(directive, argument)
        return out

    def _id(self, directive: Directive, argument: str) -> str:
        argument = argument.strip()
        parts = split_list(argument[1:-1]) if argument.startswith("(") else []
        if len(parts) != 1 or not parts[0]:
            self.source.error(directive.place("async"), "`async` needs one number", "write async(1)")
            return "0"
        return self.expression(directive, parts[0])

    @staticmethod
    def _argument(words: str) -> tuple[str, str]:
        """Returns a name and its brackets, and the text after it."""
        found = re.match(r"\w*\s*", words)
        at = found.end() if found is not None else 0
        while at < len(words) and words[at] in "[(" and (end := matching(words, at)) > 0:
            at = end + len(words[end:]) - len(words[end:].lstrip())
        return words[:at], words[at:]

    def call(self, directive: Directive, text: str) -> None:
        self.source.replace(directive.at, directive.end, text)
        calls = ", ".join(dict.fromkeys(re.findall(r"\bxmp_\w+(?=\()", text)))
        self.explain.append(f"{self.source.place(directive.at)}: #pragma xmp {directive.name}: {calls}")

    def end(self, statement: Node) -> int:
        """Returns the end of a statement, which may be a directive."""
        ends = {d.at + 1: d.end for d in self.directives}
        return ends.get(statement.end_byte, statement.end_byte)
