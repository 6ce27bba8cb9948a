"""#pragma xmp that all images of a set obey together: barrier, reduction, bcast, gmove; and async(id)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .arithmetic import name_of, type_code
from .lowering import Gmove
from .notation import Directive, split_list
from .xmp_words import NO_NODES, Clauses, XmpWords

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


@dataclass
class XmpCollectives(XmpWords):
    def _barrier(self, directive: Directive) -> None:
        clauses = self._clauses(directive, directive.words, ("on",))
        on = clauses.on != NO_NODES
        on_nodes = f"{clauses.on}, " if on else ""
        call = f"xmp_barrier_{'on' if on else 'at'}({on_nodes}{self._place(directive)});"
        self._call(directive, call)

    def _wait_async(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        on = self._clauses(directive, rest, ("on",)).on
        if not any(arguments):
            self._error(directive, "#pragma xmp wait_async names no number of an async", "write wait_async(1)")
            return
        ids = ", ".join(self.expression(directive, a) for a in arguments)
        place = self._place(directive)
        self._call(directive, f"xmp_wait_async({len(arguments)}, (const int64_t[]){{{ids}}}, {on}, {place});")

    def _started(self, directive: Directive, call: str, arguments: str, clauses: Clauses) -> str:
        """A call, or what it becomes by async(id)."""
        if not clauses.id:
            return f"{call}({arguments});"
        return f'xmp_async(xmp_id, {call}_start({arguments}), "{directive.name}", {self._place(directive)});'

    def _calls(self, directive: Directive, calls: list[str], clauses: Clauses) -> None:
        before = [f"const int64_t xmp_id = {clauses.id};"] if clauses.id else []
        self._call(directive, calls[0] if len(calls + before) == 1 else f"{{ {' '.join([*before, *calls])} }}")

    # ---- data of several images ----

    def _reduction(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        clauses = self._clauses(directive, rest, ("on", "async"))
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
            calls.append(self._reduce(directive, operator, argument.strip(), clauses))
        if not calls:
            self._error(directive, "this reduction names no variable", "write reduction(+:x)")
            return
        self._calls(directive, calls, clauses)

    def _reduce(self, directive: Directive, operator: str, text: str, clauses: Clauses) -> str:
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
        behind = f"{clauses.on}, {self._place(directive)}"
        if not locations:
            return self._started(directive, "xmp_reduction", f"{head}, {behind}", clauses)
        names = [n for n in split_list(locations[0]) if n]
        table = []
        for name in names:
            location = self.expression(directive, name)
            table.append(f"{{&{location}, sizeof {location} / (size_t){count}}}")
        places = f"(const xmp_location[]){{{', '.join(table)}}}, {len(names)}"
        return self._started(directive, "xmp_reduction_locate", f"{head}, {places}, {behind}", clauses)

    def _bcast(self, directive: Directive) -> None:
        arguments, rest = self._arguments(directive)
        clauses = self._clauses(directive, rest, ("from", "on", "async"))
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
            what = f"{lowering.section(section)}, sizeof {element}"
            what += f", {clauses.from_}, {clauses.on}, {self._place(directive)}"
            calls.append(" ".join([*section.before, self._started(directive, "xmp_bcast", what, clauses)]))
        if not calls:
            self._error(directive, "this bcast names no variable", "write bcast(x)")
            return
        self._calls(directive, [f"{{ {call} }}" for call in calls], clauses)

    def _gmove(self, directive: Directive) -> None:
        found = re.match(r"(in|out)\b\s*", directive.words, re.IGNORECASE)
        mode = found[1].upper() if found is not None else ""
        clauses = self._clauses(directive, directive.words[found.end() if found is not None else 0 :], ("async",))
        statement = self._statement(directive)
        if statement is None:
            return
        move = statement.named_children[0] if statement.named_children else statement
        if move.type != "assignment_expression":
            self._error(
                directive, "gmove stands above an assignment", "write for example #pragma xmp gmove above a[:] = b[:];"
            )
            return
        self.lowering.gmoves[move.start_byte] = Gmove("XMP_GMOVE" + f"_{mode}" * bool(mode), clauses.id)
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
