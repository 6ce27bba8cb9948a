"""Declarations of coarrays, `int a[4]:[2][*]` and `#pragma xmp coarray a:[2][*]`. Each becomes a pointer to such an
array, as a shared array does, and a descriptor."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..core.declarators import enclosing, initial, innermost
from ..core.declared import POINTER, Declared
from ..core.shared import PREFIX, Rewriter, Shared, at_start, extents_of
from ..core.source import Node, Source, one_line, text_of, walk
from ..core.text import spliced
from .sections import Brackets, Codimensions

MAX_DIMS = 7
HOLDERS = ("declaration", "field_declaration", "parameter_declaration", "type_definition")


@dataclass
class Wanted:
    """A declarator that is to become a coarray. `on` is the node array in which its images count, or ""."""

    declaration: Node
    top: Node
    codimensions: Codimensions
    on: str = ""


@dataclass
class Coarrays:
    rewriter: Rewriter
    declared: Declared
    brackets: Brackets
    explain: list[str] = field(default_factory=list)
    # `coarray on p :: a`: by name, and the begin of the block of this directive (-1: file scope).
    on: dict[tuple[str, int], str] = field(default_factory=dict)
    replaced: set[int] = field(default_factory=set)  # declarations in blocks that were taken out

    @property
    def source(self) -> Source:
        return self.rewriter.source

    def declare_all(self, by_directive: dict[str, Codimensions]) -> None:
        """Declares those with `:[*]` after the name, and those that a directive names, in the order of the text."""
        wanted = [w for c in self.brackets.codimensions if (w := self._wanted(c)) is not None]
        for name, codimensions in by_directive.items():
            wanted += self._named(name, codimensions)
        self._no_star()
        for each in sorted(wanted, key=lambda w: w.top.start_byte):
            identifier = innermost(each.top)
            if identifier is not None and self._legal(each, identifier):
                block = enclosing(each.top, "compound_statement")
                each.on = self.on.get((text_of(identifier), block.start_byte if block is not None else -1), "")
                self._declare(each, identifier)

    def _wanted(self, codimensions: Codimensions) -> Wanted | None:
        at = len(self.brackets.text[: codimensions.at].rstrip()) - 1  # in the declared name
        node: Node | None = self.rewriter.root.descendant_for_byte_range(at, at)
        if node is not None and node.type not in HOLDERS:
            node = enclosing(node, *HOLDERS)
        declarators = node.children_by_field_name("declarator") if node is not None else []
        before = [d for d in declarators if d.start_byte < codimensions.at]
        if node is None or not before or node.type in ("field_declaration", "type_definition"):
            self.source.error(
                codimensions.at,
                "codimensions stand behind the name of a variable"
                + (", and a member of a struct cannot be a coarray by itself" * (node is not None)),
                "declare a variable with them: int a[4]:[*]; an image is named by an index, as in a[0]:[1]",
            )
            return None
        return Wanted(node, before[-1], codimensions)

    def _no_star(self) -> None:
        """Reports `int a:[4]`, which looks like an image."""
        for bracket, colon in self.brackets.images.items():
            node = self.rewriter.root.descendant_for_byte_range(bracket, bracket + 1)
            if node is not None and node.parent is not None and node.parent.type == "array_declarator":
                self.source.error(colon, "the last codimension is `*`: as many as there are images for", "write :[*]")

    def _named(self, name: str, codimensions: Codimensions) -> list[Wanted]:
        """Returns the declarations at file scope of the names in a directive."""
        out = []
        for node in self.rewriter.root.children:
            if node.type == "declaration":
                found = [d for d in node.children_by_field_name("declarator") if text_of(innermost(d)) == name]
                out += [Wanted(node, top, codimensions) for top in found]
        if not out:
            self.source.error(
                codimensions.at,
                f"`{name}` is not declared at file scope",
                f"declare it above this line, outside of functions, or with its codimensions: {name}:[*]",
            )
        return out

    def _legal(self, wanted: Wanted, identifier: Node) -> bool:
        codimensions = wanted.codimensions
        *inner, last = codimensions.extents
        kind = self.declared.type_of_declarator(wanted.top)
        problem = None
        if last not in ("*", "") or "*" in inner or "" in inner:
            problem = ("the last codimension, and only that, is `*`: as many as there are images for", "write :[2][*]")
        elif len(codimensions.extents) > MAX_DIMS:
            problem = (f"a coarray has at most {MAX_DIMS} codimensions", "count its images in fewer")
        elif kind is not None and kind.dims > MAX_DIMS:
            problem = (f"a coarray has at most {MAX_DIMS} dimensions", "make the innermost a member of a struct")
        elif identifier.parent is not None and identifier.parent.type == "function_declarator":
            problem = ("a function cannot be a coarray", "declare the array that it works on as one")
        elif last == "" and (kind is None or kind.derived[:1] != (POINTER,)):
            problem = ("empty codimensions are those of a pointer to a coarray", "write :[*]")
        if problem is not None:
            self.source.error(codimensions.at, *problem)
        return problem is None

    # ---- one of them ----

    def _declare(self, wanted: Wanted, identifier: Node) -> None:
        node, top = wanted.declaration, wanted.top
        name, function = text_of(identifier), enclosing(node, "function_definition")
        storage = [text_of(c) for c in node.named_children if c.type == "storage_class_specifier"]
        kind = self.declared.type_of_declarator(top)
        scope = enclosing(node, "compound_statement") or (function if node.type == "parameter_declaration" else None)
        own = function is not None and "extern" not in storage
        local = f"{len(self.rewriter.shared)}_" if own else ""
        shared = Shared(
            name,
            f"{PREFIX}{local}{name}",
            identifier.start_byte,
            kind.dims if kind is not None else 0,
            [],
            identifier.start_byte,
            scope.end_byte if scope is not None else len(self.source.text),
            codims=len(wanted.codimensions.extents),
            descriptor=f"&{PREFIX}coarray_{local}{name}",
        )
        pointer = kind is not None and kind.derived[:1] == (POINTER,)
        codimensions = wanted.codimensions
        value = initial(top) if not pointer else None
        stays = pointer or not own or node.type == "parameter_declaration"
        if codimensions.end > codimensions.at and stays and value is None:  # else they vanish with the value
            self.source.replace(codimensions.at, codimensions.end, "")
        if node.type == "parameter_declaration":
            self._parameter(shared, pointer)
        elif pointer:
            self._pointer(wanted, shared, storage, function)
        elif not own:
            used = self.fix_extents(wanted.declaration, top, wanted.codimensions)
            value = self.rewriter.make_pointer(shared, top, identifier)
            self.source.insert(node.end_byte, self._definition(wanted, shared, storage, value, used))
            if "static" not in storage:
                self.source.insert(node.end_byte, self.rewriter.note(shared, identifier, "extern" not in storage))
        elif "static" in storage and function is not None:
            self._hoist(wanted, shared, function)
        else:
            self.source.error(
                wanted.codimensions.at,
                f"`{name}` is a coarray in a block, where variables live on one image's stack",
                "declare it static, or outside of the function",
            )
        self.rewriter.add(shared)

    def _parameter(self, shared: Shared, pointer: bool) -> None:
        """Passes this image's part; the coarray is found by its address."""
        if not pointer:
            self.source.error(shared.at, f"parameter `{shared.name}` is no array", "pass the coarray as an array")
        shared.pointer = ""
        shared.descriptor = f"xmp_coarray_of({shared.name}, {self.source.place(shared.at).literal})"

    def _pointer(self, wanted: Wanted, shared: Shared, storage: list[str], function: Node | None) -> None:
        """Handles a coarray that is allocated later: the pointer stays, and a descriptor is added."""
        shared.pointer = ""
        node, name = wanted.declaration, shared.descriptor[1:]
        if "extern" in storage:
            self.source.insert(node.end_byte, f" extern xmp_coarray {name};")
            return
        inner = self.declared.type_of_declarator(wanted.top)
        element = f"__typeof__({self._base(wanted)})"
        if inner is not None:
            element += " *" * sum(kind == POINTER for kind in inner.derived[1:])
        coextents = ", ".join([*wanted.codimensions.extents[:-1], "0"])
        linkage = "static " if function is not None or "static" in storage else ""
        text = (
            f'{linkage}xmp_coarray {name} = {{.name = "{shared.name}", .place = {self.source.place(shared.at).literal},'
            f" .element = sizeof({element}), .codims = {shared.codims}, .coextent = {{{coextents}}}"
            + (f", .on = &{PREFIX}nodes_{wanted.on}" if wanted.on else "")
            + "};"
        )
        self.source.insert(function.start_byte if function is not None else node.end_byte, f" {text} ")

    def _base(self, wanted: Wanted) -> str:
        kind = wanted.declaration.child_by_field_name("type")
        tag = kind.child_by_field_name("name") if kind is not None else None
        if kind is not None and tag is not None and kind.type.endswith("_specifier"):
            return f"{kind.type.split('_')[0]} {text_of(tag)}"
        return ("_Complex " * self.declared.is_complex(wanted.declaration)) + one_line(text_of(kind))

    def _definition(
        self, wanted: Wanted, shared: Shared, storage: list[str], value: Node | None, used: list[str]
    ) -> str:
        """Returns the descriptor, and the allocation of the coarray at the start. `used` are constants that would
        seem unused."""
        name = shared.descriptor[1:]
        if "extern" in storage:
            return f" extern xmp_coarray {name};"
        extents, element = extents_of(shared, shared.dims)
        text = [f'{name}.name = "{shared.name}"; {name}.place = {self.source.place(shared.at).literal};']
        text += [f"(void){constant};" for constant in dict.fromkeys(used)]
        text.append(f"{name}.element = sizeof {element}; {name}.dims = {shared.dims};")
        text += [f"{name}.extent[{d}] = {extent};" for d, extent in enumerate(extents)]
        text.append(f"{name}.codims = {shared.codims};")
        text += [f"{name}.coextent[{d}] = {extent};" for d, extent in enumerate(wanted.codimensions.extents[:-1])]
        if wanted.on:
            text.append(f"{name}.on = &{PREFIX}nodes_{wanted.on};")
        initial = "(const void*)0"
        if value is not None:
            words = one_line(self.source.text[value.start_byte : value.end_byte])
            text.append(f"static const __typeof__(*{shared.pointer}) initial = {words};")
            initial = "&initial"
        text.append(f"{shared.pointer} = xmp_coarray_allocate(&{name}, {initial});")
        linkage = "static " if "static" in storage else ""
        return f" {linkage}xmp_coarray {name};{at_start(shared.pointer, ' '.join(text))}"

    def fix_extents(
        self, declaration: Node, top: Node, codimensions: Codimensions, first_values: bool = False
    ) -> list[str]:
        """Returns the names of `static const int N`, which is no constant to C in an array at file scope; with
        `first_values`, also of variables there, which have a first value when arrays get their memory."""
        constants = self._constants(top, first_values)
        extent = self._open_extent(Wanted(declaration, top, codimensions), initial(top))
        if extent is not None:
            self.source.insert(extent[0], extent[2])
        for at, end, value in constants:
            self.source.replace(at, end, value)
        return [self.source.text[at:end] for at, end, _ in constants]

    def _open_extent(self, wanted: Wanted, value: Node | None) -> tuple[int, int, str] | None:
        """`a[]` has the number of elements of its first value."""
        bracket = innermost(wanted.top)
        bracket = bracket.parent if bracket is not None else None
        if value is None or bracket is None or bracket.type != "array_declarator":
            return None
        if bracket.child_by_field_name("size") is not None:
            return None
        node = wanted.declaration
        name = innermost(wanted.top)
        declarator = wanted.top.child_by_field_name("declarator")
        if name is None or declarator is None:
            return None
        words = [text_of(c) for c in node.named_children if c.type == "type_qualifier"]
        words.append(text_of(node.child_by_field_name("type")).split("{")[0])
        shape = text_of(declarator)
        cut = name.start_byte - declarator.start_byte
        shape = shape[:cut] + shape[cut + name.end_byte - name.start_byte :]
        given = one_line(self.source.text[value.start_byte : value.end_byte])
        literal = f"({one_line(' '.join(words))} {shape}){given if given.startswith('{') else f'{{{given}}}'}"
        at = next(c.end_byte for c in bracket.children if c.type == "[")
        return at, at, f"sizeof {literal} / sizeof {literal}[0]"

    def _constants(self, top: Node, first_values: bool = False) -> list[tuple[int, int, str]]:
        out = []
        for bracket in walk(top):
            size = bracket.child_by_field_name("size") if bracket.type == "array_declarator" else None
            for use in walk(size) if size is not None else []:
                value = self.declared.constant(use, first_values) if use.type == "identifier" else None
                if value is not None:
                    out.append((use.start_byte, use.end_byte, value))
        return out

    # ---- static ones of a block ----

    def _hoist(self, wanted: Wanted, shared: Shared, function: Node) -> None:
        """Declares it before the function, where its allocation can see it; others of its declaration stay."""
        node, top = wanted.declaration, wanted.top
        if self.rewriter.needs_block(shared, self.declared.of_block(node, top)):
            return
        kind = node.child_by_field_name("type")
        if kind is not None and kind.child_by_field_name("body") and len(node.children_by_field_name("declarator")) > 1:
            self.source.error(
                kind.start_byte,
                "this declares a type and several variables, of which one is allocated before the block is entered",
                f"declare the type outside of the function, or `{shared.name}` by itself",
            )
            return
        value = initial(top)
        declarator = (top.child_by_field_name("declarator") if value is not None else top) or top
        name = innermost(declarator)
        changes = self._constants(declarator)
        if name is not None:
            changes.append((name.start_byte, name.end_byte, shared.renamed))
        extent = self._open_extent(wanted, value)
        changes += [extent] if extent is not None else []
        text = spliced(self.brackets.text, declarator.start_byte, declarator.end_byte, sorted(changes))
        declarators = node.children_by_field_name("declarator")
        words = self.source.text[node.start_byte : declarators[0].start_byte]
        constants = self._constants(declarator)
        files, blocks = [], ""  # constants of the file, and of the block, that would seem unused
        for begin, end, _ in constants:
            use, name_used = self.rewriter.root.descendant_for_byte_range(begin, end), self.source.text[begin:end]
            if use is not None and self.declared.is_local(self.declared.declarator(use), use):
                blocks += f" (void){name_used};"
            else:
                files.append(name_used)
        definition = self._definition(wanted, shared, ["static"], value, files)
        self.source.insert(function.start_byte, f"{one_line(f'{words}{text};')}{definition} ")
        self.source.insert(node.end_byte, blocks)
        if node.id in self.replaced:
            return
        self.replaced.add(node.id)
        places = [c.at for c in self.brackets.codimensions]
        ends = [*(d.start_byte for d in declarators[1:]), node.end_byte]
        rest = [
            one_line(self.brackets.text[d.start_byte : d.end_byte])
            for d, end in zip(declarators, ends, strict=True)
            if not any(d.start_byte <= place < end for place in places)
        ]
        self.source.replace(node.start_byte, node.end_byte, f"{one_line(words)} {', '.join(rest)};" if rest else ";")


def directive_names(words: str) -> tuple[str, list[tuple[str, str]]]:
    """Reads `on p :: a, b:[*]`: the node array, and each name with its codimensions; "" if there are none."""
    on = ""
    found = re.match(r"\s*on\s+(\w+)\s*::", words, re.IGNORECASE)
    if found is not None:
        on, words = found[1], words[found.end() :]
    pairs: list[tuple[str, str]] = []
    for name, codimensions in re.findall(r"(\w+)\s*:?\s*((?:\[[^\]]*\]\s*)*)(?:,|$)", words.strip()):
        pairs.append((name, codimensions.strip()))
    last = ""
    for i in range(len(pairs) - 1, -1, -1):  # `a, b:[*]` means both
        last = pairs[i][1] or last
        pairs[i] = (pairs[i][0], last)
    return on, pairs
