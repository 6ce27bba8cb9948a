"""hirobacc is used where cc is. Its own options begin with two dashes; every other one goes to the C compiler."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .core.every_rank import OPTION
from .core.source import CompileError
from .foreign import is_cxx, refuse_notation
from .headers import header_folders, header_words
from .link import check
from .pointing import Pointing
from .translate import has_notation, translate

USAGE = """\
usage: hirobacc [--cc COMPILER] [--show] [--explain] [options of the C compiler] FILE...

Compiles C that may contain MpC (`shared` arrays), SMint (#pragma SMint) and coarrays (a[i]:[image], #pragma xmp), and
links with libhiroba.

  hirobacc -O3 -fopenmp stencil.c -o stencil     compile and link; run it with hirobarun -n 4 ./stencil
  hirobacc -c -O3 part.c                         compile only; any other flag of cc works as it does there
  hirobacc --explain -c stencil.c                also say, per loop: who computes what, what is fetched, and why;
                                                 and what each access to another image becomes
  hirobacc --show stencil.c                      print the C that is compiled, and stop
  CC=hirobacc make, cmake -DCMAKE_C_COMPILER=hirobacc

  -Wno-error=every-rank   only warn of what every rank does although one should; -Wno-every-rank: not even that
  --cc COMPILER   the C compiler behind it (default: HIROBACC_CC, else cc): gcc, clang, mpicc, nvcc
  --help          this text
"""
WITH_VALUE_TEXT = (
    "-o -I -D -U -include -imacros -isystem -iquote -idirafter -isysroot --sysroot -MF -MT -MQ -L -l -x -T -u -z "
    "-Xlinker -Xpreprocessor -Xassembler -Xcompiler -ccbin -framework -arch -aux-info"
)
WITH_VALUE = frozenset(WITH_VALUE_TEXT.split())
OWN_WARNINGS = (f"-Wno-error={OPTION}", f"-Wno-{OPTION}")
DEPENDENCIES = ("-MD", "-MMD", "-MP", "-MG", "-M", "-MM")
DEPENDENCIES_WITH = ("-MF", "-MT", "-MQ")


@dataclass
class Command:
    cc: list[str]
    flags: list[str] = field(default_factory=list)  # in order, without inputs
    words: list[str] = field(default_factory=list)  # everything, as given
    sources: list[str] = field(default_factory=list)  # C; "-" is the standard input
    cxx: list[str] = field(default_factory=list)  # C++, which are among the others
    others: list[str] = field(default_factory=list)  # C++, CUDA, assembly, objects, archives
    output: str = ""
    stage: str = "link"  # or -c, -S, -E
    show: bool = False
    explain: bool = False
    ours: list[str] = field(default_factory=list)  # flags of warnings that are hirobacc's own


def read_command(arguments: list[str]) -> Command:
    command = Command(os.environ.get("HIROBACC_CC", "cc").split())
    arguments = [word for given in arguments for word in from_file(given)]
    words = iter(arguments)
    language = "none"
    if arguments and is_compiler(arguments[0]):  # CMake's C_COMPILER_LAUNCHER
        command.cc = [next(words)]
    for word in words:
        if word == "--help":
            print(USAGE, end="")
            sys.exit(0)
        if word in ("--show", "--explain"):
            setattr(command, word[2:], True)
            continue
        if word in OWN_WARNINGS:
            command.ours.append(word)
            continue
        if word == "--cc" or word.startswith("--cc="):
            command.cc = (word[5:] if "=" in word else next(words, "cc")).split()
            continue
        if word.startswith("-x") and len(word) > 2 and not word.startswith("-xpreproc"):
            words, word = itertools.chain([word[2:]], words), "-x"
        command.words.append(word)
        if word in WITH_VALUE:
            value = next(words, "")
            command.words.append(value)
            if word == "-x":
                language = value
            elif word == "-o":
                command.output = value
            else:
                command.flags += [word, value]
        elif word.startswith("-o") and len(word) > 2 and not word.startswith("-of"):
            command.output = word[2:]
        elif word in ("-c", "-S", "-E"):
            command.stage = word
        elif word == "-fsyntax-only":
            command.stage = "-c"
            command.flags.append(word)
        elif is_c(word, language):
            command.sources.append(word)
        elif word.startswith("-"):
            command.flags.append(word)
        else:
            command.others.append(word)
            if is_cxx(word, language):
                command.cxx.append(word)
    return command


def from_file(word: str) -> list[str]:
    """The words of a response file, @FILE."""
    if not word.startswith("@") or not Path(word[1:]).is_file():
        return [word]
    inside = shlex.split(Path(word[1:]).read_text(encoding="utf-8", errors="surrogateescape"))
    return [each for given in inside for each in from_file(given)]


def is_c(word: str, language: str) -> bool:
    """Whether this is a C file; `language` is what -x said last."""
    if language == "none":
        return word.endswith(".c") and not word.startswith("-")
    return language == "c" and (word == "-" or not word.startswith("-"))


def is_nvcc(command: Command) -> bool:
    """It hands C to another compiler, but knows neither all of its kinds of input nor -Wl."""
    return named_nvcc(command.cc[0])


def named_nvcc(compiler: str) -> bool:
    return Path(compiler).name.startswith("nvcc")


def is_compiler(word: str) -> bool:
    named = Path(word).suffix not in (".c", ".o", ".a", ".so", ".i", ".s") and not word.startswith("-")
    return named and shutil.which(word) is not None


@dataclass(frozen=True)
class Installation:
    """Where smint.h and libhiroba are."""

    headers: Path
    libraries: Path


def run(words: list[str], pointing: Pointing | None = None) -> int:
    """With `pointing`, messages are made to point at the user's text."""
    try:
        if pointing is None or any(word.startswith("-fdiagnostics-format") for word in words):
            return subprocess.run(words, check=False).returncode
        colour = ["-fdiagnostics-color=always"] if sys.stderr.isatty() and not named_nvcc(words[0]) else []
        done = subprocess.run([*words, *colour], check=False, stderr=subprocess.PIPE)
        if done.stderr:
            sys.stderr.flush()
            messages = pointing.rewrite(done.stderr.decode(errors="surrogateescape"))
            sys.stderr.buffer.write(messages.encode(errors="surrogateescape"))
        return done.returncode
    except FileNotFoundError:
        print(f"hirobacc: there is no C compiler `{words[0]}`; name one with --cc", file=sys.stderr)
        return 1


def without_dependencies(flags: list[str]) -> list[str]:
    out, skip = [], False
    for flag in flags:
        if skip:
            skip = False
        elif flag in DEPENDENCIES_WITH:
            skip = True
        elif flag not in DEPENDENCIES and not flag.startswith(("-Wp,-M", "-MF", "-MT", "-MQ")):
            out.append(flag)
    return out


def compiling_flags(flags: list[str]) -> list[str]:
    """Without what concerns the preprocessor only, which has run, and the linker."""
    out, skip = [], False
    for flag in without_dependencies(flags):
        if skip:
            skip = False
        elif flag in ("-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-imacros", "-L", "-l", "-x"):
            skip = True
        elif not re.match(r"-(I|D|U|L|l|Wl,)", flag) and flag not in ("-pthread",):
            out.append(flag)
    return out


class Translation:
    """One source file on its way: preprocessed, translated, compiled."""

    def __init__(self, command: Command, source: str, include: str) -> None:
        self.command, self.source = command, source
        self.include = header_words(source, include)
        self.language = [] if source.endswith(".c") else ["-x", "c"]
        self.changed = False
        self.pointing: Pointing | None = None

    def preprocessed(self, target: str) -> str | None:
        flags = list(self.command.flags)
        asks = any(f in ("-MD", "-MMD") for f in flags)
        if asks and "-MF" not in flags:
            flags += ["-MF", str(Path(target).with_suffix(".d"))]
        if asks and "-MT" not in flags and "-MQ" not in flags:
            flags += ["-MT", target]
        words = [*self.command.cc, "-E", *flags, *self.include, *self.language, self.source]
        done = subprocess.run(words, check=False, stdout=subprocess.PIPE)
        return done.stdout.decode("latin-1") if done.returncode == 0 else None

    def at_end(self, text: str) -> str:
        """What the preprocessor makes of a text that stands at the end of the file."""
        macros = ["-imacros", self.source]
        if is_nvcc(self.command):
            macros = [part for word in macros for part in ("-Xcompiler", word)]
        with tempfile.NamedTemporaryFile(prefix="hirobacc-", suffix=".c") as file:
            file.write(text.encode("latin-1"))
            file.flush()
            flags = [*without_dependencies(self.command.flags), *self.include, *macros]
            words = [*self.command.cc, "-E", *flags, file.name]
            done = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout.decode("latin-1")

    def translated(self, target: str) -> str | None:
        text = self.preprocessed(target)
        if text is None:
            return None
        try:
            out, explained, source = translate(text, self.at_end, self.command.ours)
        except CompileError:
            return None
        self.changed = out is not text
        self.pointing = Pointing(source, out) if self.changed else None
        if self.command.explain and explained:
            print("\n".join(explained), file=sys.stderr)
        return out


def main(arguments: list[str], installation: Installation) -> int:
    command = read_command(arguments)
    include, library = str(installation.headers), str(installation.libraries)
    if shutil.which(command.cc[0]) is None:
        return run(command.cc)
    if {"-M", "-MM"} & set(command.words):
        return run([*command.cc, *command.words, *header_folders(include)])
    if command.stage != "-E" and refuse_notation(command.cxx):
        return 1
    with tempfile.TemporaryDirectory(prefix="hirobacc-") as folder:
        if "-" in command.sources:
            read_input(command, Path(folder) / "stdin.c")
        present = [s for s in command.sources if Path(s).is_file()]
        ours = present if any(may_have_notation(s) for s in present) else []
        linked = link_words(library, command)
        if ours:
            return compile_all(command, ours, include, linked, Path(folder))
        if links(command) and not check(given_objects(command)):
            return 1
        return run([*command.cc, *command.words, *header_folders(include), *(linked if links(command) else [])])


def read_input(command: Command, file: Path) -> None:
    """Puts a file in place of the standard input."""
    file.write_bytes(b'# 1 "<stdin>"\n' + sys.stdin.buffer.read())
    for words in (command.sources, command.words):
        words[:] = [str(file) if word == "-" else word for word in words]


def given_objects(command: Command) -> dict[str, str]:
    return {
        word: word for word in command.words if word.endswith(".o") and Path(word).is_file() and word != command.output
    }


def may_have_notation(source: str) -> bool:
    """Also when only a header has it: then the file includes one of ours."""
    text = Path(source).read_text(encoding="latin-1")
    return has_notation(text) or re.search(r"#\s*include", text) is not None


def links(command: Command) -> bool:
    return command.stage == "link" and bool(command.sources or command.others)


def link_words(library: str, command: Command) -> list[str]:
    if "-nostdlib" in command.words:
        return []
    path = ["-Xlinker", "-rpath", "-Xlinker", library] if is_nvcc(command) else [f"-Wl,-rpath,{library}"]
    return [f"-L{library}", *path, "-lhiroba"]


def compile_all(command: Command, ours: list[str], include: str, linked: list[str], folder: Path) -> int:
    if command.stage in ("-c", "-S") and command.output and len(command.sources + command.others) > 1:
        return run([*command.cc, *command.words])  # which one file cannot be; it says so
    replaced: dict[str, list[str]] = {}
    failed = 0  # the status of the first file that is wrong; the others are compiled, too
    for number, source in enumerate(ours):
        target = (
            command.output if command.stage == "-c" and command.output else str(Path(source).with_suffix(".o").name)
        )
        translation = Translation(command, source, include)
        text = translation.translated(target)
        if text is None:
            failed = failed or 1
            continue
        if command.show or command.stage == "-E":
            return show(command, text)
        kind, suffix = ("c", ".c") if is_nvcc(command) else ("cpp-output", ".i")
        written = folder / f"{number}-{Path(source).stem}{suffix}"
        written.write_bytes(text.encode("latin-1"))
        as_it_is = [*without_dependencies(command.flags), *translation.include, *translation.language, source]
        translated = [*compiling_flags(command.flags), "-x", kind, str(written)]
        stage = "-S" if command.stage == "-S" else "-c"
        if command.stage == "link":
            out = str(folder / f"{number}-{Path(source).stem}.o")
        else:
            out = command.output or str(Path(source).with_suffix(".s" if stage == "-S" else ".o").name)
        input_words = translated if translation.changed else as_it_is
        status = run([*command.cc, stage, *input_words, "-o", out], translation.pointing)
        failed = failed or status
        replaced[source] = [out]
    if failed:
        return failed
    if command.stage != "link":
        rest = [s for s in command.sources if s not in ours] + command.others
        flags = without_language(command.flags)
        return run([*command.cc, command.stage, *flags, *header_folders(include), *rest]) if rest else 0
    words = [new for word in without_language(command.words) for new in replaced.get(word, [word])]
    objects = {new[0]: source for source, new in replaced.items()}
    if not check(objects | given_objects(command)):
        return 1
    return run([*command.cc, *without_dependencies(words), *linked])


def without_language(words: list[str]) -> list[str]:
    """Objects have taken the place of the C files that -x was for."""
    out: list[str] = []
    for word in words:
        if out[-1:] == ["-x"] and word in ("c", "none"):
            out.pop()
        else:
            out.append(word)
    return out


def show(command: Command, text: str) -> int:
    if command.stage == "-E" and command.output:
        Path(command.output).write_bytes(text.encode("latin-1"))
    else:
        sys.stdout.buffer.write(text.encode("latin-1"))
    return 0
