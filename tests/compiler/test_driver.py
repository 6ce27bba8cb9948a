"""hirobacc where cc is used: its options, several files, dependency files, make, CMake, messages, and what it costs."""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time
import unittest

from compiling import HERE, HIROBACC, ONCE, ROOT, CompilerTest, Ended, execute

# Left out until the bug is mended: test, number of the bug.
OPEN_BUGS: dict[str, str] = {}

MAIN = """\
#include <smint.h>
#include <stdio.h>
#include "part.h"

#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N];

int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = value(i);
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != 2 * i;
  if (sms_rank == 0) puts(wrong ? "wrong" : "OK");
  return 0;
}
"""
PART = '#include "part.h"\nint value(int i) { return FACTOR * i; }\n'
PART_HEADER = "enum { N = 100 };\nint value(int i);\n"
CXX = """\
extern "C" int value(int i);
struct twice { int of(int i) { return 2 * i; } };
int value(int i) { return twice().of(i); }
"""
CUDA = """\
extern "C" int value(int i);
__global__ void kernel(int* a) { a[threadIdx.x] = 2; }
int value(int i) {
  if (i < 0) kernel<<<1, 32>>>(nullptr);
  return 2 * i;
}
"""


class DriverTest(CompilerTest):
    @staticmethod
    def hirobacc(words: list[str], folder: pathlib.Path, limit: int = 300, env: dict[str, str] | None = None) -> Ended:
        """As a user runs it: here, the command itself is the subject."""
        return execute([HIROBACC, *words], folder, limit, env)

    def setUp(self) -> None:
        super().setUp()
        if self._testMethodName in OPEN_BUGS:
            self.skipTest(f"bug {OPEN_BUGS[self._testMethodName]}")

    def write_program(self) -> None:
        self.write("main.c", MAIN)
        self.write("part.c", PART)
        self.write("include/part.h", PART_HEADER)

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}

    def use(self, *words: str, env: dict[str, str] | None = None) -> Ended:
        """Another command, in the test's folder, which must succeed."""
        if shutil.which(words[0]) is None:
            self.skipTest(f"there is no {words[0]}")
        ended = execute(list(words), self.folder, env=env)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended


FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-DFACTOR=2")


class Stages(DriverTest):
    """What is written, where, and nothing else."""

    def setUp(self) -> None:
        super().setUp()
        self.write_program()
        self.before = self.files()

    def written(self, *words: str) -> set[str]:
        self.compiled(*FLAGS, *words)
        return self.files() - self.before

    def test_link_in_one_step(self) -> None:
        self.assertEqual(self.written("main.c", "part.c", "-o", "program"), {"program"})
        self.check_answer(self.folder / "program")

    def test_default_names(self) -> None:
        self.assertEqual(self.written("main.c", "part.c"), {"a.out"})
        self.assertEqual(self.written("-c", "main.c", "part.c"), {"a.out", "main.o", "part.o"})
        self.assertEqual(self.written("-S", "main.c"), {"a.out", "main.o", "part.o", "main.s"})

    def test_objects_and_sources(self) -> None:
        self.assertEqual(self.written("-c", "main.c", "-o", "obj.main"), {"obj.main"})
        self.compiled(*FLAGS, "-c", "main.c", "-omain.o")
        self.compiled(*FLAGS, "main.o", "part.c", "-o", "mixed")
        self.check_answer(self.folder / "mixed")
        self.compiled(*FLAGS, "-c", "part.c")
        self.compiled("part.o", "main.o", "-o", "linked")
        self.check_answer(self.folder / "linked")

    def test_same_name_in_two_folders(self) -> None:
        self.write("other/main.c", PART)
        self.compiled(*FLAGS, "main.c", "other/main.c", "-o", "program")
        self.check_answer(self.folder / "program")

    def test_preprocess(self) -> None:
        printed = self.compiled(*FLAGS, "-E", "main.c").stdout
        self.assertEqual(self.written("-E", "main.c", "-o", "main.i"), {"main.i"})
        self.assertEqual((self.folder / "main.i").read_text(), printed)
        self.compiled("-c", "main.i", "-o", "main.o")
        self.compiled(*FLAGS, "main.o", "part.c", "-o", "program")
        self.check_answer(self.folder / "program")

    def test_assembly(self) -> None:
        self.assertEqual(self.written("-S", "main.c", "-o", "here.s"), {"here.s"})
        self.assertIn("smint_begin", (self.folder / "here.s").read_text())

    def test_syntax_only(self) -> None:
        self.assertEqual(self.written("-fsyntax-only", "main.c"), set())

    def test_flags_that_define(self) -> None:
        self.write("more/forced.h", "#define FACTOR 2\n#define EMPTY\n")
        words = ["-D", "UNUSED=1", "-include", "forced.h", "-I", "more", "-isystem", "include", "-U", "UNUSED", "-lm"]
        self.compiled(*words, "main.c", "part.c", "-o", "program")
        self.check_answer(self.folder / "program")
        self.compiled("-Wl,-O1", "-Iinclude", '-DFACTOR=(sizeof("a b") / 2)', "main.c", "part.c", "-o", "quoted")
        self.check_answer(self.folder / "quoted")

    def test_language_by_option(self) -> None:
        """-x c makes C of any file; what -x says of others stays."""
        self.write("main.txt", MAIN)
        for language in (["-x", "c"], ["-xc"]):
            self.compiled(*FLAGS, *language, "main.txt", "part.c", "-x", "none", "-lm", "-o", "program")
            self.check_answer(self.folder / "program")
        self.assertEqual(self.written("-c", "-x", "c", "main.txt") - {"program", "main.txt"}, {"main.o"})
        self.assertIn("#pragma SMint", self.compiled("-x", "c++", "-E", "-Iinclude", "main.txt").stdout)

    def test_standard_input(self) -> None:
        """What comes from a pipe is translated like a file, and messages say where it came from."""
        compile_it = f"{HIROBACC} {' '.join(FLAGS)} -x c"
        self.use("sh", "-c", f"{compile_it} - part.c -o program < main.c")
        self.check_answer(self.folder / "program")
        bad = "printf '#include <smint.h>\n#pragma SMint singel\n'"
        ended = execute(["sh", "-c", f"{bad} | {compile_it} - -c -o bad.o"], self.folder)
        self.assertNotEqual(ended.returncode, 0)
        self.assertRegex(ended.stderr, r"^<stdin>:2:15: error: unknown directive")

    def test_response_file(self) -> None:
        self.write("more words", '-o "a program"\n')
        self.write("words", f"{' '.join(FLAGS)} main.c part.c '@more words'")
        self.compiled("@words")
        self.check_answer(self.folder / "a program")

    def test_names_with_blanks(self) -> None:
        self.write("my programs/the main.c", MAIN)
        self.compiled(*FLAGS, "my programs/the main.c", "part.c", "-o", "my programs/the program")
        self.check_answer(self.folder / "my programs/the program")

    def test_plain_cxx_in_the_link(self) -> None:
        self.write("part.cpp", CXX)
        self.use("c++", "-c", "part.cpp", "-o", "part.o")
        self.compiled(*FLAGS, "main.c", "part.o", "-lstdc++", "-o", "object")
        self.check_answer(self.folder / "object")
        self.compiled(*FLAGS, "main.c", "part.cpp", "-lstdc++", "-o", "source")
        self.check_answer(self.folder / "source")

    def test_objects_of_others_are_linked_as_by_cc(self) -> None:
        """Objects and archives without notation: the program is the same, also if it uses what the library replaces."""
        self.write("reads.c", "#include <stdio.h>\nint reads(char* at) { return (int)fread(at, 1, 1, stdin); }\n")
        self.write("plain.c", "int reads(char*);\nint main(void) { char c; return reads(&c); }\n")
        self.compiled("-c", "reads.c", "plain.c")
        self.use("ar", "cr", "libreads.a", "reads.o")
        programs = []
        for link in (self.compiled, lambda *words: self.use("cc", *words)):
            link("plain.o", "libreads.a", "-lm", "-o", "program")
            programs.append((self.folder / "program").read_bytes())
        self.assertEqual(*programs)

    def test_plain_cxx_compiled_beside(self) -> None:
        """cc -c compiles whatever it is given; and refuses one name for two files."""
        self.write("part.cpp", CXX)
        self.assertEqual(self.written("-c", "main.c", "part.cpp") - {"part.cpp"}, {"main.o", "part.o"})
        self.compiled("main.o", "part.o", "-lstdc++", "-o", "program")
        self.check_answer(self.folder / "program")
        for other in ("part.cpp", "part.c"):
            ended = self.compile(*FLAGS, "-c", "main.c", other, "-o", "both.o")
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn("cannot specify", ended.stderr)
        self.assertFalse((self.folder / "both.o").exists())

    def test_archive_and_pic(self) -> None:
        self.compiled(*FLAGS, "-fPIC", "-c", "part.c")
        self.use("ar", "rcs", "libpart.a", "part.o")
        self.compiled(*FLAGS, "main.c", "-L.", "-lpart", "-o", "program")
        self.check_answer(self.folder / "program")


class Dependencies(DriverTest):
    """.d files name the target, the source and the user's headers, never a temporary file."""

    def setUp(self) -> None:
        super().setUp()
        self.write_program()

    def depends(self, file: str) -> tuple[str, set[str]]:
        text = (self.folder / file).read_text()
        self.assertNotIn("hirobacc-", text)
        target, _, rest = text.replace("\\\n", " ").partition(":")
        return target, set(rest.split())

    def test_mmd(self) -> None:
        self.compiled(*FLAGS, "-MMD", "-c", "main.c", "-o", "objects.o")
        self.assertEqual(self.depends("objects.d"), ("objects.o", {"main.c", "include/part.h"}))
        self.compiled(*FLAGS, "-MMD", "-c", "main.c", "part.c")
        self.assertEqual(self.depends("main.d"), ("main.o", {"main.c", "include/part.h"}))
        self.assertEqual(self.depends("part.d"), ("part.o", {"part.c", "include/part.h"}))

    def test_md_has_system_headers(self) -> None:
        self.compiled(*FLAGS, "-MD", "-c", "main.c")
        text = (self.folder / "main.d").read_text()
        self.assertIn("/stdio.h", text)
        self.assertIn("/smint.h", text)

    def test_mf_mt_mp(self) -> None:
        words = ["-MD", "-MP", "-MF", "deps/x.d", "-MT", "some target"]
        (self.folder / "deps").mkdir()
        self.compiled(*FLAGS, *words, "-c", "main.c", "-o", "main.o")
        text = (self.folder / "deps/x.d").read_text()
        self.assertTrue(text.startswith("some target: main.c"), text)
        self.assertIn("\ninclude/part.h:\n", text)
        self.assertFalse((self.folder / "main.d").exists())

    def test_mm_only(self) -> None:
        """-MM prints the rule as cc prints it, and compiles nothing."""
        printed = self.compiled(*FLAGS, "-MM", "main.c").stdout
        self.assertEqual(printed.split(), ["main.o:", "main.c", "include/part.h"])
        self.assertEqual({name for name in self.files() if name.endswith((".o", "a.out"))}, set())

    def test_make(self) -> None:
        self.write(
            "Makefile",
            "CFLAGS = -O1 -MMD -MP -Iinclude\nCPPFLAGS = -DFACTOR=2\nprogram: main.o part.o\n"
            "\t$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@\n-include main.d part.d\n",
        )
        self.use("make", f"CC={HIROBACC}")
        self.check_answer(self.folder / "program")
        self.assertIn("up to date", self.use("make", f"CC={HIROBACC}").stdout)
        os.utime(self.folder / "include/part.h", (time.time() + 5, time.time() + 5))
        self.assertEqual(self.use("make", f"CC={HIROBACC}").stdout.count(" -c "), 2)


class UnderCMake(DriverTest):
    def test_cmake(self) -> None:
        """As C compiler of a project: detection, compiling, linking, here by the C++ compiler, which learns of the
        library from what `hirobacc -v` says; a changed header is noticed."""
        self.write_program()
        self.write("more.cpp", "int more() { return 1; }\n")
        self.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.20)\nproject(one C CXX)\nset(CMAKE_C_STANDARD 11)\n"
            "add_library(part STATIC part.c)\ntarget_include_directories(part PUBLIC include)\n"
            "target_compile_definitions(part PRIVATE FACTOR=2)\nadd_executable(program main.c more.cpp)\n"
            "target_link_libraries(program PRIVATE part)\n"
            'set_target_properties(program PROPERTIES BUILD_RPATH "${CMAKE_C_IMPLICIT_LINK_DIRECTORIES}")\n',
        )
        cmake = os.environ.get("CMAKE", "cmake")
        make = ["-G", "Unix Makefiles", "-DCMAKE_BUILD_TYPE=Release"]
        self.use(cmake, "-S", ".", "-B", "build", *make, f"-DCMAKE_C_COMPILER={HIROBACC}")
        self.use(cmake, "--build", "build")
        self.check_answer(self.folder / "build/program")
        self.assertNotIn("Building C", self.use(cmake, "--build", "build").stdout)
        os.utime(self.folder / "include/part.h", (time.time() + 5, time.time() + 5))
        self.assertEqual(self.use(cmake, "--build", "build").stdout.count("Building C"), 2)


class Compilers(DriverTest):
    def check_with(self, compiler: str) -> None:
        if shutil.which(compiler) is None:
            self.skipTest(f"there is no {compiler}")
        self.write_program()
        for number, words in enumerate((["--cc", compiler], [f"--cc={compiler}"])):
            self.compiled(*words, *FLAGS, "main.c", "part.c", "-o", f"program{number}")
            self.check_answer(self.folder / f"program{number}")
        self.compiled(*FLAGS, "main.c", "part.c", "-o", "program", env={"HIROBACC_CC": compiler})
        self.check_answer(self.folder / "program")

    def test_gcc(self) -> None:
        self.check_with("gcc")

    def test_clang(self) -> None:
        self.check_with("clang")

    def test_mpicc(self) -> None:
        self.check_with("mpicc")

    def test_nvcc(self) -> None:
        """It knows neither preprocessed C nor -Wl, and must compile CUDA in the same link. No GPU is needed."""
        self.write_program()
        self.write("twice.cu", CUDA)
        self.use("nvcc", "--version")
        for files in (["main.c", "part.c"], ["main.c", "twice.cu"]):
            self.compiled("--cc", "nvcc", "-O1", "-Iinclude", "-DFACTOR=2", *files, "-o", "program")
            self.check_answer(self.folder / "program")
        self.compiled("--cc", "nvcc", "-O1", "-Iinclude", "-c", "main.c", "twice.cu")
        self.assertLessEqual({"main.o", "twice.o"}, self.files())

    def test_openacc(self) -> None:
        """Its pragmas stand between ours and the loop, and mean for each rank what they mean alone."""
        self.write("include/part.h", PART_HEADER)
        text = MAIN.replace("parallel for\n", "parallel for\n#pragma acc parallel loop\n").replace("value(i)", "2 * i")
        self.write("main.c", text)
        self.assertIn("#pragma acc parallel loop\n  for", self.compiled("--show", "-Iinclude", "main.c").stdout)
        self.compiled("-O1", "-Wall", "-fopenacc", "-Iinclude", "main.c", "-o", "program")
        self.check_answer(self.folder / "program")

    def test_compiler_that_is_not_there(self) -> None:
        self.write_program()
        for words in (["--cc", "no-such-cc"], ["--cc=no-such-cc", "-c"]):
            ended = self.compile(*words, *FLAGS, "main.c")
            self.assertEqual(ended.returncode, 1)
            self.assertEqual(ended.stderr, "hirobacc: there is no C compiler `no-such-cc`; name one with --cc\n")

    def test_version(self) -> None:
        """What build systems ask a compiler."""
        for word in ("--version", "-dumpmachine", "-v"):
            alone, ours = execute(["gcc", word], self.folder), self.compiled_or_chatty("--cc", "gcc", word)
            self.assertEqual(ours.stdout, alone.stdout)

    def compiled_or_chatty(self, *words: str) -> Ended:
        ended = self.compile(*words)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended


class Words(DriverTest):
    """What it prints."""

    def test_help(self) -> None:
        ended = self.compiled("--help")
        for word in ("usage: hirobacc", "--show", "--explain", "--cc"):
            self.assertIn(word, ended.stdout)

    def test_show(self) -> None:
        self.write_program()
        before = self.files()
        ended = self.compiled("--show", *FLAGS, "main.c", "-o", "program")
        self.assertIn("smint_begin(", ended.stdout)
        self.assertEqual(self.files(), before)

    def test_explain(self) -> None:
        self.write_program()
        ended = self.compile("--explain", *FLAGS, "-c", "main.c")
        self.assertEqual(ended.returncode, 0)
        self.assertRegex(ended.stderr, r"(?m)^main\.c:9:\d+: parallel for over `i`")
        for word in ("who: ", "what: ", "when: ", "end: "):
            self.assertIn(f"  {word}", ended.stderr)
        self.assertTrue((self.folder / "main.o").exists())

    def test_explain_beside_errors(self) -> None:
        self.write_program()
        wrong = "\n#pragma SMint shared ::[NPROCS](0,NPROCS)\ndouble x[9], y[9];\nvoid wrong(void) {\n"
        wrong += "#pragma SMint parallel for\n  for (int i = 1; i < 9; i++) x[i] = x[i - 1];\n}\n"
        wrong = (self.folder / "main.c").read_text() + wrong
        for text, words in ((wrong, "9:1: parallel for"), (wrong.replace("x[9]", "x[9]["), " --explain has nothing")):
            self.write("main.c", text)
            self.assertRegex(
                self.compile("--explain", *FLAGS, "-c", "main.c").stderr, f"error: (?s:.*)\nmain.c:{words}"
            )

    def test_files_that_are_not_there(self) -> None:
        for words in (["absent.c"], ["-c", "absent.c"], ["absent.o", "-o", "x"], ["-c"], []):
            ended = self.compile(*words)
            self.assertNotEqual(ended.returncode, 0, words)
            self.assertIn(words[-1] if "absent" in "".join(words) and "x" not in words else "", ended.stderr)
            self.assertNotEqual(ended.stderr, "")
        self.assertEqual(self.files(), set())

    def test_header_that_is_not_there(self) -> None:
        self.write("main.c", "#include <smint.h>\n#include <absent.h>\nint main(void) { return 0; }\n")
        ended = self.compile("-c", "main.c")
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("main.c:2:10: fatal error: ", ended.stderr)
        self.assertEqual(ended.stderr.count("absent.h: No such file"), 1)

    def test_errors_of_the_c_compiler(self) -> None:
        """They point at the user's line and column, and quote it."""
        self.write_program()
        for old, new, place in (
            ("value(i);", "value(i, 1);", "10:38"),
            ("int wrong = 0;", "int wrong = none;", "11:15"),
            ("puts(wrong", "puts(&wrong", "13:34"),
        ):
            self.write("main.c", MAIN.replace(old, new))
            ended = self.compile(*FLAGS, "-c", "main.c")
            self.assertNotEqual(ended.returncode, 0)
            line = MAIN.replace(old, new).split("\n")[int(place.split(":")[0]) - 1]
            self.assertRegex(ended.stderr, rf"(?m)^main\.c:{place}: error: ")
            self.assertIn(f"| {line}", ended.stderr)
            caret = re.search(rf"\| {re.escape(line)}\n *\| ( *)[~^]", ended.stderr)
            self.assertEqual(len(caret[1]) + 1 if caret else 0, int(place.split(":")[1]), ended.stderr)
            self.assertFalse((self.folder / "main.o").exists())

    def test_columns_behind_shared_names(self) -> None:
        """A shared name becomes longer, and what stands behind it on the line is still pointed at; clang quotes what it
        has compiled, which is not what the user wrote."""
        line = "  for (int i = 0; i < 9; i++) a[i] = b[i] + a[none];"
        self.write(
            "main.c",
            "#include <smint.h>\n#pragma SMint shared ::[NPROCS](0, NPROCS)\ndouble a[9], b[9];\nint main(void) {\n"
            f"#pragma SMint parallel for\n{line}\n}}\n",
        )
        column = line.index("none") + 1
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler) is not None:
                ended = self.compile("--cc", compiler, "-c", "main.c")
                self.assertRegex(ended.stderr, rf"(?m)^main\.c:6:{column}: error: ")
                quoted = re.search(rf"^(.*){re.escape(line)}\n(.*)\^", ended.stderr, re.MULTILINE)
                self.assertEqual(len(quoted[2]) - len(quoted[1]) + 1 if quoted else 0, column, ended.stderr)

    def test_debug_lines(self) -> None:
        """Debuggers see the user's file and lines, not a temporary one."""
        self.write_program()
        self.compiled(*FLAGS, "-g", "-c", "main.c")
        lines = self.use("objdump", "--dwarf=decodedline", "main.o").stdout
        self.assertIn("main.c", lines)
        self.assertNotIn("hirobacc-", self.use("objdump", "--dwarf=info", "main.o").stdout + lines)


@unittest.skipUnless("Cost" in sys.argv, "it runs alone, as compiler.cost")
class Cost(DriverTest):
    def test_thousand_lines(self) -> None:
        """0.3 s over the C compiler alone is promised, of a fast processor; here at most five times what the C
        compiler takes. Time of the processor, which other tests use meanwhile."""
        loop = MAIN[MAIN.index("#pragma SMint parallel") : MAIN.index("  int wrong")].replace("value(i)", "a[i] + 1")
        body = f'  double x = 3;\n{loop}  if (x > a[2]) puts("many");\n'
        functions = [f"void f{i}(void) {{\n{body}}}\n\n" for i in range(150)]
        text = MAIN.replace("int main", "".join(functions) + "int main")
        self.assertGreater(text.count("\n"), 1000)
        self.write_program()
        self.write("main.c", text)
        plain = self.compiled("--show", "-Iinclude", "main.c").stdout
        self.write("plain.i", plain)

        def median(words: list[str]) -> float:
            seconds = []
            for _ in range(3):
                begun = os.times()
                subprocess.run(words, cwd=self.folder, check=True, capture_output=True)
                ended = os.times()
                seconds.append(sum(ended[2:4]) - sum(begun[2:4]))
            return statistics.median(seconds)

        alone = median(["cc", "-c", "plain.i", "-o", "plain.o"])
        ours = median([HIROBACC, "-Iinclude", "-c", "main.c", "-o", "main.o"])
        print(f"1,000 lines: {ours - alone:.2f} s over {alone:.2f} s")
        self.assertLess(ours - alone, 5 * alone)


def examples() -> list[pathlib.Path]:
    return sorted((HERE / "golden").glob("smint_*.c"))


class Everything(DriverTest):
    def test_explain_of_all(self) -> None:
        """--explain says something of each parallel for, and changes nothing of what is compiled."""
        for path in examples()[:: 3 if ONCE else 1]:
            with self.subTest(path.stem):
                ended = self.compile("--explain", "-fopenmp", "-c", path, "-o", "out.o")
                self.assertEqual(ended.returncode, 0, ended.stderr)
                loops = path.read_text().count("SMint parallel for")
                self.assertEqual(ended.stderr.count(": parallel for over "), loops)

    @unittest.skipIf(ONCE, "docs.code runs them, too")
    def test_examples_of_the_page(self) -> None:
        """What docs/hirobacc.md shows compiles without a warning, and runs."""
        page = (ROOT / "docs/hirobacc.md").read_text()
        examples = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
        self.assertGreater(len(examples), 3)
        for number, text in enumerate(examples):
            with self.subTest(text.splitlines()[0] + str(number)):
                program = self.folder / f"page{number}"
                self.compiled("-O2", "-Wall", "-fopenmp", self.write(f"page{number}.c", text), "-o", program, "-lm")
                ended = self.launch(2, 2, "--devices", "host:1", program)
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
