"""The work of transactions on one file. The block below `#pragma hiroba atomic` becomes a function before the one that
it stands in, which hiroba_tx_run runs until it commits; functions that it calls get a transactional copy behind their
definitions, and so do those that these call."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..core import outline
from ..core.declarators import enclosing
from ..core.found import Directive
from ..core.notation import Notation, Part, Unit
from ..core.pragmas import PRAGMA
from ..core.scopes import Declaration
from ..core.source import ATTRIBUTE, Move, Node, walk
from ..core.spelling import GIVEN, STORAGE
from ..core.text import quoted
from .accesses import Accesses
from .calls import Calls, copy_of, is_variadic
from .capture import Captured, captured
from .lvalues import Lvalues, Region


class Transactions(Part):
    lvalues: Lvalues
    calls: Calls

    def __init__(self, notation: Notation, unit: Unit) -> None:
        super().__init__(notation, unit)
        self.numbers: Iterator[int] = itertools.count(1)
        self.done: set[str] = set()  # functions that have a copy
        self.declared_copies: set[str] = set()
        self.names: set[str] = set()  # of the blocks' functions

    def needs_job(self) -> bool:
        return False

    def rewrite(self) -> None:
        if not self.directives:
            return
        self.lvalues, self.calls = Lvalues(self.declared, self.rewriter), Calls(self.unit)
        for directive in self.directives:
            self.cover(directive.end)
        self.lower(self.directives)
        while missing := [name for name in self.calls.found if name not in self.done]:
            for name in missing:
                self.done.add(name)
                self._copy(name, *self.calls.found[name])

    # ---- blocks ----

    def block(self, directive: Directive) -> None:
        if self._is_inside(directive.at) or directive.words:
            if directive.words:
                at = directive.place(directive.words)
                self.source.error(
                    at, f"#pragma hiroba atomic has no clauses, and here is `{directive.words}`", "leave it out"
                )
            return
        statement = self.statements.statement(directive)
        function = enclosing(statement, "function_definition") if statement is not None else None
        if statement is None or not self.statements.in_function(directive):
            return
        if function is None or statement.has_error:
            wrong = next((n for n in walk(statement) if n.type == "ERROR" or n.is_missing), statement)
            self.source.error(
                wrong.start_byte, "the transaction cannot be read as C from here", "write it in the words of C11"
            )
            return
        if not self.statements.stays(directive, statement):
            return
        region = Region(directive.end, statement.end_byte, str(self.source.place(directive.at)).rpartition(":")[0])
        if not self._has_no_directives(region):
            return
        variables = captured(self, self.lvalues, directive.at, statement, function)
        region.copied = {v.place for v in variables if v.is_copy}
        accesses = Accesses(self.source, self.lvalues, region, self.calls, self.numbers)
        self._rename(accesses, statement, variables)
        accesses.visit(statement)
        if not accesses.failed and self.clean:
            self._move(directive, statement, function, variables, accesses)
            self._explain(directive, accesses.region, variables)

    def _is_inside(self, at: int) -> bool:
        """Returns true in the block of another transaction, of which this one is a part."""
        blocks = (self.statements.below(d.end) for d in self.directives if d.at < at)
        return any(block is not None and block.start_byte <= at < block.end_byte for block in blocks)

    def _has_no_directives(self, region: Region) -> bool:
        """Reports a directive in a region, and statements that another notation rewrites."""
        inside = [d for d in self.found.directives if region.begin <= d.at < region.end]
        other = next((d for d in inside if not any(d is own for own in self.directives)), None)
        line = PRAGMA.search(self.source.text, region.begin, region.end)
        if other is None and line is None:
            return self._has_no_sections(region)
        at, words = region.begin, ""
        if other is not None:
            at, words = other.at, f"{other.family} {other.kind.shown}"
        elif line is not None:
            at, words = line.start(), f"{line[1]}{line[2]}".strip()
        where = region.who.rstrip(",")
        self.source.error(
            at,
            f"#pragma {words} stands in {where}: a transaction may run again or be undone",
            "put it around the transaction, or after it",
        )
        return False

    def _has_no_sections(self, region: Region) -> bool:
        for begin, end, _ in self.source.edits:
            old = self.source.text[begin:end]
            is_own = any(directive.at == begin for directive in self.directives)
            if region.begin <= begin < end <= region.end and not old.isidentifier() and not is_own:
                message = f"`{shown_text(old)}` in {region.who} is for another notation, whose calls cannot be undone"
                self.source.error(begin, message, "put it before the block, or after it")
                return False
        return True

    def _rename(self, accesses: Accesses, statement: Node, variables: list[Captured]) -> None:
        """Gives names their meaning in the function of the block: variables that it has by their address, and shared
        ones, of which loops around have copies. Lines of nested blocks go."""
        by_address = {v.place: v.variable for v in variables if not v.is_copy and v.variable.by_address}
        for at, denoted in self.rewriter.scopes.between(statement.start_byte, statement.end_byte):
            variable = by_address.get(denoted.at)
            shared = self.rewriter.resolve_name(denoted.name, at)
            if variable is not None:
                accesses.replace(at, at + len(denoted.name), variable.renamed)
            elif shared is not None and shared.pointer:
                accesses.replace(at, at + len(denoted.name), shared.renamed)
        self._remove_lines(accesses, statement.start_byte, statement.end_byte)

    def _remove_lines(self, accesses: Accesses, begin: int, end: int) -> None:
        for directive in self.directives:
            if begin <= directive.at < end:
                accesses.replace(directive.at, directive.end, "")

    def _move(
        self, directive: Directive, statement: Node, function: Node, variables: list[Captured], accesses: Accesses
    ) -> None:
        name = f"{outline.name_of(function)}_atomic_{self.source.place(directive.at).line}"
        while name in self.names:
            name += "_"
        self.names.add(name)
        members = " ".join(v.members for v in variables if v.members)
        given_back = "".join(v.given_back for v in variables)
        declared = "".join(f" {v.prologue}" for v in variables)
        after = "".join(v.epilogue for v in variables)
        if after:
            declared = f" struct {name}* const {GIVEN}_back = hiroba_argument;{declared}"
            after = after.replace(f"{GIVEN}->", f"{GIVEN}_back->")
        outline.move(
            self.source, (directive.at, directive.end), statement, function, name, members, declared,
            self._prototypes(accesses.region), after, (*accesses.edits, (directive.end, directive.end, "")),
        )  # fmt: skip
        place = self.place(directive)
        text = f"hiroba_tx_run({name}, 0, {place});"
        if members:
            data = outline.given(name, [], [(v.variable, v.outside) for v in variables])
            run = f"hiroba_tx_run({name}, &hiroba_data, {place})"
            text = f"{{ {data} if ({run}) {{{given_back} }} }}" if given_back else f"{{ {data} {run}; }}"
        self.source.replace(directive.at, statement.end_byte, text)

    def _prototypes(self, region: Region) -> str:
        """Returns declarations of the copies that a region calls."""
        return "".join(f"static __typeof__({name}) {copy_of(name)}; " for name in region.called)

    # ---- functions that blocks call ----

    def _copy(self, name: str, made: Declaration, place: str) -> None:
        node = self.rewriter.root.descendant_for_byte_range(made.at, made.at + 1)
        function = enclosing(node, "function_definition") if node is not None else None
        body = function.child_by_field_name("body") if function is not None else None
        region = Region(made.at, made.at, place, name)
        if function is None or body is None or body.has_error or is_variadic(function):
            why = (
                "has a variable number of arguments"
                if function is not None and is_variadic(function)
                else "cannot be read as C"
            )
            self.source.error(
                made.at, f"{region.who} {why}", "write it in the words of C11, with a fixed number of arguments"
            )
            return
        region.begin, region.end = function.start_byte, function.end_byte
        if not self._has_no_directives(region):
            return
        accesses = Accesses(self.source, self.lvalues, region, self.calls, self.numbers)
        self._head(accesses, function, body, made)
        self._remove_lines(accesses, body.start_byte, body.end_byte)
        accesses.insert(body.start_byte + 1, f" (void){name};")  # the program may have no other use of it
        accesses.visit(body)
        here, there = self.source.place(function.start_byte), self.source.place(function.end_byte)
        before = f"\n# {here.line} {quoted(here.file)}\n{self._prototypes(region)}static "
        after = f"\n# {there.line} {quoted(there.file)}\n"
        begin, end = function.start_byte, function.end_byte
        self.source.moves.append(Move(end, begin, end, before, after, tuple(accesses.edits)))
        self.explain.append(f"{self.source.place(made.at)}: transactional copy of {name}: {accessed(region)}")

    def _head(self, accesses: Accesses, function: Node, body: Node, made: Declaration) -> None:
        """The copy is static, has a name of its own, and none of the attributes."""
        text = self.source.text
        for found in ATTRIBUTE.finditer(text, function.start_byte, body.start_byte):
            accesses.replace(found.start(), found.end(), "")
        for found in STORAGE.finditer(text, function.start_byte, made.at):
            accesses.replace(found.start(), found.end(), "")
        accesses.replace(made.at, made.at + len(made.name), copy_of(made.name))

    def _explain(self, directive: Directive, region: Region, variables: list[Captured]) -> None:
        kept = [v.variable.name for v in variables if v.changed]
        own = f"; as it was after a restart: {', '.join(f'`{name}`' for name in kept)}" if kept else ""
        self.explain.append(f"{self.source.place(directive.at)}: atomic: {accessed(region)}{own}")


def accessed(region: Region) -> str:
    """Returns the accesses and calls of a region that are transactional, for --explain."""
    parts = [
        f"{word} {', '.join(f'`{each}`' for each in found)}"
        for word, found in (("loads", region.loads), ("stores", region.stores), ("calls copies of", region.called))
        if found
    ]
    return "; ".join(parts) or "no accesses"


def shown_text(text: str) -> str:
    return " ".join(text.split())[:60]


def atomic(part: Transactions, directive: Directive) -> None:
    part.block(directive)
