"""The clauses of #pragma hiroba: accesses, values, and the form of a task's variables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ..core.clauses import clauses_of
from ..core.found import Directive
from ..core.notation import meant
from ..core.operators import OF_OPENMP
from ..core.source import Source
from ..core.text import split_at_colon, split_list

MODES = {
    "in": "HIROBA_IN",
    "out": "HIROBA_OUT",
    "inout": "HIROBA_INOUT",
    "commutative": "HIROBA_COMMUTATIVE",
    "concurrent": "HIROBA_CONCURRENT",
}
DEPEND = {**MODES, "mutexinoutset": "HIROBA_COMMUTATIVE", "inoutset": "HIROBA_CONCURRENT"}
REDUCTIONS = ("reduction", "in_reduction")
VALUES = ("on", "priority", "if", "label", "grainsize")
VARIABLES = ("firstprivate", "private", "shared")
MOST_ACCESSES = 16
# Words of OpenMP and OmpSs-2, and their replacement.
WEAK = ("is for tasks whose children use the data", "name it without `weak`: a task ends after its children")
ABSENT = {
    **{f"weak{mode}": WEAK for mode in MODES},
    "final": ("is no clause of a task here", "take if(..): where it is 0, the program waits for the task"),
    "default": ("is no clause of a task here", "name variables in shared(..); all others are copied"),
    "untied": ("is no clause of a task here", "leave it out: a task stays in its thread"),
    "mergeable": ("is no clause of a task here", "leave it out"),
}


class Access(NamedTuple):
    mode: str
    section: str  # as written
    operator: str = ""  # of a reduction


@dataclass
class Clauses:
    accesses: list[Access] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)  # by name: the clause that has it

    def texts(self) -> list[str]:
        """Returns the expressions that are evaluated at the directive."""
        return [access.section for access in self.accesses] + [v for name, v in self.values.items() if name != "label"]


def read(source: Source, directive: Directive) -> Clauses:
    out = Clauses()
    for name, argument in clauses_of(source, directive):
        if name not in directive.kind.clauses:
            refuse(source, directive, name)
        elif not argument or "" in split_list(argument):
            source.error(directive.place(name), f"`{name}` has nothing in a bracket", f"write {name}(x)")
        elif name in VALUES and not (name == "on" and directive.name == "taskwait"):
            if name in out.values:
                source.error(directive.place(name), f"`{name}` stands here twice", "take one of them away")
            out.values[name] = argument
        elif name in VARIABLES:
            out.variables |= dict.fromkeys(split_list(argument), name)
        else:
            out.accesses += accesses(source, directive, name, argument)
    if len(out.accesses) > MOST_ACCESSES:
        source.error(
            directive.at,
            f"a task with {len(out.accesses)} accesses; at most {MOST_ACCESSES}",
            "name larger sections, or split the task",
        )
    return out


def accesses(source: Source, directive: Directive, name: str, argument: str) -> list[Access]:
    """Reads in(a, b), OpenMP's depend(in: a, b), reduction(+: a, b), and taskwait on(a)."""
    if name in REDUCTIONS:
        return reductions(source, directive, name, argument)
    mode, sections = MODES.get(name, "HIROBA_IN"), argument
    if name == "depend":
        kind, sections = (part.strip() for part in split_at_colon(argument))
        if kind not in DEPEND:
            source.error(
                directive.place("depend"),
                f"`{kind or argument}` in depend(..)",
                f"write depend(in: x); known are {', '.join(DEPEND)}",
            )
            return []
        mode = DEPEND[kind]
    return [Access(mode, section) for section in split_list(sections) if section]


def reductions(source: Source, directive: Directive, name: str, argument: str) -> list[Access]:
    operator, sections = (part.strip() for part in split_at_colon(argument))
    if operator not in OF_OPENMP:
        shown = f"write {name}(op: x) with one of {' '.join(OF_OPENMP)}"
        source.error(directive.place(name), f"`{operator or argument}` in {name}(..)", shown)
        return []
    return [Access("HIROBA_REDUCTION", section, operator) for section in split_list(sections) if section]


def refuse(source: Source, directive: Directive, name: str) -> None:
    shown = f"#pragma {directive.family} {directive.name}"
    if name in ABSENT:
        what, remedy = ABSENT[name]
        source.error(directive.place(name), f"`{name}` in {shown} {what}", remedy)
    else:
        source.error(directive.place(name), f"unknown word `{name}` in {shown}", meant(name, directive.kind.clauses))


def parts_of(bracket: str) -> list[str]:
    """Returns the parts between colons; OmpSs-2 writes `base;length`."""
    if ";" in bracket:
        return [part.strip() for part in bracket.split(";")]
    out, rest = [], bracket
    while (split := split_at_colon(rest))[1] != rest:
        out.append(split[0].strip())
        rest = split[1]
    return [*out, rest.strip()]


def brackets_of(section: str) -> tuple[str, list[list[str]]]:
    """Returns a section's base, and the parts of each bracket at its end."""
    base, brackets = section.strip(), []
    while base.endswith("]"):
        depth, at = 0, len(base)
        while at > 0 and (depth != 0 or at == len(base)):
            at -= 1
            depth += (base[at] in ")]") - (base[at] in "([")
        if depth != 0 or at == 0:
            return section, []
        brackets.append(parts_of(base[at + 1 : -1]))
        base = base[:at].strip()
    return base, brackets[::-1]


def is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", text) is not None
