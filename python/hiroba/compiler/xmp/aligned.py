"""#pragma xmp align and shadow: arrays of which each node has a part. The program's subscripts stay as they are: a
part is used through a pointer to where the whole array would begin, whose type has the extents of the part."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.declarators import initial
from ..core.declared import ARRAY, POINTER, is_parameter
from ..core.found import Directive
from ..core.scopes import Declaration as Denoted
from ..core.scopes import Kind
from ..core.shared import PREFIX
from ..core.source import Node, bare, text_of
from ..core.text import quoted, split_list
from .lowering import Lowering
from .references import count
from .templates import known_template
from .words import Template

if TYPE_CHECKING:
    from .part import Xmp


@dataclass
class Aligned:
    name: str  # "a", or "s.a" of a member
    entity: int  # position of its first declaration
    at: int  # of the declaration that the directive sees
    dims: int
    template: Template
    axes: list[int]  # of each dimension: that of the template; -1: none
    offsets: list[str]
    kind: str  # "array", "pointer", "parameter"
    in_block: bool
    is_static: bool
    element: str  # C for an element, which is not evaluated
    shadow: list[tuple[str, str]] = field(default_factory=list)
    last: Directive | None = None  # the last directive that names it: there it is allocated
    in_function: bool = False  # declared at file scope, and aligned in the one block that uses it
    tag: str = ""  # of the structure whose member is aligned for all its variables: each is allocated where declared

    @property
    def root(self) -> str:
        return self.name.split(".")[0]

    @property
    def member(self) -> str:
        """Returns the name of a member; "" of a variable."""
        return self.name.partition(".")[2]

    @property
    def symbol(self) -> str:
        return self.name.replace(".", "__")

    @property
    def pointer(self) -> str:
        """Returns the variable that has the type of a whole array; "" if the program's own name has it."""
        return "" if self.kind == "pointer" or self.member else f"{PREFIX}{self.name}"

    @property
    def key(self) -> tuple[int, str]:
        return self.entity, self.member

    @property
    def descriptor(self) -> str:
        return f"(*{PREFIX}aligned_{self.symbol})" if self.kind == "parameter" else f"{PREFIX}aligned_{self.symbol}"

    @property
    def comes_later(self) -> bool:
        """Returns true if it has no memory where it is declared."""
        return self.kind == "pointer" or self.template.later

    def is_divided(self, d: int) -> bool:
        return self.axes[d] >= 0 and self.template.formats[self.axes[d]] != "*"

    def is_full(self, d: int) -> bool:
        return bool(self.shadow) and self.shadow[d][0] == "XMP_REST"

    def turns(self, d: int) -> bool:
        """Returns true if its subscripts are not the program's indices."""
        return self.axes[d] >= 0 and self.template.formats[self.axes[d]] == "cyclic" and not self.is_full(d)

    @property
    def type(self) -> str:
        """Returns the type of its part, as far as a pointer to it needs that."""
        extents = "".join(f"[{self.descriptor}.size[{d}]]" for d in range(self.dims))
        return f"__typeof__({self.element}) (*{{}}){extents}"

    def whole(self, of: str) -> str:
        return f"(*({self.type.format('')}){self.descriptor}.{of})"


@dataclass(frozen=True)
class Kept:
    """A loop in which pointers to arrays are variables, and the subscripts that belong to its variables."""

    begin: int
    end: int
    names: frozenset[tuple[int, str]]  # keys
    # By the entity of a loop variable, template, its dimension, and offset: the variable of the subscript.
    numbers: dict[tuple[int, str, int, str], str]


class AlignedArrays:
    def __init__(self, xmp: Xmp) -> None:
        self.xmp = xmp
        self.all: dict[tuple[int, str], Aligned] = {}
        self.kept: list[Kept] = []

    def of_name(self, name: str, at: int) -> Aligned | None:
        root, _, member = name.partition(".")
        denoted = self.xmp.unit.scopes.visible(root, at)
        return self.all.get((denoted.entity.at, member)) if denoted is not None else None

    def of_node(self, node: Node, lowering: Lowering | None = None) -> Aligned | None:
        """Returns the array that a name, or a variable and its member, denotes."""
        if not self.all or node.type not in ("identifier", "type_identifier", "field_expression"):
            return None
        member = ""
        if node.type == "field_expression":
            member, argument = text_of(node.child_by_field_name("field")), node.child_by_field_name("argument")
            if argument is None or any(c.type == "->" for c in node.children):
                return None
            node = bare(argument)
            if node.type != "identifier":
                return None
        anchor = lowering.anchor if lowering is not None else None
        denoted = self.xmp.declared.denoted(node, anchor)
        return self.all.get((denoted.entity.at, member)) if denoted is not None else None

    def of_chain(self, node: Node, lowering: Lowering | None = None) -> Aligned | None:
        """Returns the array of which this is an element, a section or all."""
        root = bare(node)
        while root.type == "subscript_expression":
            root = bare(root.child_by_field_name("argument") or root.named_children[0])
        return self.of_node(root, lowering)

    def has(self, lowering: Lowering, node: Node) -> bool:
        return self.of_chain(node, lowering) is not None

    # ---- uses ----

    def use(self, lowering: Lowering, node: Node) -> str | None:
        """Returns the C of an aligned array, or of an element; None for anything else."""
        indices: list[Node] = []
        root = node
        while root.type == "subscript_expression":
            index = root.child_by_field_name("index")
            argument = root.child_by_field_name("argument")
            if index is None or argument is None or lowering.reader.written(root):
                return None
            indices.insert(0, index)
            root = argument
        found = self.of_node(bare(root), lowering)
        if found is None or (not indices and node.type == "parenthesized_expression"):
            return None
        if not indices:
            return self._alone(lowering, node, found)
        if len(indices) > found.dims:
            return None
        if is_unevaluated(node):  # the type is that of the whole array
            indices_ = "".join(f"[{lowering.render(i)}]" for i in indices)
            return f"{f'(*{found.pointer})' if found.pointer else found.name}{indices_}"
        at = lowering.at(node.start_byte)
        kept = next((k for k in self.kept if k.begin <= at < k.end and found.key in k.names), None)
        text = f"(*{PREFIX}kept_{found.symbol})" if kept is not None else found.whole("base")
        subscript = self._checked if self.xmp.source.checks else self._subscript
        written = [subscript(lowering, found, d, i) for d, i in enumerate(indices)]
        if self.xmp.source.sanitizes:  # a part's type has its extents, and its subscripts do not begin at 0
            for each in written:
                text = f"(*(&{text}[0] + ({each})))"
            return text
        return text + "".join(f"[{each}]" for each in written)

    def _checked(self, lowering: Lowering, found: Aligned, d: int, index: Node) -> str:
        """Returns a subscript that option --check compares with what the node has."""
        element = index.parent or index
        while (outer := element.parent) is not None and outer.type in (
            "subscript_expression",
            "parenthesized_expression",
        ):
            if outer.type == "subscript_expression" and outer.child_by_field_name("argument") != element:
                break
            element = outer
        use = "XMP_READS"
        if outer is not None and outer.type == "pointer_expression":
            use = "XMP_NAMES"
        elif outer is not None and outer.type in ("update_expression", "assignment_expression"):
            target = outer.child_by_field_name("left" if outer.type == "assignment_expression" else "argument")
            use = "XMP_WRITES" if target == element else use
        text, place = quoted(lowering.written(element)), lowering.place(index.start_byte)
        return f"xmp_checked(&{found.descriptor}, {d}, {lowering.render(index)}, {use}, {text}, {place})"

    def _alone(self, lowering: Lowering, node: Node, found: Aligned) -> str:
        if found.kind == "parameter":
            return found.name
        if found.kind == "pointer":
            self._check_pointer(node, found, lowering)
            return found.name
        if is_unevaluated(node):
            return f"(*{found.pointer})" if found.pointer else found.name  # its type is that of the whole array
        return found.whole("data")

    def _check_pointer(self, node: Node, found: Aligned, lowering: Lowering) -> None:
        """Reports what gives a pointer another value than that of xmp_malloc, or could."""
        parent = node.parent
        kind = parent.type if parent is not None else ""
        value = parent.child_by_field_name("right") if kind == "assignment_expression" and parent is not None else None
        sets = kind == "assignment_expression" and parent is not None and parent.child_by_field_name("left") == node
        if sets and value is not None and not is_allocation(value):
            lowering.error(
                node.start_byte,
                f"`{found.name}` is an aligned pointer, and gets another address than that of xmp_malloc",
                f"write {found.name} = xmp_malloc(xmp_desc_of({found.name}), n), and move elements by gmove",
            )
        elif kind == "update_expression" or (kind == "pointer_expression" and text_of(parent).startswith("&")):
            lowering.error(
                node.start_byte, f"`{found.name}` is an aligned pointer, whose address cannot change",
                f"pass {found.name} itself, which is the address of this node's part",
            )  # fmt: skip

    def descriptor(self, lowering: Lowering, identifier: Node) -> str:
        """Returns the address of the descriptor of an aligned array; "" if it is none."""
        found = self.of_node(identifier, lowering)
        return f"&{found.descriptor}" if found is not None else ""

    def _subscript(self, lowering: Lowering, found: Aligned, d: int, index: Node) -> str:
        if not found.turns(d):
            return lowering.render(index)
        at, plain = lowering.at(index.start_byte), bare(index)
        if plain.type == "identifier":
            denoted = self.xmp.declared.denoted(plain, lowering.anchor)
            entity = denoted.entity.at if denoted is not None else -1
            key = (entity, found.template.name, found.axes[d], found.offsets[d])
            for kept in self.kept:
                if kept.begin <= at < kept.end and key in kept.numbers:
                    return kept.numbers[key]
        return f"xmp_subscript(&{found.descriptor}, {d}, {lowering.render(index)})"


def is_unevaluated(node: Node) -> bool:
    """Returns true for the operand of sizeof."""
    parent = node.parent
    while parent is not None and parent.type == "parenthesized_expression":
        parent = parent.parent
    return parent is not None and parent.type in ("sizeof_expression", "type_descriptor")


# ---- directives ----


def align(xmp: Xmp, directive: Directive) -> None:
    xmp.write(directive, "")
    found = re.fullmatch(
        r"([\w.]*)\s*([\[(].*?)\s*\bwith\s+(\w+)\s*([\[(].*?)\s*(?:::\s*(.*))?",
        directive.words,
        re.DOTALL | re.IGNORECASE,
    )
    sources = xmp.in_c_order(found[2]) if found is not None else None
    targets = xmp.in_c_order(found[4]) if found is not None else None
    names = [found[1]] if found is not None and found[1] else split_list(found[5] or "") if found is not None else []
    if found is None or not sources or not targets or not names:
        xmp.error(directive, "cannot read this alignment", "write align a[i][j] with t[i][j + 1]")
        return
    template = known_template(xmp, directive, found[3])
    if template is None or not template.formats:
        return
    if len(targets) != template.dims:
        text = f"template `{template.name}` has {count(template.dims, 'dimension')}, and this names {len(targets)}"
        xmp.error(directive, text, "name each: an index, or * where each node has a copy")
        return
    mapped = mapping(xmp, directive, template, sources, targets)
    if mapped is None:
        return
    for name in names:
        add(xmp, directive, name.strip(), mapped)


@dataclass(frozen=True)
class Mapping:
    """Of each dimension of an array that of the template, and the offset."""

    template: Template
    axes: list[int]
    offsets: list[str]


def mapping(
    xmp: Xmp, directive: Directive, template: Template, sources: list[str], targets: list[str]
) -> Mapping | None:
    axes, offsets = [-1] * len(sources), ["0"] * len(sources)
    taken: set[int] = set()
    twice = next((s for s in sources if s not in ("*", ":", "") and sources.count(s) > 1), None)
    if twice is not None:
        xmp.error(directive, f"`{twice}` is the index of several dimensions", "give each an index of its own")
        return None
    for d, source in enumerate(sources):
        if source in ("*", ""):
            continue
        for t, target in enumerate(targets):
            part = re.fullmatch(r"(\w+)\s*(?:([+-])\s*(.+))?", target, re.DOTALL)
            if t in taken or (source != ":" and (part is None or part[1] != source)) or (source == ":" != target):
                continue
            axes[d] = t
            taken.add(t)
            if part is not None and part[2]:
                offset = xmp.expression(directive, part[3])
                offsets[d] = offset if part[2] == "+" else f"-({offset})"
            break
        else:
            text = f"`{source}` of the array is in no dimension of the template"
            xmp.error(directive, text, "write * where an array is not divided: align a[i][*] with t[i]")
            return None
    for t, target in enumerate(targets):
        if t not in taken and target not in ("*", ":"):
            text = f"`{target}` of the template is no index of the array"
            xmp.error(directive, text, "write * where each node has a copy: align a[i] with t[*][i]")
            return None
    return Mapping(template, axes, offsets)


def variables_of(xmp: Xmp, directive: Directive, name: str) -> list[Denoted] | None:
    """Returns the variables that `tag.a` stands for: those of a structure, which are declared below this line; None if
    this is no structure."""
    root, _, member = name.partition(".")
    node = xmp.declared.struct(root) if member and xmp.unit.scopes.visible(root, directive.at) is None else None
    if node is None:
        return None
    out: dict[int, Denoted] = {}
    for denoted in xmp.unit.scopes.declarations():
        top = xmp.declared.top_of(denoted) if denoted.kind is Kind.OBJECT else None
        kind = xmp.declared.type_of_declarator(top) if top is not None else None
        if kind is None or kind.node != node:
            continue
        is_other = bool(kind.derived) or denoted.parameter
        if is_other or denoted.at < directive.at:
            text = "is no variable of the structure itself" if is_other else "is declared above its alignment"
            remedy = f"use variables of `{root}`, which are declared below the align of `{name}`"
            xmp.source.error(denoted.at, f"`{denoted.name}` {text}, and `{name}` is aligned", remedy)
            return []
        out.setdefault(denoted.entity.at, denoted)
    return list(out.values())


def add(xmp: Xmp, directive: Directive, name: str, how: Mapping) -> None:
    root, _, member = name.partition(".")
    variables = variables_of(xmp, directive, name)
    if variables is not None:
        for each in variables:
            add_variable(xmp, directive, f"{each.name}.{member}", each, how, tag=root)
        return
    denoted = xmp.unit.scopes.visible(root, directive.at) if re.fullmatch(r"\w+(\.\w+)?", name) else None
    add_variable(xmp, directive, name, denoted, how)


def add_variable(
    xmp: Xmp, directive: Directive, name: str, denoted: Denoted | None, how: Mapping, tag: str = ""
) -> None:
    root, _, member = name.partition(".")
    top = xmp.declared.top_of(denoted) if denoted is not None else None
    kind = xmp.declared.type_of_declarator(top) if top is not None else None
    of = kind
    if member and top is not None:
        kind = xmp.declared.member_of(kind, member) if not is_parameter(top.parent) else None
    if denoted is None or top is None or kind is None or (member and of is not None and of.derived):
        xmp.source.error(
            directive.place(root),
            f"`{name}` is no member of a variable" if member and of is not None else f"`{name}` is not declared",
            "align a member by the variable and its name: struct { double a[9]; } s; align s.a[i] with t[i]"
            if member
            else "declare the array above this line",
        )
        return
    parameter = is_parameter(top.parent)
    block = xmp.scope_of(directive)
    in_function = not parameter and not denoted.block and block is not None
    if block is not None and in_function and not is_used_here(xmp, directive, denoted.entity.at, name, block):
        return
    pointer = not parameter and kind.derived[:1] == (POINTER,)
    dims = kind.dims if not parameter and not pointer else 1 + next(
        (i for i, each in enumerate(kind.derived[1:]) if each != ARRAY), len(kind.derived) - 1
    )  # fmt: skip
    if dims != len(how.axes):
        text = f"`{name}` has {count(dims, 'dimension')}, and this alignment names {len(how.axes)}"
        xmp.source.error(directive.place(name), text, "name each: an index, or * where it is not divided")
        return
    if (denoted.entity.at, member) in xmp.aligned.all:
        xmp.source.error(directive.place(name), f"`{name}` is aligned already", "align it once")
        return
    value = initial(top)
    if member and value is None and not pointer and not is_taken_apart(xmp, directive, denoted.entity.at, name):
        return
    if value is not None and not (pointer and (member or is_allocation(value))):
        text = f"`{name}` is aligned and has a first value, of which each node would need its part"
        xmp.source.error(top.start_byte, text, "set it in a loop")
        return
    base = name if parameter or pointer or member else f"(*{PREFIX}{name})"
    made = Aligned(
        name,
        denoted.entity.at,
        denoted.at,
        dims,
        how.template,
        how.axes,
        how.offsets,
        "parameter" if parameter else "pointer" if pointer else "array",
        denoted.block,
        "static" in denoted.words,
        base + "[0]" * dims,
        last=directive,
        in_function=in_function,
        tag=tag,
    )
    xmp.aligned.all[made.key] = made


def is_used_here(xmp: Xmp, directive: Directive, entity: int, name: str, block: Node) -> bool:
    """Reports uses of an array outside of the block that aligns it, or above the directive: it has no part there."""
    remedy = "put nodes, template, distribute and align at file scope, below its declaration"
    if "." in name:
        text = f"`{name}` is declared outside of this function, and aligned in it"
        xmp.source.error(directive.place(name), text, remedy)
        return False
    for at, denoted in xmp.unit.scopes.uses():
        if denoted.entity.at != entity or at in (denoted.at, entity) or directive.end <= at < block.end_byte:
            continue
        where = "above this line" if block.start_byte <= at < directive.at else "outside of this block"
        text = f"`{name}` is used {where}, at line {xmp.source.place(at).line}: it is aligned here, in the block"
        xmp.source.error(directive.place(name), text, remedy)
        return False
    return True


def is_taken_apart(xmp: Xmp, directive: Directive, entity: int, name: str) -> bool:
    """Reports uses of a variable as a whole, which would not have the parts of its members."""
    for at, denoted in xmp.unit.scopes.uses():
        node = xmp.unit.root.descendant_for_byte_range(at, at + len(denoted.name) - 1)
        parent = node.parent if node is not None and denoted.entity.at == entity else None
        if parent is None or parent.type in ("field_expression", "sizeof_expression", "type_descriptor"):
            continue
        text = f"`{denoted.name}` is used as a whole, and {name} of it is aligned: each node has its part elsewhere"
        xmp.source.error(at, text, f"use {name}, or declare the member as a pointer and allocate it by xmp_malloc")
        return False
    return True


def is_allocation(value: Node) -> bool:
    """Returns true for a call of xmp_malloc, or a null pointer."""
    while value.type in ("cast_expression", "parenthesized_expression") and value.named_children:
        value = value.child_by_field_name("value") or value.named_children[-1]
    name = text_of(value.child_by_field_name("function")) if value.type == "call_expression" else text_of(value)
    return name in ("xmp_malloc", "xmp_malloc_at", "xmp_malloc_extents", "0", "NULL")


def shadow(xmp: Xmp, directive: Directive) -> None:
    xmp.write(directive, "")
    found = re.fullmatch(r"([\w.]*)\s*([\[(].*?)\s*(?:::\s*(.*))?", directive.words.strip(), re.DOTALL)
    parts = xmp.in_c_order(found[2]) if found is not None else None
    names = [found[1]] if found is not None and found[1] else split_list(found[3] or "") if found is not None else []
    if found is None or not parts or not names:
        xmp.error(directive, "cannot read this shadow", "write shadow a[1][1:2][0], or a[*]")
        return
    for name in names:
        root, _, member = name.strip().partition(".")
        arrays: list[Aligned | None] = [
            a for a in xmp.aligned.all.values() if member and (a.tag, a.member) == (root, member)
        ]
        for array in arrays or [known_array(xmp, directive, name.strip())]:
            if array is None:
                return
            if len(parts) != array.dims:
                text = f"`{array.name}` has {count(array.dims, 'dimension')}, and this shadow names {len(parts)}"
                xmp.error(directive, text, "give a width for each, or 0")
                return
            array.shadow = [shadow_of(xmp, directive, part) for part in parts]
            array.last = directive


def shadow_of(xmp: Xmp, directive: Directive, part: str) -> tuple[str, str]:
    if part == "*":
        return "XMP_REST", "0"
    low, *high = [xmp.expression(directive, word.strip() or "0") for word in part.split(":")]
    return low, high[0] if high else low


def known_array(xmp: Xmp, directive: Directive, name: str) -> Aligned | None:
    found = xmp.aligned.of_name(name, directive.at)
    if found is None:
        xmp.source.error(
            directive.place(name),
            f"`{name}` is no aligned array",
            f"write #pragma xmp align {name}[i] with t[i] before",
        )
    return found
