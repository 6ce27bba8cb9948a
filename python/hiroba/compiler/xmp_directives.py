"""#pragma xmp: each directive becomes calls of xmp.h where it stands, or around the statement that follows it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .arithmetic import name_of, type_code
from .arrays import Arrays
from .coarrays import Coarrays, directive_names
from .lowering import quoted
from .notation import Directive, matching, split_list
from .references import Reference
from .sections import Codimensions, lift
from .shared import PREFIX, Anchor, at_start, enclosing
from .source import Node, Source, one_line, parse
from .statements import Statements

REDUCTIONS = {
    "+": "XMP_ADD",
    "-": "XMP_SUB",
    "*": "XMP_MUL",
    "&": "XMP_BITAND",
    "|": "XMP_BITOR",
    "^": "XMP_BITXOR",
    "&&": "XMP_AND",
    "||": "XMP_OR",
    "max": "XMP_MAX",
    "min": "XMP_MIN",
    "firstmax": "XMP_FIRSTMAX",
    "firstmin": "XMP_FIRSTMIN",
    "lastmax": "XMP_LASTMAX",
    "lastmin": "XMP_LASTMIN",
}
ALL, SELF = "{0, XMP_REST, 1}", "{XMP_SELF, 1, 1}"
NO_NODES = "(const xmp_node_reference*)0"
ANY_TAG = "(-0x7fffffffffffffff - 1)"  # XMP_ANY_TAG: the preprocessor has run


@dataclass
class Nodes:
    """A node array: its name means this from one place to another."""

    name: str
    begin: int
    end: int
    dims: int
    round: bool  # p(2,*), where indices count from 1 and the first changes fastest


@dataclass
class Clauses:
    """What stands behind the argument of a directive."""

    on: str = NO_NODES
    from_: str = NO_NODES
    trylock: str = ""


@dataclass
class XmpDirectives(Statements):
    lowering: Arrays = None  # type: ignore[assignment]
    coarrays: Coarrays = None  # type: ignore[assignment]
    nodes: list[Nodes] = field(default_factory=list)
    explain: list[str] = field(default_factory=list)

    @property
    def _ours(self) -> list[Directive]:
        return [d for d in self.rewriter.found.directives if d.family == "xmp"]

    # ---- before the declarations ----

    def declare_all(self) -> dict[str, Codimensions]:
        """Node arrays are declared, and what `coarray` names is returned."""
        named: dict[str, Codimensions] = {}
        for directive in self._ours:
            if directive.name == "nodes":
                self._nodes(directive)
            elif directive.name == "coarray":
                self._coarray(directive, named)
        return named

    def _coarray(self, directive: Directive, named: dict[str, Codimensions]) -> None:
        on, pairs = directive_names(directive.words)
        if not pairs:
            self._error(directive, "#pragma xmp coarray names no array", "write for example coarray a:[*]")
        if on and self.find_nodes(on, directive.at) is None:
            self._unknown_nodes(directive, on)
        for name, codimensions in pairs:
            if codimensions:
                extents = tuple(one_line(e) for e in re.findall(r"\[([^\]]*)\]", codimensions))
                at = self._at(directive, name)
                named[name] = Codimensions(at, at, extents)
            elif not on:
                self._error(directive, f"`{name}` has no codimensions", f"write {name}:[*]")
            self.coarrays.on[name] = on
        self.source.replace(directive.at, directive.end, "")

    def _nodes(self, directive: Directive) -> None:
        words = directive.words
        for each in split_list(words):
            found = re.match(r"(\w+)\s*([\[(].*?)\s*(?:=\s*(.*))?$", each, re.DOTALL)
            brackets = self._brackets(found[2]) if found is not None else None
            if found is None or brackets is None or "" in brackets:
                self._error(directive, f"cannot read the node array `{each}`", "write p[4], p[2][*] or p(2,*)")
                return
            self._node_array(directive, found[1], found[2].startswith("("), brackets, (found[3] or "").strip())

    def _node_array(self, directive: Directive, name: str, round_: bool, extents: list[str], of: str) -> None:
        node = self._anchor(directive).node
        scope = node if node.type == "compound_statement" else enclosing(node, "compound_statement")
        place = self._place(directive)
        if extents.count("*") > 1:
            self._error(directive, f"`{name}` has more than one `*`", "give all extents but one")
            return
        variable = f"{PREFIX}nodes_{name}"
        values = ", ".join("0" if e == "*" else self.expression(directive, e) for e in extents)
        before, parent = "", ""
        if of == "**":
            parent = ", .of = (const xmp_node_reference*)1"  # XMP_ALL_NODES
        elif of not in ("", "*"):
            reference = self.reference(directive, of)
            before = f" static xmp_node_reference {variable}_of; {variable}_of = *{reference};"
            parent = f", .of = &{variable}_of"
        define = (
            f"{before} {variable} = (xmp_nodes){{.name = {quoted(name)}, .place = {place}, .dims = {len(extents)},"
            f" .extent = {{{values}}}, .first_fastest = {int(round_)}{parent}}}; xmp_nodes_define(&{variable});"
        )
        declared = f"static xmp_nodes {variable};"
        text = declared + (define if scope is not None else at_start(f"nodes_{name}", define))
        end = scope.end_byte if scope is not None else len(self.source.text)
        self.nodes.append(Nodes(name, directive.at, end, len(extents), round_))
        if any(edit[:2] == (directive.at, directive.end) for edit in self.source.edits):
            self.source.insert(directive.end, " " + text)
        else:
            self.source.replace(directive.at, directive.end, text)

    # ---- what they say ----

    def _error(self, directive: Directive, message: str, remedy: str) -> None:
        self.source.error(directive.at, message, remedy)

    def _unknown_nodes(self, directive: Directive, name: str) -> None:
        self.source.error(
            self._at(directive, name),
            f"`{name}` is no node array",
            f"declare it before: #pragma xmp nodes {name}[*]",
        )

    def _place(self, directive: Directive) -> str:
        place = self.source.place(directive.at)
        return quoted(f"{place.file}:{place.line}")

    def _anchor(self, directive: Directive) -> Anchor:
        root = self.rewriter.root
        return Anchor(root.descendant_for_byte_range(directive.at, directive.at) or root, directive.at)

    def _fragment(self, directive: Directive, text: str) -> tuple[Arrays, Node] | None:
        """An expression in a directive, ready to be lowered."""
        whole = f"void f(void) {{ return {text}; }}"
        brackets = lift(Source(whole), whole)
        root = parse(brackets.text)
        if root.has_error or not text.strip():
            self._error(directive, f"cannot read `{text.strip()}`", "write a C expression here")
            return None
        body = root.named_children[0].child_by_field_name("body")
        statement = body.named_children[0] if body is not None else root
        return self.lowering.within(brackets, self._anchor(directive)), statement.named_children[0]

    def expression(self, directive: Directive, text: str) -> str:
        found = self._fragment(directive, text)
        return found[0].render(found[1]) if found is not None else "0"

    def _variable(self, directive: Directive, text: str) -> tuple[Arrays, Reference] | None:
        """A variable, an element or a section that a directive names."""
        found = self._fragment(directive, text)
        if found is None:
            return None
        lowering, node = found
        ref = lowering.reference(node, whole=True)
        if ref is None and not self.source.errors:
            self._error(directive, f"`{text}` is no variable", "name a variable, an element or a section")
        return (lowering, ref) if ref is not None else None

    def find_nodes(self, name: str, at: int) -> Nodes | None:
        inside = [n for n in self.nodes if n.name == name and n.begin <= at < n.end]
        return max(inside, key=lambda n: n.begin) if inside else None

    @staticmethod
    def _brackets(text: str) -> list[str] | None:
        """The parts of `[a][b]` or of `(a,b)`, which must be all of the text."""
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

    def reference(self, directive: Directive, text: str) -> str:
        """`p`, `p[1]`, `p[0:2][*]`, `p(1:2,:)`: the address of an xmp_node_reference."""
        found = re.fullmatch(r"(\w+)\s*(.*)", text.strip(), re.DOTALL)
        nodes = self.find_nodes(found[1], directive.at) if found is not None else None
        if found is None or nodes is None:
            self._unknown_nodes(directive, found[1] if found is not None else text)
            return NO_NODES
        parts = self._brackets(found[2])
        if parts is None or (parts and len(parts) != nodes.dims):
            self._error(
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
        return f"&(const xmp_node_reference){{.nodes = &{PREFIX}nodes_{nodes.name}, .range = {{{', '.join(ranges)}}}}}"

    def _range(self, directive: Directive, text: str, round_: bool) -> str:
        """[base:length:step] counts from 0, (first:last:step) from 1."""
        if text == "*":
            return SELF
        whole = f"a[{text}]"
        section = lift(Source(whole), whole).sections.get(1)
        parts = [whole[p.begin : p.end].strip() for p in section.parts] if section is not None else [text]
        values = [f"{self.expression(directive, p)}" if p else "" for p in parts]
        origin = " - 1" * round_
        if section is None:
            return f"{{{values[0]}{origin}, 1, 1}}"
        first, last, step = [*values, "", ""][:3]
        begin = f"{first}{origin}" if first else "0"
        if not last:
            return f"{{{begin}, XMP_REST, {step or 1}}}"
        length = f"({last} - ({first or 1})) / ({step or 1}) + 1" if round_ else last
        return f"{{{begin}, {length}, {step or 1}}}"

    def _arguments(self, directive: Directive) -> tuple[list[str], str]:
        """What stands in the parentheses of a directive, and what behind them."""
        words = directive.words
        end = matching(words, 0) if words.startswith("(") else -1
        if end < 0:
            return [], words
        return split_list(words[1 : end - 1]), words[end:].strip()

    def _clauses(self, directive: Directive, words: str, allowed: tuple[str, ...]) -> Clauses:
        out = Clauses()
        while words:
            found = re.match(r"(\w+)\s*", words)
            name = found[1].lower() if found is not None else words[0]
            rest = words[found.end() :] if found is not None else ""
            if name not in allowed:
                remedy = f"this directive takes {' and '.join(allowed) or 'nothing more'}"
                if name == "async":
                    remedy = "leave it out: the directive waits until it is done; to overlap, use xmp_assign_start"
                at = self._at(directive, found[1] if found is not None else "")
                self.source.error(at, f"`{name}` in #pragma xmp {directive.name}", remedy)
                return out
            argument, words = self._argument(rest)
            if name == "on":
                out.on = self.reference(directive, argument)
            elif name == "from":
                out.from_ = self.reference(directive, argument)
            elif name == "acquired_lock":
                out.trylock = self.expression(directive, argument.strip("() "))
        return out

    @staticmethod
    def _argument(words: str) -> tuple[str, str]:
        """A name and its brackets, and what follows."""
        found = re.match(r"\w*\s*", words)
        at = found.end() if found is not None else 0
        while at < len(words) and words[at] in "[(" and (end := matching(words, at)) > 0:
            at = end + len(words[end:]) - len(words[end:].lstrip())
        return words[:at], words[at:]

    # ---- statements ----

    def rewrite_all(self) -> None:
        """From the last one to the first: where two end at one place, the inner one ends first."""
        for directive in reversed(self._ours):
            if directive.name not in ("nodes", "coarray") and self._in_function(directive):
                getattr(self, "_" + directive.name)(directive)

    def _call(self, directive: Directive, text: str) -> None:
        self.source.replace(directive.at, directive.end, text)
        calls = ", ".join(dict.fromkeys(re.findall(r"\bxmp_\w+(?=\()", text)))
        self.explain.append(f"{self.source.place(directive.at)}: #pragma xmp {directive.name}: {calls}")

    def _end(self, statement: Node) -> int:
        """Where a statement ends, which may be a directive."""
        ends = {d.at + 1: d.end for d in self._ours}
        return ends.get(statement.end_byte, statement.end_byte)

    def _task(self, directive: Directive) -> None:
        words = re.sub(r"\s+nocomm$", "", directive.words, flags=re.IGNORECASE)
        clauses = self._clauses(directive, words, ("on",))
        statement = self._statement(directive)
        if clauses.on == NO_NODES and not self.source.errors:
            self._error(directive, "#pragma xmp task without `on`", "write task on p[0:2]")
        if statement is None or not self._stays(directive, statement):
            return
        self._call(directive, f"{{ if (xmp_task_begin({clauses.on}, {self._place(directive)})) {{")
        self.source.insert(self._end(statement), " xmp_task_end(); } }")

    def _tasks(self, directive: Directive) -> None:
        statement = self._statement(directive)
        if statement is not None and statement.type != "compound_statement":
            self._error(directive, "#pragma xmp tasks stands above a block of tasks", "write tasks, and { below it")
        self.source.replace(directive.at, directive.end, "")

    def _barrier(self, directive: Directive) -> None:
        clauses = self._clauses(directive, directive.words, ("on",))
        on = clauses.on != NO_NODES
        on_nodes = f"{clauses.on}, " if on else ""
        self._call(directive, f"xmp_barrier_{'on' if on else 'at'}({on_nodes}{self._place(directive)});")

    def _sync_memory(self, directive: Directive) -> None:
        self._clauses(directive, directive.words, ())
        self._call(directive, f"xmp_{directive.name}_at((int*)0, {self._place(directive)});")

    _sync_all = _sync_images_all = _sync_memory

    def _sync_image(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        self._clauses(directive, rest, ())
        wanted = 1 if directive.name == "sync_image" else 2
        if len(arguments) != wanted:
            form = "sync_image(image)" if wanted == 1 else "sync_images(count, images)"
            self._error(directive, f"#pragma xmp {directive.name} needs its images", f"write {form}")
            return
        values = ", ".join(self.expression(directive, a) for a in arguments)
        self._call(directive, f"xmp_{directive.name}_at({values}, (int*)0, {self._place(directive)});")

    _sync_images = _sync_image

    def _image(self, directive: Directive, text: str) -> str:
        """The image that `p[k]` names; a plain number counts from 0."""
        name = re.match(r"\s*(\w+)", text)
        if name is not None and self.find_nodes(name[1], directive.at) is not None:
            return f"xmp_image_at({self.reference(directive, text)}, {self._place(directive)})"
        if re.fullmatch(r"\s*\w+\s*[\[(].*", text):
            self._unknown_nodes(directive, name[1] if name is not None else text)
        return self.expression(directive, text)

    def _post(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        self._clauses(directive, rest, ())
        if len(arguments) != 2:
            self._error(directive, "#pragma xmp post needs an image and a tag", "write post(p[1], 3)")
            return
        tag = self.expression(directive, arguments[1])
        self._call(directive, f"xmp_post({self._image(directive, arguments[0])}, {tag}, {self._place(directive)});")

    def _wait(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        self._clauses(directive, rest, ())
        if len(arguments) > 2:
            self._error(directive, "#pragma xmp wait has an image and a tag at most", "write wait(p[1], 3)")
            return
        image = self._image(directive, arguments[0]) if arguments and arguments[0] else "XMP_ANY_IMAGE"
        tag = self.expression(directive, arguments[1]) if len(arguments) == 2 else ANY_TAG
        self._call(directive, f"(void)xmp_wait({image}, {tag}, {self._place(directive)});")

    def _lock(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        allowed = ("acquired_lock", "stat") if directive.name == "lock" else ("stat",)
        clauses = self._clauses(directive, rest, allowed)
        found = self._variable(directive, arguments[0]) if len(arguments) == 1 else None
        if found is None or found[1].shared is None or not found[1].shared.codims or found[1].rank:
            if not self.source.errors:
                self._error(
                    directive,
                    f"#pragma xmp {directive.name} needs one lock, which is an element of a coarray",
                    "declare xmp_lock_t l:[*]; and write lock(l:[0])",
                )
            return
        lowering, ref = found
        own = f"xmp_own_image({lowering.descriptor(ref)}, {self._place(directive)})"
        image = lowering.image(ref) if ref.remote else own
        where = f"({lowering.descriptor(ref)}, {image}, &{lowering.element(ref)}, {self._place(directive)});"
        call = f"{clauses.trylock} = xmp_trylock_at" if clauses.trylock else f"xmp_{directive.name}_at"
        self._call(directive, call + where)

    _unlock = _lock

    # ---- data of several images ----

    def _reduction(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        on = self._clauses(directive, rest, ("on",)).on
        calls, operator = [], ""
        for argument in join_locations(arguments):
            found = re.match(r"\s*([-+*&|^]+|\w+)\s*:(?!\s*\[)", argument)
            if found is not None:
                operator, argument = found[1].lower(), argument[found.end() :]
            if operator not in REDUCTIONS:
                self._error(
                    directive,
                    f"`{operator}` is no operator of a reduction" if operator else "this reduction has no operator",
                    f"write reduction(+:x) with one of {' '.join(REDUCTIONS)}",
                )
                return
            calls.append(self._reduce(directive, operator, argument.strip(), on))
        if not calls:
            self._error(directive, "this reduction names no variable", "write reduction(+:x)")
            return
        self._call(directive, calls[0] if len(calls) == 1 else f"{{ {' '.join(calls)} }}")

    def _reduce(self, directive: Directive, operator: str, text: str, on: str) -> str:
        text, *locations = text.strip("/ ").split("/")
        found = self._variable(directive, text)
        if found is None:
            return ""
        lowering, ref = found
        if ref.remote or any(step.section is not None for step in ref.steps):
            self._error(directive, f"`{text}` in a reduction", "name a variable or an array as a whole, on this image")
            return ""
        element = lowering.of_element(ref) if ref.rank else lowering.element(ref)
        whole = lowering.render(ref.node)
        count = f"(int64_t)(sizeof {whole} / sizeof {element})"
        head = f"&{element}, {count}, {type_code(element, name_of(ref.type))}, {REDUCTIONS[operator]}"
        place = self._place(directive)
        if not locations:
            return f"xmp_reduction({head}, {on}, {place});"
        names = [n for n in split_list(locations[0]) if n]
        table = []
        for name in names:
            location = self.expression(directive, name)
            table.append(f"{{&{location}, sizeof {location} / (size_t){count}}}")
        places = f"(const xmp_location[]){{{', '.join(table)}}}, {len(names)}"
        return f"xmp_reduction_locate({head}, {places}, {on}, {place});"

    def _bcast(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        clauses = self._clauses(directive, rest, ("from", "on"))
        calls = []
        for argument in arguments:
            found = self._variable(directive, argument)
            if found is None:
                return
            lowering, ref = found
            if ref.remote:
                self._error(directive, f"`{argument}` in a bcast is on one image", "name it without its image")
                return
            if not ref.regular:
                self._error(
                    directive, f"`{argument}` has a pointer behind a range", "broadcast in a loop over that range"
                )
                return
            section = lowering.prepare(ref)
            element = lowering.of_element(ref)
            calls.append(
                f"{' '.join(section.before)} xmp_bcast({lowering.section(section)}, sizeof {element},"
                f" {clauses.from_}, {clauses.on}, {self._place(directive)});"
            )
        if not calls:
            self._error(directive, "this bcast names no variable", "write bcast(x)")
            return
        self._call(directive, "{ " + " ".join(f"{{ {call} }}" for call in calls) + " }")

    def _gmove(self, directive: Directive) -> None:
        mode, *rest = [*directive.words.lower().split(), ""]
        if mode not in ("", "in", "out") or any(rest):
            self._clauses(directive, directive.words[len(mode) if mode in ("in", "out") else 0 :].strip(), ())
            return
        statement = self._statement(directive)
        if statement is None:
            return
        move = statement.named_children[0] if statement.named_children else statement
        if move.type != "assignment_expression":
            self._error(
                directive, "gmove stands above an assignment", "write for example #pragma xmp gmove above a[:] = b[:];"
            )
            return
        self.lowering.gmoves[move.start_byte] = "XMP_GMOVE" + f"_{mode.upper()}" * bool(mode)
        self.source.replace(directive.at, directive.end, "")


def join_locations(arguments: list[str]) -> list[str]:
    """`max: v / i, j /` is one argument."""
    out: list[str] = []
    for argument in arguments:
        if out and out[-1].count("/") == 1:
            out[-1] += "," + argument
        else:
            out.append(argument)
    return out
