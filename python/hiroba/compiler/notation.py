"""What is Hiroba's in preprocessed C: `shared` declarations with their maps (MpC), and lines of #pragma SMint and
#pragma xmp. All are blanked in the text that the C parser sees."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .expand import Expand, Words
from .source import HASH_LINE, Source, blank, one_line

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(SMint|xmp)\b[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
OMP = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+omp\b(.*)")
SHARED = re.compile(r"\bshared\b")
SKIP = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#.*$', re.MULTILINE)
WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
XMP_DECLARE, XMP_ABOVE = ("nodes", "coarray"), ("task", "tasks", "gmove")  # the latter stand above a statement
XMP = (
    *XMP_DECLARE,
    *XMP_ABOVE,
    *("barrier", "reduction", "bcast", "wait_async", "post", "wait", "lock", "unlock"),
    *("sync_memory", "sync_all", "sync_image", "sync_images", "sync_images_all"),
)
STARTS = {"mpc_init", "sms_startup", "smint_start", "xmp_init", "xmp_start"}  # calls that start the job
XMP_CLAUSES = ("on", "from", "in", "out", "async", "nocomm", "max", "min", "acquired_lock", "stat")
XMP_GLOBAL = (
    *("template", "template_fix", "distribute", "align", "shadow", "reflect", "reflect_init", "reflect_do"),
    *("reduce_shadow", "loop", "array", "static_desc"),
)
KNOWN = ("shared", "parallel", "single", "barrier", "critical", "preload")


@dataclass
class Map:
    """`::[a][b](first, count)`: one text per bracket, "" for an empty one. `extent` has the texts before a colon."""

    at: int
    end: int
    pieces: list[str]
    first: str = "0"
    count: str = "sms_nprocs"
    extent: list[str] = field(default_factory=list)


@dataclass
class Declaration:
    """A shared declaration: where its C begins, and its maps by where they stand (SMint: one for all declarators)."""

    at: int
    begin: int
    maps: list[Map]
    directive: bool


@dataclass
class Directive:
    at: int
    end: int
    name: str
    words: str  # what follows the name
    family: str = "SMint"  # or "xmp"
    where: Callable[[int], int] | None = None  # of a place in `words`: where it is in the source

    def place(self, word: str) -> int:
        """Where the first such word stands, for messages; of what came from a macro, the macro."""
        found = re.search(rf"\b{re.escape(word)}" if word[:1].isidentifier() else re.escape(word), self.words)
        return self.at if found is None or self.where is None or not word else self.where(found.start())


@dataclass
class Found:
    text: str  # for the parser
    declarations: list[Declaration] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)


def matching(text: str, at: int) -> int:
    """Behind the bracket that closes the one at `at`; -1 if none does."""
    closing = {"(": ")", "[": "]", "{": "}"}
    stack = []
    for i in range(at, len(text)):
        c = text[i]
        if c in closing:
            stack.append(closing[c])
        elif c in ")]}":
            if not stack or stack.pop() != c:
                return -1
            if not stack:
                return i + 1
    return -1


def split_list(text: str) -> list[str]:
    """Parts between commas that are in no bracket."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    return [*parts, text[begin:].strip()]


def split_at_colon(text: str) -> tuple[str, str]:
    """What stands before and behind the colon that belongs to no bracket and no ?:."""
    depth = questions = 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c == "?":
            questions += 1
        elif depth == 0 and c == ":":
            if questions == 0:
                return text[:i], text[i + 1 :]
            questions -= 1
    return "", text


def read_map(source: Source, text: str, at: int, where: Callable[[int], int] = lambda i: i) -> tuple[Map, int] | None:
    """The map that begins with the :: at `at`, and where it ends; `where` a place in the text is in the source."""
    found = Map(at, at, [])
    i = at + 2
    while (skipped := len(text[i:]) - len(text[i:].lstrip())) >= 0 and text[i + skipped : i + skipped + 1] == "[":
        i += skipped
        end = matching(text, i)
        if end < 0:
            source.error(
                where(i), "this map has a bracket that is not closed", "write for example ::[NPROCS][1](0,NPROCS)"
            )
            return None
        extent, pieces = split_at_colon(text[i + 1 : end - 1])
        found.pieces.append(one_line(pieces))
        found.extent.append(one_line(extent))
        i = end
    if not found.pieces:
        source.error(
            where(at), "a map begins with a bracket per dimension", "write for example ::[NPROCS][1](0,NPROCS)"
        )
        return None
    behind = i + len(text[i:]) - len(text[i:].lstrip())
    if text[behind : behind + 1] == "(":
        end = matching(text, behind)
        ranks = split_list(text[behind + 1 : end - 1]) if end > 0 else []
        if len(ranks) != 2 or "" in ranks:
            source.error(
                where(behind),
                "a map ends with (first rank, number of ranks)",
                "write for example (0,NPROCS)",
            )
            return None
        found.first, found.count = one_line(ranks[0]), one_line(ranks[1])
        i = end
    found.end = i
    return found, i


def find(source: Source, expand: Expand) -> Found:
    found = Found(source.text)
    for line in DIRECTIVE.finditer(source.text):
        if source.of_user(line.start()):
            take = find_xmp if line[1].lower() == "xmp" else find_directive
            take(source, found, line.start() + line[0].index("#"), line.end(), expand(line[2], line.start(2)))
    if "shared" in source.text:
        find_shared(source, found)
    found.declarations.sort(key=lambda declaration: declaration.begin)
    return found


def find_directive(source: Source, found: Found, at: int, end: int, expanded: Words) -> None:
    words = expanded.text
    name = words[: len(words) - len(words.lstrip(WORD))]
    if name == "shared":
        begin = words.find("::")
        if begin < 0:
            source.error(at, "#pragma SMint shared without a map", "write for example ::[NPROCS][](0,NPROCS)")
            return
        read = read_map(source, words, begin, expanded.where)
        if read is None:
            return
        rest = words[read[1] :].strip().rstrip(";").strip()
        if rest:
            source.error(
                expanded.where(words.index(rest, read[1])),
                f"`{rest}` behind the map of #pragma SMint shared",
                "end the line behind the map",
            )
        read[0].at = at
        found.declarations.append(Declaration(at, end, [read[0]], True))
        return
    if name not in KNOWN:
        unknown_directive(source, at, "SMint", expanded, meant(name, KNOWN))
        return
    found.directives.append(directive(at, end, name, expanded, "SMint"))


def meant(word: str, known: tuple[str, ...], also: tuple[str, ...] = ()) -> str:
    """What to write instead of an unknown word: the nearest one, else all that are known."""
    close = difflib.get_close_matches(word, [*known, *also], 1, 0.4)
    return f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"


def unknown_directive(source: Source, at: int, family: str, expanded: Words, remedy: str) -> None:
    word = next(iter(expanded.text.split()), "")
    shown = expanded.where(expanded.text.index(word)) if word else at
    source.error(shown, f"unknown directive #pragma {family} {word}".rstrip(), remedy)


def directive(at: int, end: int, name: str, expanded: Words, family: str) -> Directive:
    rest = expanded.text[len(name) :]
    begin = len(name) + len(rest) - len(rest.lstrip())
    return Directive(at, end, name, rest.strip(), family, lambda i: expanded.where(begin + i))


def find_xmp(source: Source, found: Found, at: int, end: int, expanded: Words) -> None:
    """Where a directive is a statement, the parser sees an empty one."""
    words = expanded.text
    name = words[: len(words) - len(words.lstrip(WORD))].lower()
    if name in XMP_GLOBAL:
        source.error(
            at,
            f"#pragma xmp {name} belongs to XcalableMP's global view, and Hiroba has its local view",
            "use #pragma SMint shared ::[NPROCS](0,NPROCS) and parallel for, or coarrays",
        )
    elif name not in XMP:
        unknown_directive(source, at, "xmp", expanded, meant(name, XMP, XMP_GLOBAL))
    else:
        found.directives.append(directive(at, end, name, expanded, "xmp"))
        if name not in XMP_DECLARE and name not in XMP_ABOVE:
            found.text = f"{found.text[:at]};{blank(found.text[at + 1 : end], 0, end - at - 1)}{found.text[end:]}"


def find_shared(source: Source, found: Found) -> None:
    """MpC. `shared` is no word of C, so it is ours only where a declaration begins and a type follows."""
    skipped = [(s.start(), s.end()) for s in SKIP.finditer(source.text)]
    text = found.text
    # Elsewhere it may be a type of the program's; with a map it is not C.
    ours = "smint_allocate" in text and not re.search(r"\btypedef\b[^;]*\bshared\s*;", text)
    for word in SHARED.finditer(source.text):
        at = word.start()
        if not source.of_user(at) or any(a <= at < b for a, b in skipped):
            continue
        before = HASH_LINE.sub("", source.text[max(0, at - 4000) : at]).rstrip()
        behind = source.text[word.end() : word.end() + 4000].lstrip()
        if ours and before[-1:] in ("(", ",") and re.match(r"[A-Za-z_][\w \t]*[ \t*]+[A-Za-z_]\w*[ \t]*[],[)]", behind):
            source.error(
                at, "a parameter cannot be shared", "take a pointer: those to shared arrays are plain pointers"
            )
            continue
        if before and before[-1] not in ";{}" and not re.search(r"\b(extern|static)$", before):
            continue
        if not re.match(r"[A-Za-z_]", behind):
            continue
        begin = at
        near = source.text[max(0, at - 200) : at]
        prefix = re.search(r"\b(extern|static)\s*$", near)
        if prefix:
            begin = at - len(near) + prefix.start()
        declaration = Declaration(at, begin, [], False)
        text = blank(text, at, word.end())
        end = declaration_end(text, at)
        i = at
        while (i := find_map(text, i, end)) >= 0:
            read = read_map(source, text, i)
            if read is None:
                break
            declaration.maps.append(read[0])
            text = blank(text, i, read[1])
            i = read[1]
        if declaration.maps or ours:
            found.declarations.append(declaration)
            found.text = text
        text = found.text


def find_map(text: str, begin: int, end: int) -> int:
    """The next :: outside of brackets."""
    depth = 0
    for i in range(begin, end):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0 and text.startswith("::", i):
            return i
    return -1


def declaration_end(text: str, begin: int) -> int:
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if text[i] == ";" and depth <= 0:
            return i
    return len(text)
