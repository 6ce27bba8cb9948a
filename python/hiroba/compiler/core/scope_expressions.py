"""Expressions, as far as scopes need them: the words that are uses of names, and those that are members, labels or
types. A type in brackets is told from an expression by the types that are known at its place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from .scope_table import Declaration, Kind, ScopeTable
from .tokens import is_word, tokens_of


def frozen(words: str) -> frozenset[str]:
    return frozenset(words.split())


STORAGE = frozen("typedef extern static auto register inline _Thread_local __thread thread_local constexpr")
QUALIFIERS = frozen(
    "const volatile restrict _Noreturn _Atomic __const __const__ __volatile __volatile__ __restrict __restrict__"
    " __inline __inline__ __signed __signed__ _Complex __complex __complex__ _Imaginary"
)
TYPES = frozen(
    "void char short int long float double signed unsigned _Bool bool __auto_type __int128 __int128_t __uint128_t"
    " __float80 __float128 __ibm128 _Float16 _Float32 _Float64 _Float128 _Float32x _Float64x _Float128x __bf16"
    " _Decimal32 _Decimal64 _Decimal128 __builtin_va_list __fp16"
)
TAGGED = frozenset(["struct", "union", "enum"])
ALIGNAS = frozenset(["_Alignas", "alignas"])
TYPEOF = frozenset(["typeof", "__typeof__", "__typeof", "typeof_unqual", "_BitInt"])
ATTRIBUTE = frozenset(["__attribute__", "__attribute"])
ASM = frozenset(["asm", "__asm__", "__asm"])
OPERATORS = frozen("sizeof _Alignof alignof __alignof__ __alignof __extension__ __real__ __imag__ __real __imag")
STATEMENTS = frozen("if else while for do switch case default return goto break continue __label__")
ASSERT = frozenset(["_Static_assert", "static_assert"])
BEGIN_TYPE = STORAGE | QUALIFIERS | TYPES | TAGGED | TYPEOF | ALIGNAS
KEYWORDS = BEGIN_TYPE | OPERATORS | STATEMENTS | ATTRIBUTE | ASM | ASSERT
# Attributes whose arguments are expressions, or functions. Arguments of others are words.
WITH_NAMES = frozenset(["aligned", "vector_size", "cleanup", "warn_if_not_aligned", "copy", "assume"])


class Expressions(ABC):
    """`i` is the next token. Each method reads the construct of its name."""

    def __init__(self, text: str, outer: Callable[[str], Declaration | None] | None) -> None:
        tokens = tokens_of(text)
        self.words, self.places, self.i = tokens.words, tokens.places, 0
        self.table = ScopeTable(outer)

    @abstractmethod
    def type_name(self) -> None:
        """int (*)[3]"""

    @abstractmethod
    def block(self) -> None:
        """{ .. }, a scope of its own"""

    # ---- tokens ----

    def word(self, ahead: int = 0) -> str:
        at = self.i + ahead
        return self.words[at] if at < len(self.words) else ""

    def take(self, word: str) -> bool:
        found = self.words[self.i] == word
        self.i += found
        return found

    def here(self) -> int:
        return self.places[self.i]

    def behind(self) -> int:
        """Returns the end of the token before this one."""
        return self.places[self.i - 1] + len(self.words[self.i - 1]) if self.i > 0 else 0

    def skip(self) -> None:
        """Skips the contents of a bracket, and the one that closes it."""
        depth = 0
        while word := self.word():
            depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
            self.i += 1
            if depth <= 0:
                return

    def is_type(self, ahead: int = 0) -> bool:
        """Returns true if the name of a type, or a declaration, begins here."""
        word = self.word(ahead)
        if word in BEGIN_TYPE:
            return True
        if word == "__extension__":
            return self.is_type(ahead + 1)
        if word in KEYWORDS:
            return False
        meaning = self.table.meaning(word)
        return meaning is not None and meaning.kind is Kind.TYPE

    # ---- brackets ----

    def brackets(self) -> None:
        """`( .. )` around an expression, a type, arguments of any kind, or GNU's statement."""
        self.take("(")
        if self.word() == "{":
            self.block()
        while self.word() not in (")", ""):
            before = self.i
            self.item()
            self.take(",")
            if self.i == before:
                break
        self.take(")")

    def item(self) -> None:
        """An argument, which may be a type."""
        if self.is_type():
            self.type_name()
        self.expression(",)")

    def braces(self) -> None:
        """An initialiser in braces. `x: value` is GNU's old way to name a member."""
        self.take("{")
        while self.word() not in ("}", ""):
            before = self.i
            if is_word(self.word()) and self.word(1) == ":":
                self.i += 2
            if self.word() == "{":
                self.braces()
            else:
                self.expression(",}")
            self.take(",")
            if self.i == before:
                break
        self.take("}")

    def attribute(self) -> None:
        """Reads attributes; only some of their arguments are names of the program."""
        if self.word() == "[":
            self.skip()
            return
        self.i += 1
        depth = 0
        while word := self.word():
            if word.strip("_") in WITH_NAMES and self.word(1) == "(":
                self.i += 1
                self.brackets()
                continue
            depth += (word == "(") - (word == ")")
            self.i += 1
            if depth <= 0:
                return

    def at_attribute(self) -> bool:
        return self.word() in ATTRIBUTE or (self.word() == "[" and self.word(1) == "[")

    # ---- expressions ----

    def expression(self, ends: str) -> None:
        """Reads all up to a token in `ends` that is in no bracket."""
        questions = 0
        value = sized = False  # an operand has just ended; an operator that may be followed by a type
        while word := self.words[self.i]:
            if word in (";", ")", "]", "}") or (word in ends and not (word == ":" and questions)):
                return
            if is_word(word):
                value, sized = self._word(word, value)
            elif word == "(":
                value, sized = self._group(value, sized), False
            elif word == "[":
                self.i += 1
                self.expression("]")
                self.take("]")
                value = True
            elif word == "{":
                self.braces()
            elif word in (".", "->", "&&") and is_word(self.words[self.i + 1]) and not (word == "&&" and value):
                self.i += 2  # a member; GNU's address of a label
                value = True
            else:
                questions += (word == "?") - (word == ":")
                literal = word[-1] in "\"'" or word[0].isdigit() or (word[0] == "." and word[1:2].isdigit())
                value = literal or (value and word in ("++", "--"))
                self.i += 1

    def _word(self, word: str, value: bool) -> tuple[bool, bool]:
        if word in ("_Generic", "__builtin_offsetof") and self.word(1) == "(":
            self.i += 2
            self._generic() if word == "_Generic" else self._member_of_type()
            self.take(")")
            return True, False
        if word in TAGGED or (word in BEGIN_TYPE and not value):
            before = self.i
            self.type_name()
            self.i += self.i == before
            return False, False
        if word not in KEYWORDS:
            self.table.use(word, self.places[self.i])
        self.i += 1
        return word not in KEYWORDS, word in OPERATORS

    def _group(self, value: bool, sized: bool) -> bool:
        """Reads brackets. Returns true if an operand ends with them: a cast is none."""
        is_type = not value and self.is_type(1)
        self.brackets()
        if is_type and self.word() == "{":  # a compound literal
            self.braces()
            return True
        return sized or not is_type

    def _generic(self) -> None:
        self.expression(",")
        while self.take(","):
            if not self.take("default"):
                self.type_name()
            self.take(":")
            self.expression(",")

    def _member_of_type(self) -> None:
        self.type_name()
        self.take(",")
        self.i += is_word(self.word())
        self.expression(")")
