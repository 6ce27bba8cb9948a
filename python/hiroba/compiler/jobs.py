"""The programs that the C compiler's driver would start for a command: `cc -###` prints them. They have the names of
all files that it makes, so none has to be guessed here, and a job can be run with another text in place of a source."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

# A line that begins with a blank is a command; its words are quoted if they have to be, and may have several lines.
LINE = re.compile(r'^ ((?:[^\n"]|"(?:[^"\\]|\\[\s\S])*")*)$|^([A-Z][A-Z_]+)=([^\n]*)$|^([^\n]*)$', re.MULTILINE)
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)', re.DOTALL)
FOR_PROGRAMS = ("COLLECT_", "OFFLOAD_", "COMPILER_PATH", "LIBRARY_PATH")
LINKERS = re.compile(r"collect2|ld(?:[.-]\w+)?|mold|lld")


def options(text: str) -> frozenset[str]:
    return frozenset(text.split())


VALUES = options(
    "-o -I -D -U -A -include -imacros -isystem -iquote -idirafter -isysroot -iprefix -iwithprefix -iwithprefixbefore "
    "-imultilib -imultiarch -MD -MMD -MF -MT -MQ -aux-info -auxbase -auxbase-strip -dumpbase -dumpbase-ext -dumpdir "
    "--param -main-file-name"
)


@dataclass(frozen=True)
class Dialect:
    """The options by which a compiler proper is controlled."""

    preprocess: tuple[str, ...]
    only_compiling: frozenset[str]  # options, which are left out when it preprocesses ...
    compile: tuple[str, ...]
    only_preprocessing: frozenset[str]  # ... or compiles preprocessed text, such as those of dependencies
    only_preprocessing_with: frozenset[str]  # the same, which have a value
    colour: str


GCC = Dialect(
    ("-E", "-fno-working-directory"),
    options("-E -P -C -CC -version -fpch-preprocess -fworking-directory -dD"),
    ("-fpreprocessed",),
    options("-MP -MG -v -H"),
    options("-MD -MMD -MF -MT -MQ"),
    "-fdiagnostics-color=always",
)
CLANG = Dialect(
    ("-E",),
    options("-E -P -C -CC -S -emit-obj -emit-llvm -emit-llvm-bc -emit-llvm-uselists -fsyntax-only"),
    (),
    options("-MP -MG -H -sys-header-deps -module-file-deps"),
    options("-dependency-file -MT -header-include-file"),
    "-fcolor-diagnostics",
)


class Job:
    def __init__(self, words: list[str], environment: dict[str, str]) -> None:
        self.words, self.environment = words, environment
        at = next((i for i, word in enumerate(words) if Path(word).name == "cc1"), None)
        self.dialect: Dialect | None = None if at is None else GCC
        if at is None and "-cc1" in words[1:]:
            at, self.dialect = words.index("-cc1"), CLANG
        self.program = at or 0  # begin of the options, after a wrapper
        self.output = words[words.index("-o") + 1] if "-o" in words[:-1] else ""

    @property
    def name(self) -> str:
        return Path(self.words[self.program]).name

    @property
    def links(self) -> bool:
        return LINKERS.fullmatch(self.name) is not None

    def has(self, *words: str) -> bool:
        return any(word in self.words for word in words)

    def source(self, names: Collection[str]) -> str | None:
        """Returns the one of these C files that it reads."""
        at = self._input(names)
        return self.words[at] if at is not None else None

    def _input(self, names: Collection[str]) -> int | None:
        for at in range(self.program + 1, len(self.words)) if self.dialect is not None else ():
            before = self.words[at - 1]
            if self.words[at] in names and before not in VALUES:
                return at
        return None

    def preprocessing(self, source: str, file: str, out: str, more: list[str]) -> list[str]:
        """Returns the command that makes preprocessed text of a file, which may replace the source."""
        assert self.dialect is not None
        options = without(self._options(source, file), self.dialect.only_compiling, frozenset(["-o"]))
        return [*self._begin, *self.dialect.preprocess, *more, *options, "-o", out]

    def compiling(self, source: str, file: str) -> list[str]:
        """Returns the command that compiles preprocessed text instead of the source, and makes no dependencies
        again."""
        assert self.dialect is not None
        options = without(
            self._options(source, file), self.dialect.only_preprocessing, self.dialect.only_preprocessing_with
        )
        if self.dialect is CLANG:
            options[options.index("-x", len(options) - 4) + 1] = "cpp-output"
        return [*self._begin, *self.dialect.compile, *options]

    def without_dependencies(self, words: list[str]) -> list[str]:
        assert self.dialect is not None
        return without(words, self.dialect.only_preprocessing, self.dialect.only_preprocessing_with)

    def stripping(self, file: str) -> list[str]:
        """Returns the command that makes text without line markers of preprocessed text."""
        return [*self._begin, "-E", "-P", *([] if self.dialect is CLANG else ["-fpreprocessed", "-quiet"]), file]

    @property
    def _begin(self) -> list[str]:
        return self.words[: self.program + 1]

    def _options(self, source: str, file: str) -> list[str]:
        """Returns the command with one file replaced by another where that is read."""
        at = self._input([source])
        assert at is not None
        return [*self.words[self.program + 1 : at], file, *self.words[at + 1 :]]


def without(words: list[str], alone: frozenset[str], with_value: frozenset[str]) -> list[str]:
    out, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in with_value:
            skip = True
        elif word not in alone:
            out.append(word)
    return out


def jobs_of(cc: list[str], words: list[str], folder: str, *, everything: bool) -> tuple[list[Job], str, int]:
    """Returns the jobs, in order, with files in `folder` between them; the driver's messages, including its own if
    `everything`; and its status."""
    environment = {**os.environ, "TMPDIR": folder}
    done = subprocess.run([*cc, "-###", *words], check=False, capture_output=True, env=environment)
    jobs, said = [], ""
    told: dict[str, str] = {}
    for line in LINE.finditer(os.fsdecode(done.stderr)):
        if line[1] is not None:
            found = [bare(word) for word in WORD.finditer(line[1])]
            if found and not found[0].startswith("("):
                jobs.append(Job(found, dict(told)))
        elif line[2] is not None:
            if line[2].startswith(FOR_PROGRAMS):
                told[line[2]] = line[3]
        elif line[4].startswith(tuple(f"{Path(name).name}: " for name in (cc[0], told.get("COLLECT_GCC", cc[0])))):
            said += line[4] + "\n"
    return jobs, os.fsdecode(done.stderr) if everything else said, done.returncode


def bare(word: re.Match[str]) -> str:
    return re.sub(r"\\(.)", r"\1", word[1], flags=re.DOTALL) if word[2] is None else word[2]
