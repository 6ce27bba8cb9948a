"""Makes a statement a separate function: the variables that it needs of the function around it, and its position."""

from __future__ import annotations

import re

from .declarators import enclosing, is_extern
from .declared import FUNCTION, Declared
from .source import ATTRIBUTE, COMPLEX, Edit, Move, Node, Source, one_line, text_of, walk
from .spelling import GIVEN, How, Variable
from .text import quoted


def by_storage(declared: Declared, statement: Node, top: Node, how: How) -> How:
    """Returns the form of a variable: one that lives as long as the program has an address, or another declaration."""
    holder = enclosing(top, "declaration", "parameter_declaration")
    of = declared.type_of_declarator(top)
    if is_extern(holder) or (of is not None and of.derived[:1] == (FUNCTION,)):
        return How.AGAIN
    words = holder.named_children if holder is not None else []
    if any(word.type == "storage_class_specifier" and text_of(word) == "static" for word in words):
        return how if not Declared.is_local(top, statement) else How.ADDRESS
    return how


def refuse_types_of_block(source: Source, declared: Declared, statement: Node, of: str = "a task") -> None:
    """Types and enumerators of the function are not known at the new place of the body."""
    for node in walk(statement):
        if node.type not in ("type_identifier", "identifier"):
            continue
        made = declared.made_in_block(node)
        if made is not None and not statement.start_byte <= made < statement.end_byte:
            source.error(
                node.start_byte,
                f"`{text_of(node)}` is declared in the function, and the body of {of} is a function of its own",
                "declare it outside of the function",
            )
            return


def refuse_variable(source: Source, at: int, name: str, why: str, remedy: str, of: str = "task") -> None:
    source.error(at, f"the {of} cannot have `{name}`, because {why}", remedy)


def name_of(function: Node) -> str:
    found = re.search(r"([A-Za-z_]\w*)\s*\(", text_of(function.child_by_field_name("declarator")))
    return found[1] if found is not None else "function"


def move(
    source: Source,
    begin: tuple[int, int],
    statement: Node,
    function: Node,
    name: str,
    members: str,
    declared: str,
    others: str = "",
    last: str = "",
    edits: tuple[Edit, ...] = (),
) -> None:
    """The function is called `name`, and gets a struct of the same name with these members. `begin`: the begin and
    the end of the directive; `declared`, `last`: the first and the last text in the body; `others`: functions that get
    the struct, too; `edits`: those of the body alone."""
    at = beginning(source, function)
    here, there = source.place(begin[0]), source.place(at)
    head = f"static void {name}(void* hiroba_argument) {{"
    struct = ""
    if members:
        struct = f"struct {name} {{ {members} }}; "
        head += f" const struct {name}* const {GIVEN} = hiroba_argument;"
    else:
        head += " (void)hiroba_argument;"
    before = (
        f"\n# {here.line} {quoted(here.file)}\n{prototype(source, function, statement)}{struct}{others}{head}{declared}"
    )
    end = statement.end_byte - 1
    line = source.place(begin[1]).line
    source.moves.append(
        Move(
            at,
            begin[1],
            end,
            f"{before}\n# {line} {quoted(here.file)}\n",
            f"{source.text[end]}{last} }}\n# {there.line} {quoted(there.file)}\n",
            edits,
        )
    )


def beginning(source: Source, function: Node) -> int:
    """Returns the begin of a function, including text that the parser has not seen."""
    before = function.prev_sibling
    unseen = (ATTRIBUTE, COMPLEX)
    begin, end = before.end_byte if before is not None else 0, function.start_byte
    found = [first.start() for pattern in unseen if (first := pattern.search(source.text, begin, end))]
    return min([*found, end])


def prototype(source: Source, function: Node, statement: Node) -> str:
    """Returns a declaration of the function around it, if the body calls that."""
    name, body = name_of(function), function.child_by_field_name("body")
    uses = any(n.type == "identifier" and text_of(n) == name for n in walk(statement))
    if not uses or body is None:
        return ""
    return one_line(source.text[function.start_byte : body.start_byte]) + "; "


def given(name: str, values: list[str], variables: list[tuple[Variable, str]]) -> str:
    """Returns C that declares `hiroba_data`, the function's argument: its own values, and variables, each with its
    spelling at the place."""
    copied = ""
    for variable, own in variables:
        values = [*values, *(value.replace("{}", own) for value in variable.values)]
        copied += variable.copied.replace("{}", own)
    first = f" = {{{', '.join(values)}}}" if values else ""
    return f"struct {name} hiroba_data{first};{copied}"
