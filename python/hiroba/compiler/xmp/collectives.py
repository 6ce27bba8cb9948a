"""#pragma xmp for all images of a set together: barrier, reduction, bcast, gmove; and async(id)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..core.arithmetic import name_of
from ..core.declared import POINTER, is_parameter
from ..core.found import Directive
from ..core.operators import REDUCTIONS
from ..core.source import bare, text_of
from ..core.text import quoted, split_list
from .aligned import Aligned
from .arrays import Arrays
from .lowering import Gmove
from .moves import GlobalMoves, shared_of
from .part import Xmp
from .references import Reference
from .types import type_code
from .words import NO_NODES, Clauses


def barrier(xmp: Xmp, directive: Directive) -> None:
    clauses = xmp.clauses(directive, directive.words)
    on = clauses.on != NO_NODES
    on_nodes = f"{clauses.on}, " if on else ""
    call = f"xmp_barrier_{'on' if on else 'at'}({on_nodes}{xmp.place(directive)});"
    xmp.call(directive, call)


def wait_async(xmp: Xmp, directive: Directive) -> None:
    arguments, rest = xmp.arguments(directive)
    on = xmp.clauses(directive, rest).on
    if not any(arguments):
        xmp.error(directive, "#pragma xmp wait_async names no number of an async", "write wait_async(1)")
        return
    ids = ", ".join(xmp.expression(directive, a) for a in arguments)
    place = xmp.place(directive)
    xmp.call(directive, f"xmp_wait_async({len(arguments)}, (const int64_t[]){{{ids}}}, {on}, {place});")


def call_or_start(xmp: Xmp, directive: Directive, call: str, arguments: str, clauses: Clauses) -> str:
    """Returns a call, or its form with async(id)."""
    if not clauses.id:
        return f"{call}({arguments});"
    return f'xmp_async(xmp_id, {call}_start({arguments}), "{directive.name}", {xmp.place(directive)});'


def write_calls(xmp: Xmp, directive: Directive, calls: list[str], clauses: Clauses) -> None:
    before = [f"const int64_t xmp_id = {clauses.id};"] if clauses.id else []
    xmp.call(directive, calls[0] if len(calls + before) == 1 else f"{{ {' '.join([*before, *calls])} }}")


# ---- data of several images ----


def reduction(xmp: Xmp, directive: Directive) -> None:
    arguments, rest = xmp.arguments(directive)
    clauses = xmp.clauses(directive, rest)
    calls, operator = [], ""
    for argument in join_locations(arguments):
        copies = copies_of(xmp, directive, argument)
        if copies is not None:
            found, array = copies
            operator = found or operator
            if operator not in REDUCTIONS or operator.startswith(("first", "last")):
                name = f"`{operator}` of `{array.name}`" if operator else f"a reduction of `{array.name}`"
                xmp.error(directive, f"{name}, an aligned array", "write reduction(max:a), or another operator of it")
                return
            calls.append(copied(xmp, directive, array, "reduction", REDUCTIONS[operator].xmp, clauses))
            continue
        made = reduced(xmp, directive, operator, argument)
        if made is None:
            return
        operator = made.operator
        calls.append(reduction_call(xmp, directive, made, clauses))
    if not calls:
        xmp.error(directive, "this reduction names no variable", "write reduction(+:x)")
        return
    write_calls(xmp, directive, calls, clauses)


def copies_of(xmp: Xmp, directive: Directive, argument: str) -> tuple[str, Aligned] | None:
    """Reads `+: a`, or `a` alone, if a is an aligned array."""
    found = re.fullmatch(r"\s*(?:([-+*&|^]+|\w+)\s*:)?\s*(\w+(?:\s*\.\s*\w+)?)\s*", argument)
    array = xmp.aligned.of_name("".join(found[2].split()), directive.at) if found is not None else None
    return ((found[1] or "").lower(), array) if found is not None and array is not None else None


def copied(xmp: Xmp, directive: Directive, array: Aligned, name: str, operator: str, clauses: Clauses) -> str:
    """Returns the C of a reduction or bcast of an aligned array, of which the nodes have copies."""
    place, size = xmp.place(directive), f"sizeof {array.element}"
    own = f"const xmp_section xmp_own = xmp_copies(&{array.descriptor}, {clauses.on}, {quoted(name)}, {place});"
    if name == "bcast":
        call, words = "xmp_bcast", f"&xmp_own, {size}, {clauses.from_}, {clauses.on}, {place}"
    else:
        call = "xmp_reduction_section"
        words = f"&xmp_own, {size}, {type_code(array.element)}, {operator}, {clauses.on}, {place}"
    return f"{{ {own} {call_or_start(xmp, directive, call, words, clauses)} }}"


@dataclass(frozen=True)
class Reduced:
    """A variable of a reduction, as C."""

    operator: str  # as written, in lower case
    text: str
    address: str
    count: str
    type: str
    is_array: bool
    locations: list[str]

    @property
    def code(self) -> str:
        return REDUCTIONS[self.operator].xmp

    @property
    def is_located(self) -> bool:
        return self.operator.startswith(("first", "last"))


def reduced(xmp: Xmp, directive: Directive, operator: str, argument: str) -> Reduced | None:
    """Reads `max: v / i, j /`, or a variable alone, which has the operator of the one before."""
    found = re.match(r"\s*([-+*&|^]+|\w+)\s*:(?!\s*\[)", argument)
    if found is not None:
        operator, argument = found[1].lower(), argument[found.end() :]
    if operator not in REDUCTIONS:
        xmp.error(
            directive,
            f"`{operator}` is no operator of a reduction" if operator else "this reduction has no operator",
            f"write reduction(+:x) with one of {' '.join(REDUCTIONS)}",
        )
        return None
    text, *locations = argument.strip().strip("/ ").split("/")
    variable = xmp.variable(directive, text)
    if variable is None:
        return None
    lowering, ref = variable
    if ref.remote or any(step.section is not None for step in ref.steps):
        xmp.error(directive, f"`{text}` in a reduction", "name a variable or an array as a whole, on this image")
        return None
    if not is_own(xmp, directive, lowering, ref, text):
        return None
    element = lowering.of_element(ref) if ref.rank else lowering.element(ref)
    whole = lowering.render(ref.node)
    number = f"(int64_t)(sizeof {whole} / sizeof {element})"
    sizes = sizes_of_parameter(xmp, lowering, ref)
    if sizes:
        element = whole + "[0]" * len(sizes)
        number = f"(int64_t)({sizes[0]}) * (int64_t)(sizeof {whole}[0] / sizeof {element})"
    elif not ref.rank and ref.type is not None and ref.type.derived[:1] == (POINTER,):
        xmp.error(directive, f"`{text}` in this {directive.name} is a pointer", "name an array, or one element: p[0]")
        return None
    names = [location(xmp, directive, n) for n in split_list(locations[0]) if n] if locations else []
    if names and operator in ("max", "min"):
        operator = f"first{operator}"
    is_array = ref.rank > 0 or bool(sizes)
    return Reduced(operator, whole, f"&{element}", number, type_code(element, name_of(ref.type)), is_array, names)


def sizes_of_parameter(xmp: Xmp, lowering: Arrays, ref: Reference) -> list[str]:
    """Returns the extents that a parameter is declared with, `double a[n][m]`; nothing of others."""
    denoted = xmp.declared.denoted(bare(ref.root), lowering.anchor) if not ref.steps else None
    top = xmp.declared.top_of(denoted) if denoted is not None else None
    out: list[str] = []
    part = top if top is not None and is_parameter(top.parent) else None
    while part is not None and part.type == "array_declarator":
        out.insert(0, text_of(part.child_by_field_name("size")))
        part = part.child_by_field_name("declarator")
    return out if part is not None and part.type == "identifier" and all(out) else []


def is_own(xmp: Xmp, directive: Directive, lowering: Arrays, ref: Reference, text: str) -> bool:
    """Reports what nodes have together: then their values are one, or have one owner."""
    array = xmp.aligned.of_chain(ref.node, lowering)
    if array is not None and any(map(array.is_divided, range(array.dims))):
        text = f"`{text}` in this {directive.name} is of an aligned array, of which each node has a part"
    elif ref.shared is not None and not ref.shared.codims:
        text = f"`{text}` in this {directive.name} is shared: it is the same one on all nodes"
    else:
        return True
    xmp.error(directive, text, "reduce a variable of each node, and assign its value afterwards")
    return False


def location(xmp: Xmp, directive: Directive, text: str) -> str:
    """Returns a variable in which a location is, or `k[1:2]` as an array."""
    variable = xmp.variable(directive, text)
    if variable is None:
        return "0"
    lowering, ref = variable
    sections = [i for i, step in enumerate(ref.steps) if step.section is not None]
    if not sections and not ref.remote:
        return lowering.render(ref.node)
    base, length, by = lowering.parts(ref, sections[0]) if sections else ("", "", "")
    if ref.remote or sections != [len(ref.steps) - 1] or by != "1":
        xmp.error(
            directive, f"location `{text}` is not in one piece", "name a variable, or consecutive elements: k[0:2]"
        )
        return "0"
    indices = ["" if s.member else lowering.index(ref, i, s) for i, s in enumerate(ref.steps[:-1])]
    array = lowering.local(ref, [*indices, ""], len(indices))
    if length == "XMP_REST":
        length = f"sizeof {array} / sizeof {array}[0] - ({base or 0})"
    return f"(*(__typeof__({array}[0]) (*)[{length}])&{array}[{base or 0}])"


def reduction_call(xmp: Xmp, directive: Directive, made: Reduced, clauses: Clauses) -> str:
    head = f"{made.address}, {made.count}, {made.type}, {made.code}"
    behind = f"{clauses.on}, {xmp.place(directive)}"
    if not made.locations:
        return call_or_start(xmp, directive, "xmp_reduction", f"{head}, {behind}", clauses)
    table = [f"{{&{name}, sizeof {name} / (size_t){made.count}}}" for name in made.locations]
    places = f"(const xmp_location[]){{{', '.join(table)}}}, {len(table)}"
    return call_or_start(xmp, directive, "xmp_reduction_locate", f"{head}, {places}, {behind}", clauses)


def bcast(xmp: Xmp, directive: Directive) -> None:
    arguments, rest = xmp.arguments(directive)
    clauses = xmp.clauses(directive, rest)
    calls = []
    for argument in arguments:
        copies = copies_of(xmp, directive, argument)
        if copies is not None:
            calls.append(copied(xmp, directive, copies[1], "bcast", "", clauses))
            continue
        found = xmp.variable(directive, argument)
        if found is None:
            return
        lowering, ref = found
        if ref.remote:
            xmp.error(directive, f"`{argument}` in a bcast is on one image", "name it without its image")
            return
        if not ref.regular:
            xmp.error(directive, f"`{argument}` has a pointer behind a range", "broadcast in a loop over that range")
            return
        section = lowering.prepare(ref)
        element = lowering.of_element(ref)
        what = f"{lowering.section(section)}, sizeof {element}"
        what += f", {clauses.from_}, {clauses.on}, {xmp.place(directive)}"
        calls.append(" ".join([*section.before, call_or_start(xmp, directive, "xmp_bcast", what, clauses)]))
    if not calls:
        xmp.error(directive, "this bcast names no variable", "write bcast(x)")
        return
    write_calls(xmp, directive, [f"{{ {call} }}" for call in calls], clauses)


def gmove(xmp: Xmp, directive: Directive) -> None:
    found = re.match(r"(in|out)\b\s*", directive.words, re.IGNORECASE)
    mode = found[1].upper() if found is not None else ""
    clauses = xmp.clauses(directive, directive.words[found.end() if found is not None else 0 :])
    statement = xmp.statements.statement(directive)
    if statement is None:
        return
    move = statement.named_children[0] if statement.named_children else statement
    if move.type != "assignment_expression":
        xmp.error(
            directive, "gmove stands above an assignment", "write for example #pragma xmp gmove above a[:] = b[:];"
        )
        return
    left = move.child_by_field_name("left")
    if left is not None and shared_of(xmp, left) is not None:
        xmp.unit.covered.append((statement.start_byte, statement.end_byte))  # one node writes an element
    xmp.lowering.aligned_gmove = GlobalMoves(xmp).gmove
    xmp.lowering.gmoves[move.start_byte] = Gmove("XMP_GMOVE" + f"_{mode}" * bool(mode), clauses.id)
    xmp.source.replace(directive.at, directive.end, "")


def join_locations(arguments: list[str]) -> list[str]:
    """`max: v / i, j /` is one argument."""
    out: list[str] = []
    for argument in arguments:
        if out and out[-1].count("/") == 1:
            out[-1] += "," + argument
        else:
            out.append(argument)
    return out
