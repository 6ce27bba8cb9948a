"""Shared arrays: `T name[..]` becomes a pointer to such an array that sms_startup sets, and each use of the name
becomes `(*pointer)`, which has the same meaning in every context (subscripts, sizeof, &, decay)."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from . import notes
from .declarators import array_extents, enclosing, initial, innermost, is_allocation, pointed_dims
from .found import Declaration, Found, Map
from .scopes import Declaration as Denoted
from .scopes import Scopes
from .source import HASH_LINE, Node, Source, one_line, text_of, walk

PREFIX = "hiroba_"


@dataclass
class Shared:
    name: str
    pointer: str
    at: int
    dims: int
    pieces: list[str]
    begin: int  # the name means this from here ...
    end: int  # ... to here
    directive: bool = False  # declared by #pragma SMint
    codims: int = 0  # of a coarray
    descriptor: str = ""  # of a coarray: C for the address of its xmp_coarray
    number: bool = True  # keywords of C name the type, so an element of a number's size is one number

    @property
    def renamed(self) -> str:
        """Returns the replacement of a use of the name. A pointer to a coarray keeps its name."""
        return f"(*{self.pointer})" if self.pointer else self.name


@dataclass(frozen=True)
class Anchor:
    """The place at which the words of a directive are looked up: a position, and its node."""

    node: Node
    at: int


def plural(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


class Rewriter:
    def __init__(self, source: Source, found: Found, root: Node) -> None:
        self.source, self.found, self.root = source, found, root
        self.scopes = Scopes(found.text)
        self.shared: list[Shared] = []
        self._of_entity: dict[int, list[Shared]] = {}  # by the position of the object's first declaration
        self.coindexed: Callable[[Node], str | None] = lambda node: None  # the C of an object on another image
        # Returns a declaration that the variable needs from the block around it.
        self.of_block: Callable[[Node, Node], Node | None] = lambda node, top: None
        self._kept: list[tuple[int, int, frozenset[str]]] = []  # statements that use copies of some pointers
        self.placed: list[Node] = []  # pointers in blocks, whose maps have extents

    # ---- declarations ----

    def declare_all(self) -> None:
        nodes = [n for n in walk(self.root) if n.type in ("declaration", "field_declaration")]
        for declaration in self.found.declarations:
            node = next((n for n in nodes if self._begins(n, declaration)), None)
            if node is None:
                self.source.error(
                    declaration.at, "no declaration of an array or a variable follows", "put this line above one"
                )
            elif node.type == "field_declaration":
                self.source.error(
                    declaration.at,
                    "a member of a struct cannot be shared by itself",
                    "declare the variable of the struct type shared",
                )
            else:
                self._declare(declaration, node)

    def _begins(self, node: Node, declaration: Declaration) -> bool:
        if not declaration.directive:
            return node.start_byte <= declaration.at < node.end_byte or (
                node.start_byte >= declaration.at and not self.found.text[declaration.at : node.start_byte].strip()
            )
        between = HASH_LINE.sub("", self.source.text[declaration.begin : node.start_byte])
        return node.start_byte > declaration.begin and not between.strip()

    def _declare(self, declaration: Declaration, node: Node) -> None:
        storage = [text_of(c) for c in node.named_children if c.type == "storage_class_specifier"]
        function = enclosing(node, "function_definition")
        declarators = node.children_by_field_name("declarator")
        if not declarators:
            self.source.error(declaration.at, "this declaration declares no variable")
            return
        for i, top in enumerate(declarators):
            identifier = innermost(top)
            if identifier is None or (identifier.parent and identifier.parent.type == "function_declarator"):
                self.source.error(top.start_byte, "only variables can be shared", "share what the function works on")
                return
            end = declarators[i + 1].start_byte if i + 1 < len(declarators) else node.end_byte
            own = next((m for m in declaration.maps if top.start_byte <= m.at < end), None)
            if own is None and declaration.directive:
                own = declaration.maps[0]
            if function is not None and "static" not in storage:
                kind = node.child_by_field_name("type")
                self._place_here(declaration, own, top, identifier, kind is not None and kind.type == "type_identifier")
                continue
            self._make(declaration, node, top, identifier, own, storage, function)
        if not declaration.directive:
            self._remove_words(declaration, node)
        else:
            self.source.replace(declaration.at, declaration.begin, "")

    def _remove_words(self, declaration: Declaration, node: Node) -> None:
        word = self.source.text.index("shared", declaration.at)
        self.source.replace(word, word + len("shared"), "")
        for own in declaration.maps:
            if not any(begin <= own.at < end for begin, end, _ in self.source.edits):
                self.source.replace(own.at, own.end, "")

    def _checked_pieces(self, own: Map | None, dims: int, at: int, element: bool) -> list[str] | None:
        pieces = [piece or "1" for piece in own.pieces] if own is not None else []
        if len(pieces) > max(dims, 1) and not element:
            self.source.error(
                own.at if own is not None else at,
                f"the map has {len(pieces)} brackets, and the array has {dims} dimension{'s' * (dims != 1)}",
                "give one bracket per dimension; [1] or [] where it is not divided",
            )
            return None
        return pieces

    def _make(
        self,
        declaration: Declaration,
        node: Node,
        top: Node,
        identifier: Node,
        own: Map | None,
        storage: list[str],
        function: Node | None,
    ) -> None:
        name = text_of(identifier)
        kind = node.child_by_field_name("type")
        named_type = kind is not None and kind.type == "type_identifier"
        if not self._can_be_placed(identifier, own, text_of(node)[: top.start_byte - node.start_byte].split(), storage):
            return
        pieces = self._checked_pieces(own, array_extents(identifier, top), identifier.start_byte, named_type)
        if pieces is None:
            return
        dims = max(array_extents(identifier, top), len(pieces), 1)
        pieces += ["1"] * (dims - len(pieces))
        scope = enclosing(node, "compound_statement")
        local = f"{len(self.shared)}_" if function is not None else ""
        shared = Shared(
            name,
            f"{PREFIX}{local}{name}",
            identifier.start_byte,
            array_extents(identifier, top),
            pieces,
            identifier.start_byte,
            scope.end_byte if scope is not None else len(self.source.text),
            declaration.directive,
            number=is_number(top),
        )
        if function is not None:
            self._hoist(node, top, shared, own, function)
        else:
            value = self.make_pointer(shared, top, identifier)
            if "extern" not in storage:
                self.source.insert(node.end_byte, self._placing(shared, own, value))
            if "static" not in storage:
                self.source.insert(node.end_byte, self.note(shared, identifier, "extern" not in storage))
        self.add(shared)

    def _can_be_placed(self, identifier: Node, own: Map | None, words: list[str], storage: list[str]) -> bool:
        """Returns true if a variable of static duration can be allocated at the start."""
        name, outer = text_of(identifier), identifier.parent
        at = identifier.start_byte
        is_open = outer is not None and outer.type == "array_declarator" and outer.child_by_field_name("size") is None
        if own is not None and any(own.extent):
            self.source.error(
                at,
                f"`{name}` is allocated at the start, when the extents in its map are not known yet",
                "declare the pointer in a block, behind what its extents need, and pass it on"
                if outer is not None and outer.type == "pointer_declarator"
                else "write the extents in the declaration, and pieces only in the map",
            )
        elif word := next((w for w in words if w in ("_Thread_local", "__thread", "thread_local", "register")), ""):
            self.source.error(at, f"`{name}` is shared by all ranks, and `{word}` has one each", f"leave `{word}` out")
        elif is_open and "extern" not in storage:
            self.source.error(at, f"the first extent of shared `{name}` is not written", f"write it: {name}[10]")
        else:
            return True
        return False

    def note(self, shared: Shared, identifier: Node, defined: bool) -> str:
        outer = identifier.parent
        is_open = outer is not None and outer.type == "array_declarator" and outer.child_by_field_name("size") is None
        extents, _ = extents_of(shared, shared.dims)
        place = str(self.source.place(shared.at))
        return notes.written(
            *(len(self.shared), shared.name, place),
            defined=defined, array=shared.renamed, extents=extents, complete=defined or not is_open,
        )  # fmt: skip

    def add(self, shared: Shared) -> None:
        self.shared.append(shared)
        declared = self.scopes.declared(shared.at)
        if declared is None:
            self.source.error(
                shared.at, f"the declaration of `{shared.name}` cannot be read as C", "write it in one line"
            )
            return
        self._of_entity.setdefault(declared.entity.at, []).append(shared)

    def make_pointer(self, shared: Shared, top: Node, identifier: Node) -> Node | None:
        """Edits a declarator of file scope, and removes and returns its first value."""
        self.source.replace(identifier.start_byte, identifier.end_byte, f"(*{shared.pointer})")
        value = initial(top)
        if value is not None:
            declarator = top.child_by_field_name("declarator")
            end = declarator.end_byte if declarator is not None else value.start_byte
            self.source.replace(end, value.end_byte, "")
        return value

    def _hoist(self, node: Node, top: Node, shared: Shared, own: Map | None, function: Node) -> None:
        """A static array of a block is declared before the function, where its allocation can see it."""
        declarators = node.children_by_field_name("declarator")
        if len(declarators) > 1:
            self.source.error(node.start_byte, "one shared variable per declaration in a block, please")
            return
        if self.needs_block(shared, self.of_block(node, top)):
            return
        value = initial(top)
        declarator = (top.child_by_field_name("declarator") if value is not None else top) or top
        words = re.sub(r"\bshared\b", "", self.source.text[node.start_byte : declarator.start_byte])
        body = self.found.text[declarator.start_byte : declarator.end_byte]
        body = re.sub(rf"\b{shared.name}\b", f"(*{shared.pointer})", body, count=1)
        text = one_line(f"{words}{body};")
        self.source.insert(function.start_byte, text + self._placing(shared, own, value) + " ")
        self.source.replace(node.start_byte, node.end_byte, ";")

    def needs_block(self, shared: Shared, inner: Node | None) -> bool:
        """Returns true, after an error, if a declaration moves before its function but uses a name declared there."""
        if inner is not None:
            self.source.error(
                inner.start_byte,
                f"`{text_of(inner)}` is declared in a block, and `{shared.name}` is allocated before that is entered",
                "declare it outside of the function",
            )
        return inner is not None

    def _placing(self, shared: Shared, own: Map | None, value: Node | None) -> str:
        extents, element = extents_of(shared, len(shared.pieces) if shared.dims else 0)
        first, count = (own.first, own.count) if own is not None else ("0", "1")
        allocated = (
            f'smint_allocate(dim, div, sizeof {element}, {first}, {count}, "{shared.name}",'
            f" {self.source.place(shared.at).literal})"
        )
        text = [
            f"const int64_t dim[] = {{{', '.join(extents or ['1'])}, -1}}, div[] = {{{', '.join(shared.pieces)}, -1}};",
            f"{shared.pointer} = {allocated if shared.number else of_values(allocated, element)};",
        ]
        if value is not None:
            initial = one_line(self.source.text[value.start_byte : value.end_byte])
            text.append(f"static __typeof__(*{shared.pointer}) initial = {initial};")
            text.append(f"if (sms_rank == 0) __builtin_memcpy((void*){shared.pointer}, &initial, sizeof initial);")
        return at_start(shared.pointer, " ".join(text))

    def _place_here(
        self, declaration: Declaration, own: Map | None, top: Node, identifier: Node, named_type: bool
    ) -> None:
        """A pointer in a block whose map has extents: the array is allocated where the declaration is executed."""
        name = text_of(identifier)
        pointer = any(c.type == "pointer_declarator" for c in [top, *walk(top)])
        if own is None or not pointer or not any(own.extent):
            self.source.error(
                declaration.at,
                f"`{name}` is shared in a block, where variables live on one rank's stack",
                "declare it static, or as a pointer whose map has extents: shared double *v::[n:NPROCS](0,NPROCS)",
            )
            return
        if "" in own.extent:
            self.source.error(own.at, "each bracket of this map needs an extent", "write [extent:pieces], as in [n:1]")
            return
        dims = pointed_dims(identifier, top)
        if len(own.extent) > dims and named_type:
            dims = len(own.extent)  # the rest is in the type's name
        if len(own.extent) != dims:
            whole = " * ".join(f"({e})" if not re.fullmatch(r"\w+", e) else e for e in own.extent)
            self.source.error(
                identifier.start_byte,
                f"the map has {plural(len(own.extent), 'extent')}, and `{name}` points to {plural(dims, 'dimension')}",
                f"declare (*{name}){''.join(f'[{e}]' for e in own.extent[1:])}, or write one extent: [{whole}:NPROCS]"
                if dims == 1
                else "give one bracket per dimension: [extent:pieces]",
            )
            return
        begin = end = top.end_byte
        if top.type == "init_declarator":
            declarator, value = top.child_by_field_name("declarator"), top.child_by_field_name("value")
            if declarator is None or value is None or not is_allocation(value):
                self.source.error(
                    (value or top).start_byte,
                    f"the map allocates `{name}`, and here is another first value",
                    "take one of them away",
                )
                return
            begin, end = declarator.end_byte, value.end_byte
        pieces = ", ".join(piece or "1" for piece in own.pieces)
        place = self.source.place(identifier.start_byte).literal
        element = f"{name}{'[0]' * len(own.extent)}"
        allocated = (
            f"smint_allocate((const int64_t[]){{{', '.join(own.extent)}, -1}}, (const int64_t[]){{{pieces}, -1}},"
            f' sizeof {element}, {own.first}, {own.count}, "{name}", {place})'
        )
        self.source.replace(begin, end, f" = {allocated if is_number(top) else of_values(allocated, element)}")
        self.placed.append(identifier)

    def rewrite_memory(self) -> None:
        """Adapts the handling of malloc's memory: free() of a shared array is sms_free, and other memory would not
        be shared."""
        names = {text_of(identifier) for identifier in self.placed}
        for node in walk(self.root) if names else ():
            if node.type == "call_expression" and text_of(node.child_by_field_name("function")) == "free":
                given = node.child_by_field_name("arguments")
                argument = given.named_children[0] if given is not None and given.named_children else None
                if argument is not None and self._is_placed(argument):
                    self.source.replace(node.start_byte, node.start_byte + len("free"), "sms_free")
            elif node.type == "assignment_expression":
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is not None and right is not None and is_allocation(right, False) and self._is_placed(left):
                    self.source.error(
                        node.start_byte,
                        f"`{text_of(left)}` is allocated where it is declared, and what this allocates is not shared",
                        "take this statement away",
                    )

    def _is_placed(self, use: Node) -> bool:
        """Returns true if this is the name of a pointer whose map has extents."""
        denoted = self.scopes.denoted(use.start_byte) if use.type == "identifier" else None
        return denoted is not None and any(identifier.start_byte == denoted.at for identifier in self.placed)

    # ---- uses ----

    def resolve(self, identifier: Node, anchor: Anchor | None = None) -> Shared | None:
        """Returns the shared variable that this identifier means; words of a directive are looked up at its
        `anchor`."""
        if anchor is not None:
            return self.resolve_name(text_of(identifier), anchor.at)
        return self._of(self.scopes.denoted(identifier.start_byte), identifier.start_byte)

    def resolve_name(self, name: str, at: int) -> Shared | None:
        """Returns the shared variable that this name means at a place."""
        return self._of(self.scopes.visible(name, at), at)

    def _of(self, denoted: Denoted | None, at: int) -> Shared | None:
        """Returns the last declaration before `at` that declares the object shared."""
        found = self._of_entity.get(denoted.entity.at, ()) if denoted is not None else ()
        return max((shared for shared in found if shared.at <= at), key=lambda shared: shared.at, default=None)

    def rename_all(self) -> None:
        """Rewrites each use of a shared object."""
        if not self._of_entity:
            return
        self._drop_repeated()
        edits = sorted({(begin, end) for begin, end, _text in self.source.edits if end > begin})
        for at, denoted in self.scopes.uses():
            shared = self._of(denoted, at) if denoted.entity.at in self._of_entity else None
            first = bisect.bisect_left(edits, (at, 0))
            edited = first < len(edits) and edits[first][0] == at
            if shared is None or not shared.pointer or edited or not self.source.of_user(at):
                continue
            if self._outside(at) and not unevaluated(self.found.text, at):
                kind = "coarray" if shared.codims else "shared"
                self.source.error(
                    at,
                    f"{kind} `{shared.name}` has no address before the program starts",
                    "set this pointer in main, after the start",
                )
                continue
            self.source.replace(at, at + len(shared.name), f"(*{self.pointer_at(shared, at)})")

    def _outside(self, at: int) -> bool:
        """Returns true if this place is in no function."""
        first = bisect.bisect_right(self._functions, (at, at)) - 1
        return first < 0 or at >= self._functions[first][1]

    @cached_property
    def _functions(self) -> list[tuple[int, int]]:
        return [(n.start_byte, n.end_byte) for n in self.root.children if n.type == "function_definition"]

    def _drop_repeated(self) -> None:
        """Handles `extern double a[];` in a block, for an object that is already shared."""
        declared = [d for d in self.scopes.declarations() if d.block and "extern" in d.words]
        nodes = {}
        for each in declared:
            identifier = self.root.descendant_for_byte_range(each.at, each.at + 1)
            node = enclosing(identifier, "declaration") if identifier is not None else None
            if node is not None and self._of(each, each.at) is not None:
                nodes[node.start_byte] = node
        for node in nodes.values():
            names = [innermost(declarator) for declarator in node.children_by_field_name("declarator")]
            found = [self._of(self.scopes.declared(n.start_byte), n.start_byte) for n in names if n is not None]
            known = [shared if shared is not None and shared.codims == 0 else None for shared in found]
            if not any(known):
                continue
            if not all(known):
                text = f"`{next(s.name for s in known if s is not None)}` is shared, and others here are not"
                self.source.error(node.start_byte, text, "declare them in two declarations")
            self.source.replace(node.start_byte, node.end_byte, ";")

    def pointer_at(self, shared: Shared, at: int) -> str:
        """Returns the pointer to a shared variable that is used at a place."""
        first = bisect.bisect_right(self._kept, at, key=lambda kept: kept[0]) - 1
        kept = first >= 0 and at < self._kept[first][1] and shared.pointer in self._kept[first][2]
        return f"kept_{shared.pointer}" if kept else shared.pointer

    def keep(self, begin: int, end: int, pointers: Iterable[str]) -> None:
        """Records that copies of these pointers are used in a statement. Such statements are not nested."""
        bisect.insort(self._kept, (begin, end, frozenset(pointers)), key=lambda kept: kept[0])


def is_number(top: Node) -> bool:
    """Returns true if keywords of C name the type of a declarator."""
    kind = top.parent.child_by_field_name("type") if top.parent is not None else None
    return kind is not None and kind.type in ("primitive_type", "sized_type_specifier")


def of_values(allocated: str, element: str) -> str:
    """Returns the C of an allocation for elements of which only the C compiler knows if they are numbers; structures
    are bytes."""
    kind = f"__builtin_classify_type(*(__typeof__({element})*)0)"
    return f"smint_scalars({allocated}, {kind} < 9 && sizeof {element} <= 8 ? sizeof {element} : 1)"


def extents_of(shared: Shared, dims: int) -> tuple[list[str], str]:
    """Returns the extents of an array, and one element of it, as C."""
    element, extents = shared.renamed, []
    for _ in range(dims):
        extents.append(f"(int64_t)(sizeof {element} / sizeof {element}[0])")
        element += "[0]"
    return extents, element


UNEVALUATED = re.compile(
    r"\b(?:sizeof|_?_?[aA]lignof(?:__)?|(?:__)?typeof(?:__|_unqual)?|__builtin_types_compatible_p)\s*\Z"
)


def unevaluated(text: str, at: int) -> bool:
    """Returns true if a name is below sizeof or a similar word, which only needs its type."""
    begin, end = max(text.rfind(";", 0, at), text.rfind("}", 0, at)) + 1, at
    while begin < end:
        if UNEVALUATED.search(text, begin, end):
            return True
        depth = 0
        while end > begin and depth >= 0:  # to the bracket around it
            end -= 1
            depth += (text[end] == ")") - (text[end] == "(")
    return False


def at_start(name: str, statements: str) -> str:
    """Returns C at file scope that executes statements when the job starts, in the order of the declarations."""
    return (
        f" static void {PREFIX}place_{name}(void) {{ {statements} }} static smint_array {PREFIX}array_{name};"
        f" __attribute__((constructor)) static void {PREFIX}declare_{name}(void) {{"
        f" {PREFIX}array_{name}.place = {PREFIX}place_{name};"
        f" smint_declare(&{PREFIX}array_{name}); }}"
    )
