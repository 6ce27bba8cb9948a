"""Finds commands without anything of Hiroba, so that the C compiler gets them unchanged and at once.

A file can have a notation only if one of the texts that the compiler reads for it, independent of conditions, has a
word of one, or includes a header of Hiroba, which may have macros. Every text is checked, including headers of the
system, whose results are kept in a cache with the compiler's folders of headers. An unknown construct, such as the
name of a header made by a macro, makes a command not plain: then the preprocessor decides. Imports little."""

from __future__ import annotations

import os

from .command import Command, find_program

FAMILIES = (b"smint", b"xmp", b"hiroba", b"sms_", b"mpc_init", b"#pragmampc", b"#pragmasms")  # in lower case
SENTINELS = (b"$smint", b"$xmp", b"$hiroba", b"$mpc", b"$sms")  # of Fortran, in lower case
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SIGPIPE = 13  # the module that has its name takes long to import
MARKS = ("_", "#")  # in place of names: a text has _Pragma, or ##; together they can make any directive
MACRO = "?"  # before a name that a macro makes
ODD = (b"_Pragma", b'R"', b"\\ ", b"\\\t", b"??/")  # a string is a directive, or ends where others do not
LOWER = bytes(range(256)).lower()
BLANKS = b" \t\n\r\v\f\\"
# Options that change the folders of headers, or the meaning of a text, and that are not imitated here.
NOT_PLAIN = (
    *("-I", "-iprefix", "-iwithprefix", "-include-pch", "-ivfsoverlay", "-F", "-iframework", "-remap", "-traditional"),
    *("-finput-charset", "-fmodules", "-Wp,-i", "-Wp,-I", "-Wp,-t", "--include", "--imacros", "-trigraphs", "-cxx-is"),
)
# Options that change the compiler's folders for headers of the system.
PLACES = ("-m", "-B", "-b", "-specs", "--specs", "--sysroot", "-isysroot", "-nostdinc", "-target", "--target", "--gcc-")
ENVIRONMENT = ("PATH", "CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SDKROOT", "CCC_OVERRIDE_OPTIONS")
WRAPPERS = ("OMPI_", "MPICH_", "I_MPI_", "CCACHE_", "SHMEM_")  # their variables control them


def is_plain(command: Command, headers: str) -> bool:
    """`headers`: the folder of Hiroba's headers. Returns false if in doubt."""
    words = [name for name, _ in command.options]
    if any(word.startswith(NOT_PLAIN) and word not in ("-I", "-include", "-imacros") for word in words):
        return False
    if any(value[:2] in ("-I", "-i", "-t") for value in command.values("-Xpreprocessor", "-Xclang")):
        return False
    if any(value[:1] in ("=", "$") or value == "-" for value in command.values("-I", "-isystem", "-iquote")):
        return False
    told = [*command.values("-D", "-Xpreprocessor"), *(word for word in words if word.startswith("-Wp,"))]
    if any(included_names(os.fsencode(text)) != [] for text in told):
        return False
    return Search(command, headers).is_plain()


def header_folders(include: str, option: str = "-isystem") -> list[str]:
    """Returns the folders of <xmp.h> and <hiroba/xmp.h>. They are found like the system's: after the user's, and
    -MMD does not name them. With -idirafter the system's own come first."""
    outer = os.path.dirname(include)
    # The compiler's own folder here would hide the <stdlib.h> that C++'s <cstdlib> needs.
    return [option, include, *([option, outer] if outer != "/usr/include" else [])]


class Search:
    """Reads all texts of a command."""

    def __init__(self, command: Command, headers: str) -> None:
        self.command, self.headers = command, headers
        self.ours = {"mpc.h", "mpi.h", *(name for name in os.listdir(headers) if name.endswith(".h"))}
        self.quoted = command.values("-iquote")
        self.system = System(command)
        self.folders = [*command.values("-I"), *command.values("-isystem")]
        self.marks: set[str] = set()
        self.macros: set[str] = set()  # macros that make names of headers
        self._found: dict[tuple[str, str], list[str]] = {}
        self._inside: dict[str, set[str]] = {}  # the files of a folder

    def is_plain(self) -> bool:
        system = self.system.folders
        if system is None:
            return False
        self.folders += [*system, *self.command.values("-idirafter")]
        inside = tuple(folder.rstrip("/") + "/" for folder in system)
        waiting = [
            source for source in self.command.sources + self.command.cxx if source == "-" or os.path.isfile(source)
        ]
        names: list[str] | None = ['"' + name for name in self.command.values("-include", "-imacros")]
        seen: set[str] = set()
        here = "."
        while names is not None:
            for name in names:
                places = self.places(name[1:], name[0], here)
                is_ours = os.path.basename(name[1:]) in self.ours and name[0] not in (*MARKS, MACRO)
                if is_ours and (not places or name[1:] == "mpi.h"):
                    return False
                waiting += places
            waiting = [path for path in waiting if path not in seen]
            if not waiting:
                self.system.keep()
                return not self.marks.issuperset(MARKS) and not self.makes_names(seen)
            path = waiting.pop()
            seen.add(path)
            names = self.system.names(path) if path.startswith(inside) else names_in(path)
            here = os.path.dirname(path)
        return False

    def makes_names(self, texts: set[str]) -> bool:
        """Returns true if one of these texts, or an option, defines a macro that makes the name of a header."""
        given = self.command.values("-D", "-Xpreprocessor") + [name for name, _ in self.command.options]
        if any(macro in option for option in given for macro in self.macros):
            return True
        macros = [os.fsencode(macro) for macro in self.macros]
        for path in texts if macros else ():
            text = read_input() if path == "-" else read(path)
            if any(macro in text and b"define" + macro in text.translate(None, BLANKS) for macro in macros):
                return True
        return False

    def places(self, name: str, kind: str, here: str) -> list[str]:
        """Returns the files that a name may mean; for include_next, whose kind is n, each."""
        if kind in (*MARKS, MACRO):
            (self.macros if kind == MACRO else self.marks).add(name or kind)
            return []
        if kind == '"':
            for folder in (here, *self.quoted):
                path = os.path.join(folder, name)
                if self.system.is_file(path):
                    return [path]
        if (kind, name) not in self._found:
            found = self._in_folders(name)
            self._found[kind, name] = list(found) if kind == "n" else [path for path in (next(found, None),) if path]
        return self._found[kind, name]

    def _in_folders(self, name: str) -> Iterator[str]:
        first = name.split("/", 1)[0]
        for folder in self.folders:
            if folder not in self._inside:
                try:
                    self._inside[folder] = set(os.listdir(folder))
                except OSError:
                    self._inside[folder] = set()
            if first in self._inside[folder] or first in ("", ".", ".."):
                path = os.path.join(folder, name)
                if self.system.is_file(path):
                    yield path


def names_in(path: str) -> list[str] | None:
    """Returns the includes of a file of the user: a name after `"`, `<` or n; None if it may have a notation."""
    try:
        text = read_input() if path == "-" else read(path)
    except OSError:
        return []  # the compiler reports it
    return names_of(text)


def names_of(text: bytes, *, system: bool = False) -> list[str] | None:
    names = included_names(text, system=system)
    if names is None:
        from .closely import names_closely

        names = names_closely(text, system=system)
    return names


def with_sentinels(files: list[str], folders: list[str]) -> list[str]:
    """Returns the files of Fortran, and those that they include, that may have directives of a notation."""
    out, waiting, seen = [], list(files), set[str]()
    while waiting:
        path = waiting.pop(0)
        if path in seen or not os.path.isfile(path):
            continue
        seen.add(path)
        text = read(path)
        lower = text.translate(LOWER)
        if any(sentinel in lower for sentinel in SENTINELS):
            out.append(path)
        for line in text.split(b"\n") if b"include" in lower else ():
            word, quote, rest = (
                line.lstrip(b" \t#").translate(LOWER)[:7],
                *line.replace(b'"', b"'").partition(b"'")[1:],
            )
            if word == b"include" and quote:
                name = os.fsdecode(rest.partition(b"'")[0])
                places = [os.path.join(folder, name) for folder in (os.path.dirname(path), *folders)]
                waiting += [place for place in places if os.path.isfile(place)][:1]
    return out


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def read_input() -> bytes:
    """Returns the standard input, so that others can read it again."""
    if not os.path.isfile("/dev/stdin"):
        kept = os.memfd_create("stdin")
        while piece := os.read(0, 1 << 20):
            while piece:
                piece = piece[os.write(kept, piece) :]
        os.dup2(kept, 0)
        os.close(kept)
    size = os.fstat(0).st_size
    os.lseek(0, 0, os.SEEK_SET)
    text = b""
    while len(text) < size and (piece := os.read(0, size - len(text))):
        text += piece
    os.lseek(0, 0, os.SEEK_SET)
    return text


def included_names(text: bytes, *, system: bool = False) -> list[str] | None:
    """The same for a text; None may be wrong. Headers of the system have no notations, but macros and includes of
    Hiroba's headers."""
    squeezed = text.translate(LOWER, BLANKS)
    if is_suspect(text, squeezed, system):
        bare = without_comments(text)
        if any(odd in text for odd in ODD) or is_suspect(bare, bare.translate(LOWER, BLANKS), system):
            return None
    names = [] if system else marks_in(text)
    for word in (b"include", b"import"):
        if text.count(word) != squeezed.count(word):  # a word over two lines, or in capitals
            text = text.replace(b"\\\n", b"").replace(b"\\\r\n", b"")
        at = text.find(word)
        while at >= 0:
            name = name_at(text, at + len(word)) if is_directive(text, at) else ""
            if name is None:
                return None
            names += [name] if name else []
            at = text.find(word, at + 1)
    return names


def is_suspect(text: bytes, squeezed: bytes, system: bool) -> bool:
    """Returns true if there may be a notation, outside of comments and strings or in them."""
    if any(family in squeezed for family in FAMILIES):
        return True
    return not system and (b":[" in squeezed or has_shared(text) or has_section(squeezed))


def without_comments(text: bytes) -> bytes:
    """Returns a text without its comments, and with empty strings."""
    text = text.replace(b"\\\n", b"").replace(b"\\\r\n", b"")
    pieces: list[bytes] = []
    at = 0
    places = dict.fromkeys((b"/*", b"//", b'"', b"'"), 0)
    while True:
        for mark, place in places.items():
            if 0 <= place < at or at == 0:
                places[mark] = text.find(mark, at)
        begin, mark = min(((place, mark) for mark, place in places.items() if place >= 0), default=(-1, b""))
        if begin < 0:
            return b"".join([*pieces, text[at:]])
        pieces.append(text[at:begin])
        if mark == b"/*":
            end = text.find(b"*/", begin + 2) + 2
            pieces.append(b" ")
        elif mark == b"//":
            end = text.find(b"\n", begin)
        else:
            end = string_end(text, begin, mark)
            pieces.append(mark + mark)
        at = end if end > begin else len(text)


def string_end(text: bytes, begin: int, quote: bytes) -> int:
    """Returns the end of a string; that of its quote, if none closes it on its line."""
    line = text.find(b"\n", begin)
    line = len(text) if line < 0 else line
    end = text.find(quote, begin + 1, line)
    while end > 0 and (end - len(text[begin + 1 : end].rstrip(b"\\")) - begin - 1) % 2:
        end = text.find(quote, end + 1, line)
    return end + 1 if end > 0 else begin + 1


def has_shared(text: bytes) -> bool:
    """Returns true if the word is where a declaration may begin."""
    at = text.find(b"shared")
    while at >= 0:
        before = text[text.rfind(b"\n", 0, at) + 1 : at].rstrip()
        if not before or before[-1] in b";{}/" or before.endswith((b"extern", b"static")):
            return True
        at = text.find(b"shared", at + 1)
    return False


def has_section(squeezed: bytes) -> bool:
    """Returns true if there may be one, a[0:9]."""
    pieces = squeezed.split(b"[")[1:] if b":" in squeezed else []
    return any(b":" in (index := piece.partition(b"]")[0]) and b"?" not in index for piece in pieces)


def marks_in(text: bytes) -> list[str]:
    return ["_"] * (b"_Pragma" in text) + ["#"] * (b"##" in text)


def is_directive(text: bytes, at: int) -> bool:
    """Returns true if a # may be before this place, in one of its spellings, or `__has_` is."""
    i = at - 1
    while i >= 0 and text[i] in BLANKS:
        i -= 1
    return i >= 0 and (text[i] in b"#:=" or text[i - 1 : i + 1] == b"*/" or text[max(0, at - 6) : at] == b"__has_")


def name_at(text: bytes, at: int) -> str | None:
    """Returns the name of a header with its kind before it; "" if this is none, None if that is not certain."""
    kind = ""
    if text[at : at + 5] == b"_next":
        at, kind = at + 5, "n"
    if text[at : at + 1].isalnum():
        return ""  # #included
    while text[at : at + 1] and text[at] in BLANKS + b"(":
        at += 1
    first = text[at : at + 1]
    end = text.find(b'"' if first == b'"' else b">", at + 1, at + 4096)
    if first in (b'"', b"<"):
        return (kind or first.decode()) + os.fsdecode(text[at + 1 : end]) if end > 0 else None
    end = at
    while text[end : end + 1].isalnum() or text[end : end + 1] == b"_":
        end += 1
    if end > at:
        return MACRO + os.fsdecode(text[at:end])
    return None if first == b"/" else ""


class System:
    """A compiler's folders of headers, and the includes there. A cache per compiler has the results."""

    def __init__(self, command: Command) -> None:
        self.cc = command.cc
        options = [f"{name}={value}" if value else name for name, value in command.options if name.startswith(PLACES)]
        self.options = [word for pair in command.options if pair[0].startswith(PLACES) for word in pair if word]
        self.key = "\t".join([*self._identity(), *options]).replace("\n", " ")
        self.file = self._file()
        self.known: dict[str, tuple[str, list[str] | None]] = {}
        self.is_new = False
        self._stamps: dict[str, str] = {}
        self.folders = self._load() or self._ask()

    def _identity(self) -> list[str]:
        """Returns the identity of the compiler, with the environment variables that it reads."""
        out = ["1"]
        for word in self.cc:
            path = os.path.realpath(find_program(word) or word)
            out += [word, path, stamp(path)]
        told = (f"{k}={v}" for k, v in os.environ.items() if k in ENVIRONMENT or k.startswith(WRAPPERS))
        return [*out, *sorted(told)]

    def _file(self) -> str:
        from zlib import crc32

        home = os.environ.get("HOME", "")
        base = os.environ.get("XDG_CACHE_HOME", "") or (os.path.join(home, ".cache") if home else "")
        return os.path.join(base, "hiroba", f"headers-{crc32(os.fsencode(self.key)):08x}") if base[:1] == "/" else ""

    def _load(self) -> list[str] | None:
        """One line each: the key, the folders, and per header its path, its stamp, and its names."""
        try:
            lines = os.fsdecode(read(self.file)).split("\n") if self.file else []
        except OSError:
            return None
        if len(lines) < 3 or lines[0] != self.key or lines[-1] != "end":
            return None
        for line in lines[2:-1]:
            path, when, plain, *names = line.split("\t")
            self.known[path] = (when, names if plain == "+" else None)
        return lines[1].split("\t")

    def _ask(self) -> list[str] | None:
        try:
            said = errors_of([*self.cc, *self.options, "-E", "-v", "-x", "c", os.devnull])
        except OSError:
            return None
        _, begin, rest = os.fsdecode(said).partition("#include <...> search starts here:\n")
        listed, end, _ = rest.partition("End of search list.")
        self.is_new = bool(begin and end)
        return [line.strip() for line in listed.splitlines()] if self.is_new else None

    def is_file(self, path: str) -> bool:
        if path not in self._stamps:
            self._stamps[path] = stamp(path)
        return self._stamps[path] != ""

    def names(self, path: str) -> list[str] | None:
        when = self._stamps.get(path) or stamp(path)
        if path in self.known and self.known[path][0] == when:
            return self.known[path][1]
        try:
            names = names_of(read(path), system=True)
        except OSError:
            return []
        if "\n" not in path + "".join(names or []) and "\t" not in path + "".join(names or []):
            self.known[path] = (when, names)
            self.is_new = True
        return names

    def keep(self) -> None:
        """Writes new results, if possible; the last writer wins, and each file is whole."""
        if not self.is_new or not self.file:
            return
        lines = [self.key, "\t".join(self.folders or [])]
        for path, (when, names) in self.known.items():
            lines.append("\t".join([path, when, "-" if names is None else "+", *(names or [])]))
        part = f"{self.file}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(self.file), 0o700, exist_ok=True)
            with open(part, "xb") as file:
                file.write(os.fsencode("\n".join([*lines, "end"])))
            os.rename(part, self.file)
        except OSError:
            try:
                os.unlink(part)
            except OSError:
                pass


def errors_of(words: list[str]) -> bytes:
    """Returns a command's standard error. To import subprocess takes longer."""
    end, begin = os.pipe()
    quiet = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    try:
        environment = {**os.environ, "LC_ALL": "C"}
        child = os.posix_spawnp(
            words[0], words, environment, file_actions=[quiet, (os.POSIX_SPAWN_DUP2, begin, 2)], setsigdef=[SIGPIPE]
        )
    finally:
        os.close(begin)
    with open(end, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


def stamp(path: str) -> str:
    """Returns a value that changes when a file does; empty for none."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError):  # a name may have a null character
        return ""
    return f"{seen.st_size}.{seen.st_mtime_ns}" if seen.st_mode & 0o170000 == 0o100000 else ""
