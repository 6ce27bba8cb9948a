"""#pragma xmp: each directive becomes calls of xmp.h where it stands, or around the statement that follows it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .coarrays import Coarrays, directive_names
from .declarators import enclosing
from .lowering import quoted
from .notation import Directive, split_list
from .sections import Codimensions
from .shared import PREFIX, at_start
from .source import Node, one_line
from .xmp_collectives import XmpCollectives
from .xmp_words import NO_NODES, Nodes

ANY_TAG = "(-0x7fffffffffffffff - 1)"  # XMP_ANY_TAG: the preprocessor has run


@dataclass
class XmpDirectives(XmpCollectives):
    coarrays: Coarrays = None  # type: ignore[assignment]

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
        scope = self._scope(directive)
        for name, codimensions in pairs:
            if codimensions:
                extents = tuple(one_line(e) for e in re.findall(r"\[([^\]]*)\]", codimensions))
                at = self._at(directive, name)
                named[name] = Codimensions(at, at, extents)
            elif not on:
                self._error(directive, f"`{name}` has no codimensions", f"write {name}:[*]")
            self.coarrays.on[name, scope.start_byte if scope is not None else -1] = on
        self.source.replace(directive.at, directive.end, "")

    def _scope(self, directive: Directive) -> Node | None:
        """The block that it stands in; none at file scope."""
        node = self._anchor(directive).node
        return node if node.type == "compound_statement" else enclosing(node, "compound_statement")

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
        scope = self._scope(directive)
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

    # ---- statements ----

    def rewrite_all(self) -> None:
        """From the last one to the first: where two end at one place, the inner one ends first."""
        for directive in reversed(self._ours):
            if directive.name not in ("nodes", "coarray") and self._in_function(directive):
                getattr(self, "_" + directive.name)(directive)

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

    def _image(self, directive: Directive, text: str) -> tuple[str, str]:
        """What names the other image, and the end of the name of the call that takes it: of `p[k]` a node, which may be
        one outside of the executing set; a plain number counts in it, from 0."""
        name = re.match(r"\s*(\w+)", text)
        if name is not None and self.find_nodes(name[1], directive.at) is not None:
            return self.reference(directive, text), "_node"
        if re.fullmatch(r"\s*\w+\s*[\[(].*", text):
            self._unknown_nodes(directive, name[1] if name is not None else text)
        return self.expression(directive, text), ""

    def _post(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        self._clauses(directive, rest, ())
        if len(arguments) != 2:
            self._error(directive, "#pragma xmp post needs an image and a tag", "write post(p[1], 3)")
            return
        tag = self.expression(directive, arguments[1])
        image, kind = self._image(directive, arguments[0])
        self._call(directive, f"xmp_post{kind}({image}, {tag}, {self._place(directive)});")

    def _wait(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        self._clauses(directive, rest, ())
        if len(arguments) > 2:
            self._error(directive, "#pragma xmp wait has an image and a tag at most", "write wait(p[1], 3)")
            return
        image, kind = self._image(directive, arguments[0]) if arguments and arguments[0] else ("XMP_ANY_IMAGE", "")
        tag = self.expression(directive, arguments[1]) if len(arguments) == 2 else ANY_TAG
        self._call(directive, f"(void)xmp_wait{kind}({image}, {tag}, {self._place(directive)});")

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
