"""Spells declarations of a variable outside of its block: as a member, in another function, as a pointer's target.
Extents that are known only at run time are members, too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from .arithmetic import name_of
from .declarators import enclosing, initial, innermost
from .declared import ARRAY, POINTER, Declared, Type, is_parameter
from .scopes import Declaration as Denoted
from .scopes import Kind
from .shared import PREFIX, Rewriter, unevaluated
from .source import TYPEOF, Node, one_line, text_of, walk
from .text import spliced

GIVEN = f"{PREFIX}given"  # the argument of a task's function
STORAGE = re.compile(r"\b(?:static|extern|register|auto|_Thread_local|__thread|thread_local|inline|shared)\b")
AUTO_TYPE = re.compile(r"\b__auto_type\b")
CONST = re.compile(r"\b(?:const|__const|__const__)\b")


class How(Enum):
    """The form in which a task has a variable."""

    COPY = "a copy"
    OWN = "one of its own"
    ADDRESS = "its address"
    AGAIN = "declared again"


@dataclass
class Variable:
    name: str
    top: Node  # its declarator
    how: How
    array: bool
    specifiers: str
    shape: str  # the declarator, with {} for the name
    extents: list[str]  # those known at run time: each as an expression of the variable itself
    given: str = "{}"  # the task's expression for its argument

    @property
    def by_address(self) -> bool:
        return self.how is How.ADDRESS

    @property
    def renamed(self) -> str:
        return f"(*{PREFIX}{self.name})"

    def declared(self, name: str) -> str:
        return f"{self.specifiers} {self.shape.replace('{}', name)}"

    @property
    def members(self) -> str:
        """Returns the members of the struct that a task gets."""
        if self.how in (How.OWN, How.AGAIN):
            return ""
        is_pointer = self.by_address or self.extents
        own = f"void* {self.name};" if is_pointer else f"{self._writable(self.name)};"
        return own + "".join(f" unsigned long {PREFIX}{self.name}_{i};" for i in range(len(self.extents)))

    @property
    def values(self) -> list[str]:
        """Returns the initialisers of these members, at the creation of the task; {} stands for the variable."""
        out = [f".{PREFIX}{self.name}_{i} = {extent}" for i, extent in enumerate(self.extents)]
        if self.how in (How.OWN, How.AGAIN) or (self.array and not self.by_address):
            return out
        address = "(void*)&" if self.by_address else "(void*)" if self.extents else ""
        return [f".{self.name} = {address}{{}}", *out]

    @property
    def copied(self) -> str:
        """Returns the statements for data that an initialiser cannot copy."""
        if self.how is not How.COPY or not self.array:
            return ""
        return (
            f" __builtin_memcpy((void*)&{PREFIX}data.{self.name}, (const void*)&{{}}, sizeof {PREFIX}data.{self.name});"
        )

    @property
    def prologue(self) -> str:
        """Returns its declaration in the function of the task."""
        member = self.given.replace("{}", f"{GIVEN}->{self.name}")
        if self.how is How.AGAIN:
            return f"extern {self.declared(self.name)};"
        if self.how is How.OWN:
            return f"{self._writable(self.name)};"
        if self.by_address:
            return f"{self.declared(f'(*const {PREFIX}{self.name})')} = {member};"
        if self.array:
            filled = f"__builtin_memcpy((void*)&{self.name}, (const void*)&{member}, sizeof {self.name});"
            return f"{self._writable(self.name)}; {filled}"
        return f"{self.declared(self.name)} = {member};"

    def _writable(self, name: str) -> str:
        """Returns the declaration of an array that is filled after it."""
        text = self.declared(name)
        return CONST.sub("", text) if (self.array or self.how is How.OWN) and "*" not in text else text


class NotSpelledError(Exception):
    """The reason why an object of a block has no meaning outside of it."""


class Spelling:
    """Texts are those of the program, including parts that the C parser does not see."""

    def __init__(self, declared: Declared, rewriter: Rewriter) -> None:
        self.declared, self.rewriter = declared, rewriter
        self.text, self.original = rewriter.found.text, rewriter.source.text

    def variable(self, name: str, top: Node, how: How) -> Variable | str:
        """Returns the variable's description, or the reason why it cannot be captured."""
        holder = enclosing(top, "declaration", "parameter_declaration")
        identifier = innermost(top)
        kind = holder.child_by_field_name("type") if holder is not None else None
        of = self.declared.type_of_declarator(top)
        if holder is None or identifier is None or kind is None or of is None:
            return "its declaration cannot be read"
        words = set(re.findall(r"\w+", self.original[holder.start_byte : top.start_byte]))
        if how is How.ADDRESS and "register" in words:
            return "it is a register variable, which has no address"
        if kind.child_by_field_name("body") is not None and enclosing(holder, "function_definition") is not None:
            return "its type is declared in the function"
        if any(self.declared.made_in_block(n) is not None for n in walk(kind) if n.type.endswith("identifier")):
            return f"its type `{text_of(kind)}` is declared in the function"
        array = of.derived[:1] == (ARRAY,)
        if is_parameter(holder) and array:
            return "it is a parameter whose type hides that it is a pointer"
        try:
            specifiers = self._specifiers(holder, top)
            pieces, extents = self._shape(name, identifier, top, of, is_parameter(holder))
        except NotSpelledError as why:
            return str(why)
        if extents and array and how in (How.COPY, How.OWN):
            return "it is an array whose extent is known only at run time"
        hidden = "__auto_type" not in words and not of.derived and TYPEOF.search(specifiers) is not None
        return Variable(name, top, how, array or hidden, specifiers, pieces, extents)

    # ---- names of a block, used where they are not known ----

    def outside(self, begin: int, end: int, text: str = "") -> str:
        """Returns a part of a declaration, for a place outside of functions, where only types matter. Variables of
        the function become expressions of their types."""
        text = text or self.original
        edits = []
        for place, denoted in self.rewriter.scopes.between(begin, end):
            if begin <= denoted.at < end:
                continue
            shared = self.rewriter.resolve_name(denoted.name, place)
            if shared is not None:
                new = shared.renamed
            elif not denoted.block or denoted.entity is not denoted:
                continue
            elif denoted.kind is not Kind.OBJECT:
                raise NotSpelledError(f"`{denoted.name}`, which its declaration uses, is declared in the function")
            else:
                new = self._of_type(denoted)
            edits.append((place, place + len(denoted.name), new))
        return spliced(text, begin, end, edits)

    def _of_type(self, denoted: Denoted) -> str:
        """Returns an expression that is not evaluated."""
        top = self.declared.top_of(denoted)
        variable = self.variable(denoted.name, top, How.ADDRESS) if top is not None else ""
        if isinstance(variable, str) or variable.extents:
            raise NotSpelledError(
                f"its type follows from that of `{denoted.name}`, which is known in the function only"
            )
        return f"(*({variable.declared('(*)')})0)"

    def _specifiers(self, holder: Node, top: Node) -> str:
        """Returns the type of a declaration, without storage. __auto_type is replaced by the type of the value."""
        first = holder.child_by_field_name("declarator") or top
        words = STORAGE.sub("", self.outside(holder.start_byte, first.start_byte))
        if AUTO_TYPE.search(words) is not None:
            value = top.child_by_field_name("value")
            if value is None:
                raise NotSpelledError("its type is that of a value which is not there")
            if any(n.type == "compound_statement" for n in walk(value)):
                raise NotSpelledError("its type is that of a statement")
            text = self.outside(value.start_byte, value.end_byte)
            words = AUTO_TYPE.sub(lambda _: f"__typeof__(((void)0, {text}))", words)  # a comma makes pointers of arrays
        return one_line(words)

    def _shape(self, name: str, identifier: Node, top: Node, of: Type, parameter: bool) -> tuple[str, list[str]]:
        """Returns its declarator with {} for the name, and the extents that this block knows."""
        extents: list[str] = []
        value = initial(top)
        top = (top.child_by_field_name("declarator") if top.type == "init_declarator" else top) or top
        edits = [(identifier.start_byte, identifier.end_byte, "{}")]
        node, element, plain = identifier, "{}", True
        while node.id != top.id and node.parent is not None:
            node = node.parent
            size = node.child_by_field_name("size")
            if node.type == "array_declarator" and plain and parameter:
                edits = [(identifier.start_byte, node.end_byte, "(*{})")]
            elif node.type == "function_declarator" and plain and parameter:
                edits = [(identifier.start_byte, identifier.end_byte, "(*{})")]
            elif node.type == "array_declarator" and size is None and plain and value is not None:
                at = next(c.end_byte for c in node.children if c.type == "[")
                edits.append((at, at, count_of(value, of.inside())))
            elif node.type == "array_declarator" and size is not None and self._of_block(size):
                edits.append((size.start_byte, size.end_byte, f"{GIVEN}->{PREFIX}{name}_{len(extents)}"))
                extents.append(f"sizeof {element} / sizeof {element}[0]")
            if node.type in ("array_declarator", "pointer_declarator"):
                element += "[0]"
            plain = plain and node.type == "parenthesized_declarator"
        out, at = [], top.start_byte
        for begin, end, new in sorted(edits):
            out += [self.outside(at, begin, self.text), new]
            at = end
        return one_line("".join([*out, self.outside(at, top.end_byte, self.text)])), extents

    def _of_block(self, size: Node) -> bool:
        """Returns true if an extent needs the values of a block, not only types."""
        return any(
            denoted.block and denoted.entity is denoted and not unevaluated(self.text, at)
            for at, denoted in self.rewriter.scopes.between(size.start_byte, size.end_byte)
        )


def count_of(value: Node, element: Type | None) -> str:
    """Returns the number of elements of an array's first value."""
    items = [n for n in value.named_children if n.type != "comment"]
    number = element is not None and (name_of(element) is not None or element.derived[:1] == (POINTER,))
    braced = value.type == "initializer_list" and len(items) == 1 and number and element is not None
    text = items[0] if braced and element is not None and not element.derived else value
    if text.type in ("string_literal", "concatenated_string"):
        return f"sizeof({text_of(text)}) / sizeof({text_of(text)}[0])"
    plain = [n.type not in ("initializer_list", "initializer_pair") for n in items]
    nested = [n.type == "initializer_list" for n in items]
    if value.type != "initializer_list" or not items or not (all(nested) or (number and all(plain))):
        raise NotSpelledError("its extent is that of its first value: write it, as in [10]")
    return str(len(items))
