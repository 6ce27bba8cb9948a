"""A command line as cc reads it, as far as hirobacc needs it: the C files, the folders of their headers, and if
there is a link. The C compiler gets all words unchanged. Imports little, because most commands go to the C compiler
at once."""

from __future__ import annotations

import os

USAGE = """\
usage: hirobacc [--cc COMPILER] [--show] [--explain] [--check] [options of the C compiler] FILE...

Compiles C that may contain MpC (`shared` arrays), SMint (#pragma SMint) and coarrays (a[i]:[image], #pragma xmp), and
links with libhiroba.

  hirobacc -O3 -fopenmp stencil.c -o stencil     compile and link; run it with hirobarun -n 4 ./stencil
  hirobacc -c -O3 part.c                         compile only; any other flag of cc works as it does there
  hirobacc --explain -c stencil.c                also say, per loop: who computes what, what is fetched, and why;
                                                 and what each access to another image becomes
  hirobacc --check -g stencil.c -o stencil       also check, while it runs, each subscript of XcalableMP's aligned
                                                 arrays, and that shadows are not older than what they show
  hirobacc --show stencil.c                      print the C that is compiled, and stop
  CC=hirobacc make, cmake -DCMAKE_C_COMPILER=hirobacc
  hirobacc -fopenmp-nodes -O3 heat.c -o heat     an OpenMP program, unchanged, on the threads of all ranks; in C++ and
                                                 Fortran by --cc g++, --cc gfortran

  -Wno-error=every-rank   only warn of what every rank does although one should; -Wno-every-rank: not even that
  -Wno-some-ranks         do not warn of directives for all ranks under conditions that depend on the rank
  --cc COMPILER   the C compiler behind it (default: HIROBACC_CC, else cc): gcc, clang, mpicc, nvcc
  --help          this text
"""
# The C compiler gets these for -fopenmp-nodes: atomic operations become calls, and code may lie at any address. What a
# loop adds up stays in registers although a call follows the loop, at -O1, too.
OVER_NODES = ("-fopenmp", "-fPIE", "-fno-inline-atomics", "-fcaller-saves")
# GCC 12 needs these for -fgnu-tm: else it loads variables before the transaction, or ends with an internal error.
WITH_TRANSACTIONS = ("-fno-code-hoisting", "-fno-isolate-erroneous-paths-dereference")
OWN_WARNINGS = frozenset(f"-Wno-{error}{name}" for name in ("every-rank", "some-ranks") for error in ("", "error="))
# Options of cc whose value may be a separate word.
SHORT = (
    "-o -x -I -D -U -A -B -L -l -T -u -e -z -h -R -G -Ttext -Tdata -Tbss -include -imacros -isystem -iquote -idirafter "
    "-isysroot -iprefix -iwithprefix -iwithprefixbefore -imultilib -imultiarch -MF -MT -MQ -Xlinker -Xpreprocessor "
    "-Xassembler -aux-info -dumpbase -dumpbase-ext -dumpdir -wrapper -Xclang -mllvm -target -arch -framework "
    "-include-pch -ivfsoverlay -Xcompiler -ccbin"
)
LONG = (
    "--param --sysroot --output --language --include --imacros --define-macro --undefine-macro --include-directory "
    "--include-directory-after --include-prefix --include-with-prefix --include-with-prefix-after "
    "--include-with-prefix-before --include-barrier --library-directory --for-linker --for-assembler --force-link "
    "--prefix --specs --entry --assert --dumpbase --dumpbase-ext --dumpdir --machine"
)
WITH_VALUE = frozenset((SHORT + " " + LONG).split())
# The same in one word, -Idir; the longest first.
ATTACHED = ("-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I", "-D", "-U", "-x")
ALSO = {
    "--output": "-o",
    "--language": "-x",
    "--include": "-include",
    "--imacros": "-imacros",
    "--define-macro": "-D",
    "--undefine-macro": "-U",
    "--include-directory": "-I",
    "--include-directory-after": "-idirafter",
    "--preprocess": "-E",
    "--compile": "-c",
    "--assemble": "-S",
    "--dependencies": "-M",
    "--user-dependencies": "-MM",
}
# Options after which nothing is linked.
ENDS = frozenset(("-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-dumpversion", "-dumpmachine"))
CXX = (".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".hpp", ".hh", ".hxx")
FORTRAN = (".f", ".for", ".ftn", ".fpp", ".f90", ".f95", ".f03", ".f08")  # in any case
# Other files whose compiler ignores notation, by their endings or the language that -x names.
IGNORING = {
    **dict.fromkeys(CXX, "C++"),
    **dict.fromkeys((".cu", "cuda"), "CUDA"),
    **dict.fromkeys((".m", ".mm", "objective-c", "objective-c++"), "Objective-C"),
    **dict.fromkeys((".i", ".ii", "cpp-output", "c++-cpp-output"), "preprocessed text"),
    **dict.fromkeys(("c++", "c++-header"), "C++"),
}
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".H", ".hp", ".h++", ".tcc")
SPECIAL = "\\'\""
COMPILERS = ("cc", "gcc", "clang", "icc", "icx", "nvc", "nvcc", "pgcc", "tcc", "xlc")


class Command:
    def __init__(self, cc: list[str]) -> None:
        self.cc = cc
        self.given: list[str] = []  # for the C compiler, response files as such
        self.words: list[str] = []  # the same with the words of response files
        self.options: list[tuple[str, str]] = []  # with their values, under one name
        self.sources: list[str] = []  # with their values, under one name
        self.cxx: list[str] = []  # C++ files, which are among the others
        self.others: list[str] = []  # all other inputs
        self.ignoring: list[tuple[str, str]] = []  # those whose compiler would ignore notation, and their language
        self.fortran: list[str] = []
        self.show = False
        self.explain = False
        self.help = False
        self.over_nodes = False  # an OpenMP program for all ranks
        self.warnings: list[str] = []  # options for hirobacc's own

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[str]:
        return [value for name, value in self.options if name in names]

    @property
    def links(self) -> bool:
        files = [name for name in self.sources + self.others if not name.endswith(HEADERS)]
        return bool(files) and not any(name in ENDS for name, _ in self.options)


def read_command(arguments: list[str]) -> Command:
    command = Command(os.environ.get("HIROBACC_CC", "cc").split())
    if arguments and is_compiler(arguments[0]):  # CMake's C_COMPILER_LAUNCHER
        command.cc, arguments = arguments[:1], arguments[1:]
    kept: list[str] = []
    language = "none"
    inside = [from_file(word) if word[0:1] == "@" else [word] for word in arguments]
    all_words = [word for each in inside for word in each]
    words = iter(all_words)
    for word in words:
        if word in ("--show", "--explain"):
            setattr(command, word[2:], True)
        elif word == "--help":
            command.help = True
        elif word in OWN_WARNINGS or word == "--check":
            command.warnings.append(word)
        elif word == "-fopenmp-nodes":
            command.over_nodes = True
            kept += OVER_NODES
        elif word == "-fgnu-tm":
            command.options.append((word, ""))
            kept += [word, *WITH_TRANSACTIONS]
        elif word == "--cc" or word.startswith("--cc="):
            command.cc = (word[5:] if "=" in word else next(words, "cc")).split() or ["cc"]
        else:
            kept.append(word)
            if word[0:1] != "-" or word == "-":
                take_file(command, word, language)
                continue
            name, value = split_option(word)
            if value is None:
                value = next(words, None)
                kept += [] if value is None else [value]
            command.options.append((ALSO.get(name, name), value or ""))
            language = value or "" if ALSO.get(name, name) == "-x" else language
    if command.over_nodes and command.has("-fPIC", "-fpic"):  # of a shared library; the last of these options counts
        kept.remove("-fPIE")
    command.words = kept
    command.given = kept if kept != all_words else arguments
    return command


def split_option(word: str) -> tuple[str, str | None]:
    """Returns its name and its value; None if that is the next word."""
    if word in WITH_VALUE:
        return word, None
    if word[1] == "-":
        name, equals, value = word.partition("=")
        return (name, value) if equals and name in WITH_VALUE else (word, "")
    for name in ATTACHED:
        if word.startswith(name) and word[2] not in "=-":
            return name, word[len(name) :]
    return word, ""


def take_file(command: Command, word: str, language: str) -> None:
    by_name = language == "none"
    if language == "c" or (by_name and (word.endswith(".c") or (word == "-" and command.has("-E")))):
        command.sources.append(word)
        return
    command.others.append(word)
    if language == "c++" or (by_name and word.endswith(CXX)):
        command.cxx.append(word)
    ending = os.path.splitext(word)[1] if by_name else language
    if ending in IGNORING:
        command.ignoring.append((word, IGNORING[ending]))
    elif ending.lower() in FORTRAN or ending.startswith(("f77", "f95")):
        command.fortran.append(word)


def from_file(word: str, depth: int = 0) -> list[str]:
    """Returns the words of a response file, @FILE, as the C compiler reads them."""
    try:
        with open(os.fsencode(word[1:]), "rb") as file:
            text = os.fsdecode(file.read())
    except OSError:
        return [word]
    out: list[str] = []
    for each in split_words(text):
        out += from_file(each, depth + 1) if each[0:1] == "@" and depth < 100 else [each]
    return out


def split_words(text: str) -> list[str]:
    """Splits at blanks; a backslash keeps the character after it, and quotes keep their contents."""
    if not any(special in text for special in SPECIAL):
        return text.split()
    import re

    quoted = r"""\\(.)|'((?:[^'\\]|\\.)*)'?|"((?:[^"\\]|\\.)*)"?"""

    def bare(found: re.Match[str]) -> str:
        inside = next(text for text in (*found.groups(), "") if text is not None)
        return inside if found[1] else re.sub(r"\\(.)", r"\1", inside, flags=re.DOTALL)

    words = re.finditer(rf"""(?:[^\s\\'"]|{quoted}|\\)+""", text, re.DOTALL)
    return [re.sub(quoted, bare, word[0], flags=re.DOTALL) for word in words]


def is_compiler(word: str) -> bool:
    """Returns true if this, before all options, is the name of a C compiler, and a program."""
    name = os.path.basename(word)
    bare = name.rstrip("0123456789.").rstrip("-").rsplit("-", 1)[-1]
    named = bare in COMPILERS or name in ("c89", "c99") or name.startswith(("mpicc", "mpiicc", "mpiicx", "oshcc"))
    return named and find_program(word) is not None


def find_program(word: str) -> str | None:
    for folder in [""] if "/" in word else os.environ.get("PATH", os.defpath).split(":"):
        path = os.path.join(folder, word)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None
