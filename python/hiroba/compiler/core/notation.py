"""A notation as the compiler sees it: its recognition, its header, its directives, and its part of the work on a
file. Each folder beside this one registers one in ../registry.py."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from .declarators import innermost
from .declared import Declared
from .every_rank import reads_input
from .expand import Expand, Words
from .facts import Reader
from .flow import Flow
from .found import Directive, Found, Kind, Line, Stands
from .operations import Key, Surroundings
from .scopes import Kind as Meaning
from .scopes import Scopes
from .shared import Anchor, Rewriter, Shared
from .source import COMPLEX, Node, Source, blank, blank_all, parse
from .statements import Statements

# Functions of C that programs call without their header, or with a prototype of their own, and that write no array.
STANDARD = re.compile(
    r"f?printf|puts|f?putchar|fput[sc]|putc|fopen|fclose|fflush|perror|f?getc|getchar|[mc]alloc|realloc|free|exit|abort"
    r"|ato[ifl]|s?rand|getenv|system|l?abs|memcmp|str(len|n?cmp|chr|str|dup)|u?sleep|clock|difftime|getpid"
    r"|is(digit|alpha|space)|to(upper|lower)|(a?(sin|cos|tan)|atan2|exp|log(2|10)?|pow|sqrt|cbrt|fabs|floor|ceil|round"
    r"|fmod|fmin|fmax)f?"
)
NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"


class Unit:
    """A preprocessed file during its translation: the state common to all notations."""

    rewriter: Rewriter  # from parse() on
    declared: Declared

    def __init__(self, source: Source, self_starting: bool) -> None:
        self.source, self.found = source, Found(blank_all(COMPLEX, source.text))
        self.self_starting = self_starting  # its header is for programs whose main starts the job itself
        self.covered: list[tuple[int, int]] = []  # statements of one rank, or of shared-out loops
        self.same: dict[int, frozenset[str]] = {}  # names, the same on all ranks after this statement
        self.bounds: list[tuple[int, tuple[str, ...]]] = []  # positions and names of variables of the compiler
        self.spelled: list[
            tuple[int, int, int, str]
        ] = []  # in a statement that moves: a declarator's id, its name there

    def parse(self) -> None:
        root = parse(self.found.text)
        self.rewriter = Rewriter(self.source, self.found, root)
        self.declared = declared = Declared(root, self.source.text, self.rewriter.scopes)
        self.rewriter.of_block = lambda node, top: declared.of_block(node, top, constants=False)

    @property
    def root(self) -> Node:
        return self.rewriter.root

    @property
    def scopes(self) -> Scopes:
        return self.rewriter.scopes

    @cached_property
    def functions(self) -> dict[str, Node]:
        """Returns the definitions of functions, by name."""
        named = ((n, self.scopes.declared(at.start_byte)) for n in self.root.children if n.type == "function_definition"
                 and (at := innermost(n.child_by_field_name("declarator") or n)) is not None)  # fmt: skip
        return {made.name: node for node, made in named if made is not None}

    @cached_property
    def flow(self) -> Flow:
        """Returns the values that differ from rank to rank. Requires that all notations have rewritten their
        statements."""
        shared: dict[Key, Shared] = {made.entity: s for s in self.rewriter.shared
                  if not s.codims and (made := self.scopes.declared(s.at)) is not None}  # fmt: skip
        placed = {made.entity for node in self.rewriter.placed
                  if (made := self.scopes.declared(node.start_byte)) is not None}  # fmt: skip
        regions = {begin: self.same.get(begin, frozenset()) for begin, _ in self.covered}
        alone = sorted(d.at for d in self.found.directives if d.kind.stands is Stands.ALONE)
        reader = Reader(self.root, self.declared, self.scopes, Surroundings(shared, placed, regions, alone))
        common = {made.entity for made in self.scopes.declarations() if "extern" in made.words}
        return Flow(reader.functions(), shared, self.of_system, reads_input, common, self.addressed)

    @cached_property
    def addressed(self) -> set[str]:
        """Returns functions that are named without being called: their address may be called anywhere."""
        out: set[str] = set()
        for at, made in self.scopes.uses():
            if made.kind is Meaning.FUNCTION and self.found.text[at + len(made.name) : at + 99].lstrip()[:1] != "(":
                out.add(made.name)
        return out

    def of_system(self, function: str) -> bool:
        """Returns true if a function comes with the system, and not with the program."""
        made = self.scopes.visible(function, len(self.found.text) - 1)
        if function.startswith("__builtin_") or STANDARD.fullmatch(function):
            return True
        return made is not None and not self.source.of_user(made.entity.at)


class Part:
    """The work of a notation on one file. translate.py calls these methods in this order, each for all notations."""

    def __init__(self, notation: Notation, unit: Unit) -> None:
        self.notation, self.unit, self.source, self.found = notation, unit, unit.source, unit.found
        self.explain: list[str] = []  # the output of --explain
        self._before = 0  # errors, when the lowering of a directive began

    def find(self) -> None:
        """Removes text that is neither C nor a directive from the text for the C parser."""

    def first_use(self) -> int | None:
        """Returns the position of the first use of the notation, if any."""
        return self.directives[0].at if self.directives else None

    def declare(self) -> None:
        """Collects the facts needed before shared variables are declared. The text is parsed."""

    def rewrite(self) -> None:
        """Makes edits."""

    def finish(self) -> None:
        """Makes edits that depend on the results of all notations."""

    def check(self) -> None:
        """Warns of likely errors. All edits are made."""

    def starts_by_header(self) -> bool:
        """Returns true if main starts the job because of the file's includes, though it uses nothing else of Hiroba."""
        return False

    def start(self) -> str:
        """Returns the function that main has to call first, if it does not start the job itself."""
        return ""

    def needs_job(self) -> bool:
        """Returns true if what the file uses of the notation works only after the start of the job."""
        return self.first_use() is not None

    # ---- for implementations ----

    def place(self, directive: Directive) -> str:
        return self.source.place(directive.at).literal

    def anchor(self, directive: Directive) -> Anchor:
        root = self.rewriter.root
        return Anchor(root.descendant_for_byte_range(directive.at, directive.at) or root, directive.at)

    @property
    def rewriter(self) -> Rewriter:
        return self.unit.rewriter

    @property
    def declared(self) -> Declared:
        return self.unit.declared

    @cached_property
    def statements(self) -> Statements:
        return Statements(self.rewriter)

    @property
    def directives(self) -> list[Directive]:
        mine = {id(kind) for kind in self.notation.directives}
        return [d for d in self.found.directives if id(d.kind) in mine]

    @property
    def is_included(self) -> bool:
        return self.notation.symbol in self.source.text

    def lower(self, directives: Iterable[Directive]) -> None:
        for directive in directives:
            if directive.kind.lower is not None:
                self._before = self.source.errors
                directive.kind.lower(self, directive)
                if not self.clean:
                    self.cover(directive.end)

    @property
    def clean(self) -> bool:
        """Returns true if the directive that is lowered has no error yet."""
        return self.source.errors == self._before

    def cover(self, end: int) -> None:
        """A directive with an error leaves unknown if all ranks execute the statement below it."""
        statement = self.statements.below(end)
        if statement is not None:
            self.unit.covered.append((statement.start_byte, statement.end_byte))


@dataclass(frozen=True)
class Notation:
    name: str
    part: Callable[[Notation, Unit], Part]
    header: str  # header of Hiroba
    symbol: str  # preprocessed text that includes it has this word
    starts: tuple[str, ...]  # calls that start the job
    self_starting: str = ""  # a word of its header, if main of its programs has to start the job
    beside: tuple[str, ...] = ()  # other headers of Hiroba that files with the notation include, too
    macro: str = ""  # which files with the notation have defined
    family: str = ""  # of its directives: the word after #pragma
    no_family: tuple[str, ...] = ()  # words that look like one, of notations that are calls and declarations
    common_family: bool = False  # another notation has directives of this family, too
    directives: tuple[Kind, ...] = ()  # in the order in which messages list them
    absent: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # directives that are refused: message, remedy
    any_case: bool = False  # PARALLEL is parallel
    # Before the preprocessor has run, in addition to directives: the form of the notation; in C++, where it is refused,
    # its name in messages; and the meaning of the same words in programs without it.
    looks: re.Pattern[str] | None = None
    in_cxx: tuple[tuple[re.Pattern[str], str], ...] = ()
    unless: re.Pattern[str] | None = None
    folder: str = ""  # folder of the header, which only files that include it find ...
    namesake: re.Pattern[str] | None = None  # ... unless they use that of another library with the same name, which
    # without a folder is found before ours

    @property
    def _line(self) -> re.Pattern[str]:
        names = (kind.name for kind in self.directives)
        return directive_lines(
            [rf"{self.family}(?=[ \t]+(?:{'|'.join(names)})\b)" if self.common_family else self.family]
        )

    def is_written(self, text: str) -> bool:
        """Returns true if a file uses it, so that it needs the header."""
        if self.unless is not None and self.unless.search(text) is not None:
            return False
        return bool(self.family and self._line.search(text)) or bool(self.looks and self.looks.search(text))

    def has_directives(self, text: str) -> bool:
        """Returns true if preprocessed text has a line of its family."""
        return bool(self.family) and self._line.search(text) is not None

    def first_directive(self, text: str) -> int | None:
        found = self._line.search(text) if self.family else None
        return found.start() if found is not None else None

    def first_in_cxx(self, text: str) -> list[tuple[int, str]]:
        names = "|".join(kind.name for kind in self.directives)
        families = [*filter(None, (self.family,)), *self.no_family]
        patterns = [(directive_lines(families), "directives are"), *self.in_cxx] if families else [*self.in_cxx]
        if self.family:  # _Pragma("xmp barrier"), and DO(xmp barrier) of a macro that makes this
            operator = rf"(?:_Pragma\s*\(\s*L?\"\s*{self.family}\b|\b\w+\s*\(\s*{self.family}\s+(?:{names})\b)"
            patterns.append((re.compile(operator, re.IGNORECASE), "directives are"))
        return [(found.start(), what) for pattern, what in patterns if (found := pattern.search(text)) is not None]

    def words(self) -> set[str]:
        """Returns the words of its directives, which are no macros of the program's."""
        return {word for kind in self.directives for word in (kind.name, *kind.clauses, *kind.words)}

    def kind_of(self, line: Line) -> Kind | None:
        name = self._name(line)
        return next((kind for kind in self.directives if kind.name == name), None)

    def _name(self, line: Line) -> str:
        words = line.words.text
        name = words[: len(words) - len(words.lstrip(NAME))]
        return name.lower() if self.any_case else name

    def take(self, source: Source, found: Found, line: Line, known: Sequence[str]) -> None:
        """Reads a line of its family, which has these directives."""
        name, kind = self._name(line), self.kind_of(line)
        if name in self.absent:
            source.error(line.at, *self.absent[name])
            found.refused.append(line.end)
        elif kind is None:
            self._unknown(source, line, known)
            found.refused.append(line.end)
        elif kind.take is not None:
            before = source.errors
            kind.take(source, found, line)
            found.misdeclared = found.misdeclared or source.errors > before
        else:
            found.directives.append(directive(line, kind, self.family))
            if kind.is_statement:
                gap = blank(found.text[line.at + 1 : line.end], 0, line.end - line.at - 1)
                found.text = f"{found.text[: line.at]};{gap}{found.text[line.end :]}"

    def _unknown(self, source: Source, line: Line, known: Sequence[str]) -> None:
        words = line.words
        remedy = meant(self._name(line), known, tuple(self.absent))
        word = next(iter(words.text.split()), "")
        shown = words.where(words.text.index(word)) if word else line.at
        source.error(shown, f"unknown directive #pragma {self.family} {word}".rstrip(), remedy)


def directive_lines(families: Iterable[str]) -> re.Pattern[str]:
    """Matches a line of one of these families: the family, and the text after it."""
    return re.compile(rf"^[ \t]*#[ \t]*pragma[ \t]+({'|'.join(families)})\b[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)


def find_directives(
    source: Source, found: Found, notations: Sequence[Notation], preprocess: Callable[[re.Pattern[str], list[str]], str]
) -> None:
    """Adds the directives of all notations to `found`, in the order of the text."""
    families: dict[str, list[Notation]] = {}
    for notation in notations:
        families.setdefault(notation.family.lower(), []).append(notation)
    families.pop("", None)
    refuse_families(source, found, notations)
    form = directive_lines(families)
    lines = list(form.finditer(source.text))
    plain = {word for n in notations for word in n.words()}
    expand = Expand([line[2] for line in lines], plain, partial(preprocess, form))
    for number, line in enumerate(lines):
        if source.of_user(line.start()):
            at = line.start() + line[0].index("#")
            words = expand(number, line[2], line.start(2))
            read, family = Line(at, line.end(), words), families[line[1].lower()]
            known = [kind.name for notation in family for kind in notation.directives]
            next((n for n in family if n.kind_of(read) is not None), family[0]).take(source, found, read, known)


def refuse_families(source: Source, found: Found, notations: Sequence[Notation]) -> None:
    """Reports `#pragma mpc`, which C would ignore: the notation has no directives."""
    if not any(notation.symbol in source.text for notation in notations):
        return
    for notation in notations:
        for line in directive_lines(notation.no_family).finditer(source.text) if notation.no_family else ():
            if source.of_user(line.start()):
                at = line.start() + line[0].index("#")
                text = f"#pragma {line[1]}: there are no directives of this name, and C would ignore it"
                known = ", ".join(sorted({f"#pragma {n.family}" for n in notations if n.family}))
                source.error(at, text, f"call the function of this name, such as {line[1]}_barrier(), or write {known}")
                found.refused.append(line.end())


def directive(line: Line, kind: Kind, family: str) -> Directive:
    words: Words = line.words
    rest = words.text[len(kind.name) :]
    begin = len(kind.name) + len(rest) - len(rest.lstrip())
    return Directive(line.at, line.end, kind, family, rest.strip(), lambda i: words.where(begin + i))


def meant(word: str, known: Sequence[str], also: tuple[str, ...] = ()) -> str:
    """Returns a suggestion for an unknown word: the nearest known one, else all."""
    close = difflib.get_close_matches(word, [*known, *also], 1, 0.4)
    return f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"
