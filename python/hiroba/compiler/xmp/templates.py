"""#pragma xmp template and distribute: the indices that arrays and loops are aligned with, divided among nodes.

Dimensions are kept in C's order, in which the last changes fastest; t(i,j) is written in the other one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..core.declared import ARRAY, POINTER
from ..core.found import Directive
from ..core.shared import PREFIX, at_start
from ..core.source import Source, one_line
from ..core.text import asserted, quoted
from .references import count
from .sections import lift
from .words import Template, XmpWords, by_name, number_or, one_by_one

FORMATS = {"block": "XMP_BLOCK", "cyclic": "XMP_CYCLIC", "gblock": "XMP_GBLOCK", "*": "XMP_NOT_DISTRIBUTED"}
MAX_DIMS = 7


def known_template(xmp: XmpWords, directive: Directive, name: str) -> Template | None:
    """Returns a template that is distributed; else reports an error."""
    found = xmp.find_template(name, directive.at)
    if found is None:
        xmp.source.error(
            directive.place(name), f"`{name}` is no template", f"declare it before: #pragma xmp template {name}[100]"
        )
    elif not found.formats:
        xmp.source.error(
            directive.place(name),
            f"template `{name}` is not distributed before this line",
            f"write #pragma xmp distribute {name}[block] onto p above it",
        )
        return None
    return found


def template(xmp: XmpWords, directive: Directive) -> None:
    for each in one_by_one(directive.words):
        found = re.fullmatch(r"(\w+)\s*([\[(].*)", each.strip(), re.DOTALL)
        parts = xmp.in_c_order(found[2]) if found is not None else None
        if found is None or not parts or len(parts) > MAX_DIMS:
            xmp.error(
                directive, f"cannot read the template `{each.strip()}`", "write t[100], t[0:100][0:50] or t(0:99,0:49)"
            )
            return
        open_ = [part in (":", "") for part in parts]
        round_ = found[2].startswith("(")
        name = f"{PREFIX}template_{found[1]}"
        pairs = [
            (f"{name}.lower[{d}]", f"{name}.extent[{d}]") if open_[d] else bounds(xmp, directive, part, round_)
            for d, part in enumerate(parts)
        ]
        anchor = xmp.anchor(directive)
        known = [(xmp.known(p[0], anchor), xmp.known(p[1], anchor)) for p in pairs]
        scope = xmp.scope_of(directive)
        end = scope.end_byte if scope is not None else len(xmp.source.text)
        in_block = scope is not None
        if any(each.name == found[1] and each.end == end for each in xmp.templates):
            text = f"template `{found[1]}` is declared already"
            xmp.source.error(directive.place(found[1]), text, "give it another name")
            return
        made = Template(
            found[1],
            directive.at,
            end,
            round_,
            [p[0] for p in pairs],
            [p[1] for p in pairs],
            in_block,
            known,
            any(open_),
        )
        xmp.templates.append(made)
        xmp.write(directive, f"static xmp_template {made.variable} __attribute__((unused));")


def bounds(xmp: XmpWords, directive: Directive, part: str, round_: bool) -> tuple[str, str]:
    """Returns the lower bound and the number of indices: of (lb:ub), or of [base:length]."""
    whole = f"a[{part}]"
    section = lift(Source(whole), whole).sections.get(1)
    if section is None:
        return ("1" if round_ else "0"), xmp.expression(directive, part)
    first, last = [whole[p.begin : p.end].strip() for p in section.parts][:2]
    lower = xmp.expression(directive, first) if first else "0"
    upper = xmp.expression(directive, last) if last else "0"
    return lower, f"({upper}) - ({lower}) + 1" if round_ else upper


def distribute(xmp: XmpWords, directive: Directive) -> None:
    for words in by_name(directive.words):
        distribute_one(xmp, directive, words)


def distribute_one(xmp: XmpWords, directive: Directive, words: str) -> None:
    found = re.fullmatch(r"(\w+)\s*([\[(].*?)\s*\bonto\s+(\w+)", words.strip(), re.DOTALL | re.IGNORECASE)
    parts = xmp.in_c_order(found[2]) if found is not None else None
    if found is None or not parts:
        xmp.error(directive, "cannot read this distribution", "write distribute t[block][cyclic(2)][*] onto p")
        return
    name, onto = found[1], found[3]
    made = xmp.find_template(name, directive.at)
    nodes = xmp.find_nodes(onto, directive.at)
    if made is None:
        known_template(xmp, directive, name)
        return
    if nodes is None:
        xmp.unknown_nodes(directive, onto)
        return
    if made.formats:
        xmp.error(directive, f"template `{name}` is distributed already", "declare another template")
        return
    if len(parts) != made.dims:
        text = f"`{name}` has {count(made.dims, 'dimension')}, and this names {count(len(parts), 'format')}"
        xmp.error(directive, text, "give a format for each: block, cyclic, cyclic(n) or *")
        return
    divided = sum(part != "*" for part in parts)
    if divided != nodes.dims:
        text = f"{divided} dimensions of `{name}` are divided, and node array `{onto}` has {nodes.dims}"
        xmp.error(directive, text, "divide as many dimensions as the node array has, and give * for the others")
        return
    formats = [format_of(xmp, directive, part) for part in parts]
    known = [f for f in formats if f is not None]
    if len(known) < len(formats):
        return
    made.formats, made.widths = [f.word for f in known], [f.width for f in known]
    made.divisions = [f.division for f in known]
    made.later = made.later or any(f.is_open for f in known)
    made.onto = onto
    xmp.write(directive, define(xmp, directive, made))


@dataclass(frozen=True)
class Format:
    """How a dimension is divided."""

    word: str
    width: str  # of cyclic and block(n), in C; of gblock the array of sizes as written
    division: str  # C

    @property
    def is_open(self) -> bool:
        return self.word == "gblock" and self.width == "*"


def format_of(xmp: XmpWords, directive: Directive, text: str) -> Format | None:
    found = re.fullmatch(r"(\*|block|cyclic|gblock)\s*(?:\((.*)\))?", text, re.DOTALL | re.IGNORECASE)
    word = found[1].lower() if found is not None else ""
    if found is None or (word == "*" and found[2]) or (word == "gblock" and not found[2]):
        remedy = "write block, block(n), cyclic, cyclic(n), gblock(sizes) or *"
        xmp.error(directive, f"`{text}` is no format of a distribution", remedy)
        return None
    width = found[2].strip() if found[2] else "1" if word == "cyclic" else ""
    if word != "gblock":
        width = xmp.expression(directive, width) if width else ""
        number = f"({width}) < 1 ? -1 : ({width})" if word == "block" and width else width or "0"
        return Format(word, width, f"{{{FORMATS[word]}, {number}, (void*)0, 0, 0}}")
    if width == "*":
        return Format(word, width, f"{{{FORMATS[word]}, 0, (void*)0, 0, 0}}")
    fragment = xmp.fragment(directive, width)
    if fragment is None:
        return None
    lowering, node = fragment
    kind, sizes = lowering.reader.type_of(node), lowering.render(node)
    if kind is None or kind.derived not in ((ARRAY,), (POINTER,)) or re.search(r"\b(double|float)\b", kind.base):
        xmp.error(directive, f"`{width}` in gblock is no array of integers", "name one: int m[4], one size per node")
        return None
    many = f"(int64_t)(sizeof {sizes} / sizeof *{sizes})" if kind.derived == (ARRAY,) else "XMP_REST"
    return Format(word, width, f"{{{FORMATS[word]}, 0, {sizes}, {many}, (int)sizeof *{sizes}}}")


def define(xmp: XmpWords, directive: Directive, made: Template) -> str:
    is_open = [text.startswith(made.variable) for text in made.extent]
    lower = ["0" if open_ else text for open_, text in zip(is_open, made.lower, strict=True)]
    extent = ["0" if open_ else text for open_, text in zip(is_open, made.extent, strict=True)]
    anchor = xmp.anchor(directive)
    text = (
        f"{made.variable} = (xmp_template){{.name = {quoted(made.name)}, .place = {xmp.place(directive)},"
        f" .dims = {made.dims}, .lower = {{{', '.join(lower)}}}, .extent = {{{', '.join(extent)}}},"
        f" .onto = &{PREFIX}nodes_{made.onto}, .division = {{{', '.join(made.divisions)}}},"
        f" .later = {int(made.later)}, .first_fastest = {int(made.round)}}}; xmp_template_define(&{made.variable});"
    )
    checks = []
    for d, (word, width) in enumerate(zip(made.formats, made.widths, strict=True)):
        if word in ("block", "cyclic") and width:
            words = f"{word}({width}) has blocks of less than one index"
            checks.append(asserted(f"(({xmp.folded(width, anchor)}) >= 1)", words))
        if not is_open[d]:
            words = f"dimension {d + 1} of template {made.name} has no index"
            checks.append(asserted(f"(({number_or(made.known[d][1], extent[d])}) >= 1)", words))
    text = " ".join([*checks, text])
    return text if made.in_block else at_start(f"template_{made.name}", one_line(text))


def template_fix(xmp: XmpWords, directive: Directive) -> None:
    """Gives extents, and the sizes of gblock, to a template that was declared without them."""
    found = re.fullmatch(
        r"((?:\[[^\[\]]*\]\s*)*|\(.*?\)\s*)(?<!\w)(\w+)\s*([\[(].*)?", directive.words.strip(), re.DOTALL
    )
    if found is None:
        xmp.error(directive, "cannot read this template_fix", "write template_fix t[n], or template_fix[block] t[n]")
        return
    made = known_template(xmp, directive, found[2])
    if made is None or not made.formats:
        return
    if not made.later:
        xmp.error(directive, f"template `{made.name}` has its extents already", f"declare it without: {made.name}[:]")
        return
    parts = xmp.in_c_order(found[3] or "")
    formats = xmp.in_c_order(found[1])
    for what, given in (("extents", parts), ("formats", formats)):
        if given is None or (given and len(given) != made.dims):
            names = count(len(given or []), what[:-1])
            text = f"`{made.name}` has {count(made.dims, 'dimension')}, and this names {names}"
            xmp.error(directive, text, "give one for each dimension, or none at all")
            return
    round_ = (found[3] or "").startswith("(")
    pairs = [bounds(xmp, directive, part, round_) for part in parts or []]
    divisions = fixed_divisions(xmp, directive, made, formats or [])
    if divisions is None:
        return
    columns = [f"(const int64_t[]){{{', '.join(p[i] for p in pairs)}}}" if pairs else "(void*)0" for i in (0, 1)]
    table = f"(const xmp_division[]){{{', '.join(divisions)}}}" if divisions else "(void*)0"
    xmp.call(
        directive, f"xmp_template_fix(&{made.variable}, {columns[0]}, {columns[1]}, {table}, {xmp.place(directive)});"
    )


def fixed_divisions(xmp: XmpWords, directive: Directive, made: Template, texts: list[str]) -> list[str] | None:
    out = []
    for d, text in enumerate(texts):
        made_of = format_of(xmp, directive, text)
        if made_of is None:
            return None
        is_other = made_of.word != made.formats[d] or made_of.is_open
        if made_of.word != "gblock" and made_of.width != made.widths[d]:
            values = [xmp.known(width, xmp.anchor(directive)) for width in (made_of.width, made.widths[d])]
            is_other = (
                is_other or not made_of.width or not made.widths[d] or (None not in values and len(set(values)) > 1)
            )
        if is_other:
            message = f"`{text}` is given for a dimension of `{made.name}` that is distributed by {made.shown(d)}"
            xmp.error(directive, message, "repeat the format of distribute; only gblock(*) gets its sizes here")
            return None
        out.append(made_of.division)
    return out


def template_range(xmp: XmpWords, directive: Directive, made: Template, text: str) -> list[tuple[str, str]] | None:
    """Returns first index and count for each dimension of `t[1][*]`, `t(1:3,:)`; `XMP_REST` for all of it."""
    parts = xmp.in_c_order(text)
    if parts is None or (parts and len(parts) != made.dims):
        xmp.error(
            directive,
            f"`{made.name}{text}` does not fit to template `{made.name}`, which has {made.dims} dimensions",
            "give an index, a range or * for each",
        )
        return None
    round_ = text.startswith("(")
    out = []
    for part in parts or ["*"] * made.dims:
        whole = f"a[{part}]"
        section = lift(Source(whole), whole).sections.get(1)
        if part in ("*", ":", ""):
            out.append(("0", "XMP_REST"))
        elif section is None:
            out.append((xmp.expression(directive, part), "1"))
        else:
            first, last, *step = [whole[p.begin : p.end].strip() for p in section.parts]
            if step and step[0] not in ("", "1"):
                xmp.error(directive, f"a part of template `{made.name}` has a step", "name all of the range")
                return None
            d = len(out)
            begin = xmp.expression(directive, first) if first else made.lower[d]
            end = (
                xmp.expression(directive, last) if last else f"{made.variable}.lower[{d}] + {made.variable}.extent[{d}]"
            )
            inclusive = round_ and bool(last)
            length = end if last and not round_ else f"({end}) - ({begin}){' + 1' * inclusive}"
            out.append((begin, length))
    anchor = xmp.anchor(directive)
    for d, (least, many) in enumerate((xmp.known(begin, anchor), xmp.known(length, anchor)) for begin, length in out):
        if least is not None and many is not None and many > 0:
            check_indices(xmp, directive, made, d, least, least + many - 1)
    return out


def check_indices(xmp: XmpWords, directive: Directive, made: Template, d: int, first: int, last: int) -> None:
    """Reports indices that are not those of a dimension of a template, if its bounds are numbers."""
    low, extent = made.known[d]
    if low is None or extent is None or low <= first <= last < low + extent:
        return
    which = f"index {first}" if first == last else f"the indices {first}..{last}"
    text = f"{which} of dimension {d + 1} of template `{made.name}`, which has {low}..{low + extent - 1}"
    xmp.error(directive, text, "name indices that it has, or make the template larger")


def ranges_text(ranges: list[tuple[str, str]]) -> str:
    return f"(const xmp_template_range[]){{{', '.join(f'{{{a}, {b}}}' for a, b in ranges)}}}"


def nodes_of(xmp: XmpWords, directive: Directive, made: Template, text: str) -> str:
    """Returns the nodes of a part of a template, for `on`."""
    if not made.formats:
        known_template(xmp, directive, made.name)
        return "(const xmp_node_reference*)0"
    ranges = template_range(xmp, directive, made, text)
    if ranges is None:
        return "(const xmp_node_reference*)0"
    return f"xmp_template_nodes(&{made.variable}, {ranges_text(ranges)}, {xmp.place(directive)})"
