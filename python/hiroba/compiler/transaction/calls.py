"""Calls in a transaction: of functions of the same file, which get a transactional copy; of functions of the C library
and of this one whose effects are known; all others are refused."""

from __future__ import annotations

import re

from ..core.declarators import enclosing
from ..core.notation import Unit
from ..core.scope_expressions import frozen
from ..core.scopes import Declaration, Kind
from ..core.source import ATTRIBUTE, Node, bare, text_of, walk
from .accesses import Accesses, shown

# Functions of numbers alone, and those that end the program.
MATH = (
    r"l?l?abs|l?l?div|a?(?:sin|cos|tan)h?|atan2|exp(?:2|m1)?|log(?:2|10|1p|b)?|pow|sqrt|cbrt|hypot|fabs|floor"
    r"|ceil|trunc|l?l?round|l?l?rint|nearbyint|fmod|remainder|fmin|fmax|fdim|fma|copysign|ldexp|scalbl?n"
    r"|ilogb|[lt]gamma|erfc?|c(?:abs|arg|real|imag|onj|exp|log|pow|sqrt|sin|cos|proj)|inf|nanf?|huge_val"
)
BUILTINS = (
    r"expect|expect_with_probability|constant_p|clz|ctz|clrsb|popcount|parity|ffs|bswap(?:16|32|64)|choose_expr"
    r"|types_compatible_p|offsetof|isnan|isinf|isinf_sign|isfinite|isnormal|signbit|isgreater|isgreaterequal|isless"
    r"|islessequal|islessgreater|isunordered|classify_type|unreachable|trap|assume_aligned|prefetch|alloca"
)
KINDS = r"is(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(?:upper|lower)"
SYSTEM = (
    r"__ctype_(?:b|tolower|toupper)_loc|(?:__f)?is(?:nan|inf|finite)[fl]?|__(?:is(?:nan|inf|normal)|finite|signbit"
    r"|fpclassify)[fl]?|alloca|ffsl?l?|abort|__assert_fail"
)
PURE = re.compile(rf"(?:__builtin_)?(?:(?:{MATH})[fl]?|{KINDS})|__builtin_(?:{BUILTINS})l?l?|{SYSTEM}")
# Their arguments are not evaluated.
QUIET = ("__builtin_offsetof", "__builtin_types_compatible_p", "__builtin_constant_p")
LIKE_C = frozen("memcpy memmove memset memcmp strlen strcmp strncmp strcpy strncpy strcat strchr malloc calloc free")
RENAMED = {
    **{name: f"hiroba_tx_{name}" for name in LIKE_C},
    "sms_malloc_at": "hiroba_tx_malloc",
    "sms_malloc_on_at": "hiroba_tx_malloc_on",
    "sms_mfree_at": "hiroba_tx_free",
}
OURS = re.compile(
    r"hiroba_tx_(?:(?:load|store)_\w+|read|write|malloc|malloc_on|calloc|free|abort|retry|restart|irrevocable|on_commit"
    r"|on_abort|value|depth|stats|mem(?:cpy|move|set|cmp)|str(?:len|n?cmp|n?cpy|cat|chr))"
)
OUTPUT = re.compile(
    r"(?:__)?v?[fsd]?n?(?:printf|scanf)(?:_chk)?|f?put(?:s|c|char)|f?get(?:s|c|char|line)"
    r"|f?(?:open|close|read|write|flush|seek)|perror|_IO_\w+|__printf_chk|__fprintf_chk|__isoc\w+scanf"
)
ATOMICS = re.compile(r"__(?:atomic|sync)_\w+|atomic_\w+")
LOCKING = re.compile(r"(?:sms_|pthread_(?:mutex|rwlock|spin)_|mtx_|omp_)\w*lock\w*")
JUMPS = re.compile(r"_?_?(?:sig)?(?:set|long)jmp(?:_chk)?|__builtin_(?:set|long)jmp")
ALLOCATES = ("realloc", "reallocarray", "aligned_alloc", "posix_memalign", "strdup", "strndup")
CONST = re.compile(r"\b(?:__const__|const|__const)\b")


class Calls:
    """The calls of one file. `found`: functions of which copies are needed, with the first place that calls each."""

    def __init__(self, unit: Unit) -> None:
        self.unit, self.scopes = unit, unit.rewriter.scopes
        self.found: dict[str, tuple[Declaration, str]] = {}

    def __call__(self, accesses: Accesses, node: Node) -> None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        name = text_of(bare(function)) if function is not None and bare(function).type == "identifier" else ""
        denoted = self.unit.declared.denoted(bare(function)) if name and function is not None else None
        is_variable = denoted is not None and denoted.kind is not Kind.FUNCTION
        if function is None or not name or is_variable:
            return self._refuse_indirect(accesses, node)
        made = self.scopes.function(name)
        if made is not None and made.body is not None and self.unit.source.of_user(made.at):
            self._copy(accesses, function, name, made)
        elif name in RENAMED or name.removeprefix("__builtin_") in RENAMED:
            self._rename(accesses, function, RENAMED[name.removeprefix("__builtin_")])
            if name.endswith("_at") and arguments is not None:  # its last argument is its place
                last, before = arguments.named_children[-1], arguments.named_children[-2]
                accesses.replace(before.end_byte, last.end_byte, "")
        elif not (PURE.fullmatch(name) or OURS.fullmatch(name) or self._is_const(name)):
            self._refuse(accesses, node, name)
        if arguments is not None and name not in QUIET:
            accesses.visit(arguments)
        return None

    def _rename(self, accesses: Accesses, function: Node, new: str) -> None:
        name = bare(function)
        accesses.replace(name.start_byte, name.end_byte, new)

    def _copy(self, accesses: Accesses, function: Node, name: str, made: Declaration) -> None:
        region = accesses.region
        self.found.setdefault(name, (made, region.shown))
        if name not in region.called:
            region.called.append(name)
        self._rename(accesses, function, copy_of(name))

    def _is_const(self, name: str) -> bool:
        """Returns true for a function that is declared with __attribute__((const)): it uses nothing but its
        arguments."""
        for made in self.scopes.named(name):
            node = self.unit.root.descendant_for_byte_range(made.at, made.at + 1)
            holder = enclosing(node, "declaration") if node is not None else None
            text = self.unit.source.text
            begin = text.rfind(";", 0, made.at) + 1
            if holder is not None and any(CONST.search(a[0]) for a in ATTRIBUTE.finditer(text, begin, holder.end_byte)):
                return True
        return False

    def _refuse_indirect(self, accesses: Accesses, node: Node) -> None:
        callee = node.child_by_field_name("function")
        who = accesses.region.who
        accesses.refuse(
            node.start_byte,
            f"`{shown(callee or node)}` in {who} is a call through a pointer: what it does is not known",
            "call functions of this file by their names, in an if or a switch",
        )

    def _refuse(self, accesses: Accesses, node: Node, name: str) -> None:
        who, remedy = accesses.region.who, ""
        if OUTPUT.fullmatch(name):
            what, remedy = "does input or output, which cannot be undone", "do it after the block, or before it"
        elif ATOMICS.fullmatch(name):
            what, remedy = "is an atomic operation, which a transaction cannot undo", "write an ordinary access"
        elif LOCKING.fullmatch(name):
            what, remedy = "may wait for others while it holds them up", "do it outside of the block, or leave it out"
        elif JUMPS.fullmatch(name):
            what, remedy = "jumps past the end of the block", "leave by hiroba_tx_abort(value)"
        elif name in ALLOCATES:
            what = "allocates in a way that an abort cannot undo"
            remedy = "call malloc, calloc and free, which the transaction takes back if it is undone"
        elif name.startswith(("sms_", "hiroba_")):
            what, remedy = "is for outside of transactions", "call it before the block, or after it"
        else:
            what = "is not defined in this file: what it reads and writes is not known"
            remedy = (
                "define it in this file or a header (static inline), declare it __attribute__((const)) if it computes"
                " with its arguments alone, or call it outside of the block"
            )
        accesses.refuse(node.start_byte, f"`{name}` in {who} {what}", remedy)


def copy_of(name: str) -> str:
    return f"hiroba_atomic_{name}"


def is_variadic(function: Node) -> bool:
    return any(
        node.type in ("variadic_parameter", "...")
        for node in walk(function.child_by_field_name("declarator") or function)
    )
