"""Options of the C compiler: each command by the compiler alone and by hirobacc, in one folder. The same files with the
same contents, the same output and status for C without a notation; the same names of files, dependencies and messages
for C with one, which the compiler alone takes for C with unknown pragmas."""

import pathlib
import re
import shlex
import shutil
import unittest
from collections.abc import Iterator

from compiling import CompilerTest, Ended, execute, execute_hirobacc

HEADER = "#define N 8\n#ifdef WARN\n#warning old header\n#endif\nint twice(int n);\n"
# What GCC says of comments and directives, once each, if it is asked to.
WARNED = """\
#if UNDEFINED
#endif
#pragma unknown
/* /* */
int chosen(int n) {
  switch (n) {
    case 1:
      n++;
      /* fall through */
    case 2: n++; // FALLTHRU
    case 3:
      n++;
    default:
      return n;
  }
}
"""
PLAIN = f"""\
#include "part.h"
int printf(const char* format, ...);
{WARNED}
static int sum(const int* a) {{
  int total = 0;
  for (int i = 0; i < N; i++) total += twice(a[i]);
  return total;
}}
int main(void) {{
  int a[N] = {{1, 2, 3}};
  printf("%d\\n", sum(a));
  return 0;
}}
"""
NOTATION = PLAIN.replace(
    "int main", "#pragma SMint shared ::[NPROCS](0, NPROCS)\nint shared_array[N];\nint main"
).replace("  printf", "#pragma SMint parallel for\n  for (int i = 0; i < N; i++) shared_array[i] = i;\n  printf")
FILES = {
    "part.c": '#include "part.h"\nint twice(int n) { return 2 * n; }\n',
    "include/part.h": HEADER,
    "more/forced.h": "#define FORCED 1\n",
    "bad.c": "int f(void) { return none; }\n",
    "absent.c": '#include "absent.h"\nint x;\n',
    "text.txt": "int text;\n",
    "done.i": '# 1 "done.c"\nint done;\n',
    "low.s": "\t.globl low\nlow:\n\tret\n",
    "low.S": "#include <part.h>\n\t.globl upper\nupper:\n\tret\n",
    "plus.cpp": 'extern "C" int plus(int n) { return n + 1; }\n',
    "words.rsp": "-Iinclude -DX='a b' \"-DY=1\" -c\n-O1 a\\.c\n",
    "a.profile": "",
    "map.specs": "",
    "wrapper": '#!/bin/sh\necho wrapped >&2\nexec "$@"\n',
    "my dir/a.c": PLAIN,
    "my dir/part.h": HEADER,
    "d.o/readme": "",
}
# One command a line, without -Iinclude, by kinds as in the manual of GCC; those below a + are also tried with notation.
COMMANDS = r"""
+ dependencies
-MMD -MP -MFmy.d -MTa.o -c a.c
-MD -MF 'my dir/x y.d' -MQ 'a$b c' -MTplain -c a.c
-MMD -c a.c part.c -DWARN
-MMD a.c part.c -o prog
-MMD -fsyntax-only 'my dir/a.c'
-Wp,-MMD,x.d,-MT,y.o -c a.c
-MM -MF out.d -MT t -MT 'u v' -MG a.c part.c
-E -M -MP a.c
-MMD -E a.c -o x.i
- dependencies
-MM -MG -MP absent.c
-Wp,-MD,'a b.d' -DX -c 'my dir/a.c'
-MD -c a.c -o 'my dir/x$y.obj'
+ files beside the output
--coverage -g -gsplit-dwarf -fstack-usage a.c part.c -o prog
-ftest-coverage -c a.c -o 'my dir/x.o'
-save-temps=cwd -g -DWARN a.c part.c -o 'my dir/x'
-save-temps=obj -c a.c -o 'my dir/x.o'
-dumpbase base.c -dumpbase-ext .c -dumpdir dumps- -fstack-usage -c a.c
-fdump-tree-optimized -fcallgraph-info=su,da -fopt-info-all=opt.txt -aux-info protos -O1 -c a.c
-Wa,-al=list.lst,--warn -c a.c
-fprofile-use -O1 -Wno-missing-profile -pipe -c a.c
- files beside the output
-fprofile-generate -O1 -c a.c
-fsave-optimization-record -fdump-rtl-expand -O1 -S part.c
-save-temps part.c -c
+ messages
-c -Wall -Wextra -Wundef -Wunused-macros -Wcomment a.c
-c -DWARN -Werror a.c
-c -Wimplicit-fallthrough=1 -Wno-comment a.c
-c -Wimplicit-fallthrough=2 a.c -fdiagnostics-color=always
-c -Wimplicit-fallthrough=4 a.c
-c -Wimplicit-fallthrough=5 -Werror=implicit-fallthrough a.c
-c bad.c a.c -pass-exit-codes
-c none.c a.c
a.c none.o
-c a.c part.c -o both.o
-c --unknown-option a.c
-c a.c -lm part.o
-c a.c -o nowhere/a.o
- messages
-c -DWARN -fdiagnostics-format=json -Wall a.c
-c -DWARN -Wp,-Werror a.c -Wno-error=cpp
-c absent.c
-c d.o
d.o a.c
-c a.c -o
-
-fplugin=none -c a.c
-std=gnu2x -ansi -Wsystem-headers -c part.c
+ stages and languages
-E -P a.c -o out.i
-E -dM a.c
-E -CC -dD -H a.c
-S -fverbose-asm -O1 a.c -o -
-c -include forced.h -Imore -fno-working-directory -g3 a.c
--include-directory=more --include=forced.h --define-macro=Z --compile --output=long.o a.c
-wrapper ./wrapper -c a.c
-flto -c a.c
-c @words.rsp
- stages and languages
--language=c --compile --std=c11 text.txt --output text.o
-c -x c text.txt -x none done.i low.s low.S plus.cpp
-c -xc++ text.txt
-x cpp-output -c done.i
include/part.h
-traditional-cpp -E -x c text.txt
-E -fdirectives-only -C -P part.c
-c -imacros more/forced.h -I more -iquote more -isystem include -idirafter more a.c
-c -iprefix more/ -iwithprefix x -iwithprefixbefore y part.c
-c -undef -nostdinc -U N -DN=3 -A machine=x absent.c
-Xpreprocessor -DQ -Xassembler --warn -c part.c
-finput-charset=latin1 -fopenmp -march=native -O2 -c part.c
-specs=map.specs -B. -no-canonical-prefixes -c part.c
-specs=none.specs -c part.c
@none.rsp -c a.c
-### -c a.c
-v -c part.c
+ links
a.c
a.c part.c -o prog -Wl,-Map=prog.map,--cref -lm
- links
-static a.c part.c -o prog
-shared -fPIC part.c -o libpart.so -Wl,--defsym=x=1 -Xlinker --build-id=none -z now
-r part.c low.s -o parts.o
-nostdlib -nostartfiles -Wl,-e,twice part.c -o bare
-flto a.c part.c -o prog
- questions
-print-prog-name=cc1 -print-search-dirs
-dumpversion
-dumpmachine -dumpfullversion
-dumpspecs
--version
--help=warnings,^joined
"""
# Options whose output, or whose files, differ from one run of the compiler to the next.
CHANCE = {"-fopt-info-all=opt.txt", "-fsave-optimization-record"}
CHANCE |= {"--coverage", "-fprofile-arcs", "-fprofile-generate", "-flto", "-Wa,-al=list.lst,--warn"}
CHANCE |= {"-Wl,-Map=prog.map,--cref"}
TEMPORARY = re.compile(r"/tmp/cc\w{6}")
HEAD = re.compile(r"^\S+:\d+:\d+: (?:warning|error).*$", re.MULTILINE)


def bare(text: str) -> str:
    return TEMPORARY.sub("/tmp/cc", text)


def heads(messages: str) -> list[str]:
    """The first lines of messages, without what the compiler alone says of our directives."""
    return sorted(line for line in HEAD.findall(messages) if "pragma SMint" not in line)


def snapshot(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Options(CompilerTest):
    folder: pathlib.Path

    def fill(self, text: str) -> None:
        """The same files again, and nothing else."""
        shutil.rmtree(self.folder)
        for name, contents in {**FILES, "a.c": text}.items():
            self.write(name, contents)
        (self.folder / "wrapper").chmod(0o755)

    def both(self, words: list[str], text: str) -> list[tuple[Ended, dict[str, bytes]]]:
        """What the compiler alone and hirobacc say, and which files there are then."""
        out = []
        for command in (execute, execute_hirobacc):
            self.fill(text)
            ended = command([*(["cc"] if command is execute else []), *words], self.folder)
            out.append((ended, snapshot(self.folder)))
        return out

    def check(self, words: list[str]) -> None:
        (alone, expected), (ours, made) = self.both(words, PLAIN)
        self.assertEqual(ours.returncode, alone.returncode, ours.stderr)
        self.assertEqual(sorted(made), sorted(expected))
        if not CHANCE.intersection(words):
            for name in made:
                if not name.endswith((".gcno", ".gch")):  # made by chance, too
                    self.assertEqual(made[name], expected[name], name)
            self.assertEqual(bare(ours.stdout), bare(alone.stdout))
            self.assertEqual(bare(ours.stderr), bare(alone.stderr))
        self.assertNotIn(b"/hirobacc-", b"".join(made.values()))

    def check_translated(self, words: list[str]) -> None:
        (alone, expected), (ours, made) = self.both(words, NOTATION)
        self.assertEqual(ours.returncode, alone.returncode, ours.stderr)
        self.assertEqual(sorted(made), sorted(expected))
        for name in made:
            if name.endswith(".d") and "-MD" not in "".join(words):  # which names our headers, too
                self.assertEqual(made[name], expected[name], name)
        self.assertEqual(heads(ours.stderr), heads(alone.stderr))
        self.assertNotIn("Traceback", ours.stderr)
        for stream in ("stdout", "stderr"):
            self.assertEqual(getattr(ours, stream) == "", getattr(alone, stream) == "", getattr(ours, stream))

    def commands(self, kinds: str) -> Iterator[tuple[str, list[str]]]:
        kind = ""
        for line in COMMANDS.strip().split("\n"):
            if re.match(r"[+-] \w", line) is not None:
                kind = line[0]
            elif kind in kinds:
                yield line, [*shlex.split(line), "-Iinclude"]

    def test_plain(self) -> None:
        for line, words in self.commands("+-"):
            with self.subTest(line):
                self.check(words)

    def test_with_notation(self) -> None:
        for line, words in self.commands("+"):
            with self.subTest(line):
                self.check_translated(words)


if __name__ == "__main__":
    unittest.main()
