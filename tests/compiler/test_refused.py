"""What must not compile, or only with a warning. Each file in refused/ and warned/ ends with what hirobacc says:

    // expected: LINE:COLUMN: message
    // remedy: what to write instead

Long ones go on behind `//` and five blanks. The caret stands below that column, nothing is written, and the exit
status is not 0 (or it is, for a warning). `test_refused.py --update` writes these lines anew from what hirobacc says
now; look at the difference before you keep it."""

import pathlib
import re
import shutil
import sys
import textwrap
import unittest

from compiling import HERE, ONCE, CompilerTest, Ended, some

REFUSED, WARNED = HERE / "refused", HERE / "warned"
UPDATE = "--update" in sys.argv

# Left out until the bug is mended: file, number of the bug. --update does not touch them.
OPEN_BUGS: dict[str, str] = {}

MANY = """#include <smint.h>
#include <task.h>
#pragma SMint shared ::[NPROCS](0,NPROCS)
double a[40], b[40];
int main(void) {
  int n = 40;
#pragma SMint paralel for // wrong
  for (int i = 0; i < 40; i++) a[i] = a[i] * 2;
#pragma SMint parallel for frist // wrong
  for (int i = 0; i < 40; i++) a[i] = a[i] * 2;
#pragma SMint parallel for
  for (int i = 1; i < 40; i++) a[i] = a[i - 1]; // wrong
#pragma hiroba task inn(a[0:4]) // wrong
  b[0] = a[0];
  for (int i = 0; i < 40; i++) a[i] *= 2; // wrong
#pragma SMint single
  { return 1; } // wrong
#pragma SMint parallel for
  for (int i = 0; i < n; i++) { if (i == 3) break; n--; } // wrong
#pragma hiroba task in(a[0:4]) private(zz) // wrong
  b[0] = a[0];
#pragma SMint preload // wrong
  return 0;
}
"""


def expectations(text: str) -> tuple[str, str, str]:
    """The program without the lines that say what is expected, then these."""
    words = {"expected": "", "remedy": ""}
    for found in re.finditer(r"^// (expected|remedy): (.*(?:\n//     .*)*)\n", text, re.MULTILINE):
        words[found[1]] = found[2].replace("\n//     ", " ")
    program = re.sub(r"^// (expected|remedy): .*\n(//     .*\n)*", "", text, flags=re.MULTILINE)
    return program, words["expected"], words["remedy"]


def written(kind: str, words: str) -> str:
    """Long ones continue on lines of their own."""
    lines = textwrap.wrap(f"// {kind}: {words}", 119, subsequent_indent="//     ", break_on_hyphens=False)
    return "\n".join(lines) + "\n" if words else ""


def said(name: str, kind: str, stderr: str) -> tuple[str, str]:
    """Of the first error or warning: line, column and message; and the remedy."""
    found = re.search(rf"^{re.escape(name)}:(\d+:\d+): {kind}: (.*)\n((?: .*\n)*)", stderr, re.MULTILINE)
    if found is None:
        return "", ""
    remedy = re.search(r"^ +(?:\| +)?= (.*)$", found[3], re.MULTILINE)
    return f"{found[1]}: {found[2]}", remedy[1] if remedy else ""


def caret_column(name: str, stderr: str) -> int:
    """Where the first caret below the quoted line points, counted from 1."""
    quoted = re.search(rf"^{re.escape(name)}:.*\n *\d+ \|( .*)\n *\|( *)\^", stderr, re.MULTILINE)
    return len(quoted[2]) if quoted else 0


class Refused(CompilerTest):
    def refuse(self, *words: object) -> Ended:
        ended = self.compile(*words)
        self.assertNotEqual(ended.returncode, 0, ended.stderr)
        return ended

    def check(self, path: pathlib.Path, kind: str) -> None:
        text = path.read_text()
        program, expected, remedy = expectations(text)
        for old in self.folder.iterdir():
            old.unlink()
        self.write(path.name, program)
        ended = self.compile("-fopenmp", "-c", path.name, "-o", "out.o")
        place_and_message, actual_remedy = said(path.name, kind, ended.stderr)
        if UPDATE:
            path.write_text(program + written("expected", place_and_message) + written("remedy", actual_remedy))
            return
        self.assertEqual((place_and_message, actual_remedy), (expected, remedy), ended.stderr)
        self.assertEqual(str(caret_column(path.name, ended.stderr)), expected.split(":")[1], ended.stderr)
        self.assertEqual(len(re.findall(r": (error|warning): ", ended.stderr)), 1, ended.stderr)
        self.assertEqual(ended.returncode != 0, kind == "error")
        left = {path.name} if kind == "error" else {path.name, "out.o"}
        self.assertEqual({entry.name for entry in self.folder.iterdir()}, left)

    def test_each_file(self) -> None:
        found = sorted(REFUSED.glob("*.c"))
        self.assertGreater(len(found), 50)
        self.assertEqual(set(OPEN_BUGS) - {path.stem for path in found}, set())
        for path in some(found):
            with self.subTest(path.stem):
                if path.stem in OPEN_BUGS:
                    self.skipTest(f"bug {OPEN_BUGS[path.stem]}")
                self.check(path, "error")

    def test_warnings(self) -> None:
        """What compiles, with a warning that is written in the same way."""
        for path in sorted(WARNED.glob("*.c")):
            with self.subTest(path.stem):
                self.check(path, "warning")

    def test_one_bad_file_of_three(self) -> None:
        """Linking does not happen, and nothing is left, wherever the bad one stands."""
        good = [self.write(f"good{i}.c", f"int f{i}(void) {{ return {i}; }}\n") for i in range(2)]
        bad = self.write("bad.c", (REFUSED / "directive_unknown.c").read_text())
        for files in ([bad, *good], [good[0], bad, good[1]], [*good, bad]):
            ended = self.refuse(*files, "-o", "program")
            self.assertIn("singel", ended.stderr)
            self.assertFalse((self.folder / "program").exists())

    def test_all_errors_are_reported(self) -> None:
        """Of all kinds, in the order of the text, each once, without those that follow from others."""
        self.write("many.c", MANY)
        wrong = [i for i, line in enumerate(MANY.split("\n"), 1) if line.endswith("// wrong")]
        ended = self.refuse("-c", "many.c")
        self.assertEqual([int(at) for at in re.findall(r"(?m)^many\.c:(\d+):\d+: error: ", ended.stderr)], wrong)
        self.assertEqual(len(re.findall(r"(?m): (error|warning): ", ended.stderr)), len(wrong), ended.stderr)

    def test_at_most_twenty_errors(self) -> None:
        self.write("many.c", "#include <smint.h>\nint main(void) {\n" + "#pragma SMint singel\n;\n" * 30 + "}\n")
        ended = self.refuse("-c", "many.c")
        self.assertEqual(len(re.findall(": error: ", ended.stderr)), 20)
        self.assertTrue(ended.stderr.endswith("\nhirobacc: 10 more errors in this file\n"), ended.stderr)

    def test_errors_of_all_files(self) -> None:
        for name in ("one", "two", "three"):
            self.write(f"{name}.c", "int f(void) { return 0; }\n" if name == "two" else f"#pragma SMint {name}\n")
        ended = self.refuse("one.c", "two.c", "three.c", "-o", "program")
        self.assertEqual(re.findall(r"(?m)^(\w+)\.c:1:\d+: error: ", ended.stderr), ["one", "three"])

    def test_bad_line_in_users_header(self) -> None:
        """The message points into the header."""
        self.write(
            "lib/field.h", "\n\nextern int n;\n#pragma SMint shared ::[NPROCS][](0, NPROCS)\nextern double f[10];\n"
        )
        self.write("main.c", '#include <smint.h>\n#include "lib/field.h"\nint main(void) { return 0; }\n')
        ended = self.refuse("-c", "main.c")
        self.assertRegex(ended.stderr, r"^lib/field\.h:4:\d+: error: the map has 2 brackets")

    def test_programs_that_break_off(self) -> None:
        """Half a program is bad input like any other: a message, no traceback (compile() looks), nothing written."""
        for number, program in enumerate(sorted((HERE / "golden").glob("*.c"))[:: 3 if ONCE else 1]):
            with self.subTest(program.stem):
                text = program.read_text()
                begin = text.index("int main") if "int main" in text else len(text) // 3
                self.write("half.c", text[: begin + (len(text) - begin) * (number % 9 + 1) // 11])
                ended = self.refuse("-fopenmp", "-I", program.parent, "-c", "half.c")
                # The C compiler's own message about the end of the file has no column.
                self.assertRegex(ended.stderr, r"(?m)^half\.c:\d+:(\d+: error: | error: .* at end of input$)")
                self.assertFalse((self.folder / "half.o").exists())

    def test_files_that_do_not_agree(self) -> None:
        """An array that is shared in one file and an ordinary one in another would be two."""
        main = "int main(int argc, char** argv) { mpc_init(&argc, &argv); return f() + mpc_exit(); }\n"
        self.write("main.c", f"#include <mpc.h>\nshared int a[10]::[1](0, 1);\nint f(void);\n{main}")
        for other in ("extern int a[10];", "int a[10];"):
            self.write("other.c", f"{other}\nint f(void) {{ return a[1]; }}\n")
            ended = self.refuse("main.c", "other.c", "-o", "program")
            self.assertRegex(
                ended.stderr, r"(?m)^other\.c:1:\d+: error: `a` is shared in main\.c:2:12, and an ordinary"
            )
            self.assertFalse((self.folder / "program").exists())

    def test_extents_that_do_not_agree(self) -> None:
        """Both places are named, also when the files were compiled before."""
        main = "int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }\n"
        self.write("main.c", f"#include <mpc.h>\nshared int a[10][20]::[1](0, 1), b[4]::[1](0, 1);\n{main}")
        for number, other in enumerate(("int a[10][21]", "int a[20][10]", "short a[10][20]", "int a[][21]")):
            name = f"other{number}.c"
            self.write(name, f"#include <mpc.h>\nextern shared\n  {other}::[1](0, 1);\n")
            self.compiled("-c", name, "main.c")
            for files in (("main.c", name), ("main.o", f"other{number}.o")):
                ended = self.refuse(*files, "-o", "program")
                column = other.index("a[") + 3
                self.assertRegex(
                    ended.stderr, rf"(?m)^other{number}\.c:3:{column}: error: `a` has \[.* at main\.c:2:12$"
                )
                self.assertIn(f"    3 |   {other}", ended.stderr)
                self.assertEqual(ended.stderr.count(": error: "), 1)
        self.write("same.c", "#include <mpc.h>\nextern shared int a[][20]::[1](0, 1), b[4]::[1](0, 1);\n")
        self.compiled("main.c", "same.c", "-o", "program")

    def test_notation_in_cxx(self) -> None:
        """A C++ compiler ignores it, and each rank would do everything."""
        loop = "int main() {\n  // #pragma SMint single\n  double a[9];\n{}  for (int i = 0; i < 9; i++) a[i] = i;\n}\n"
        for name, line, said in (
            ("a.cpp", "#pragma SMint parallel for\n", "directives are C"),
            ("a.cc", "  #pragma xmp barrier\n", "directives are C"),
            ("a.cxx", "  static shared int n;\n", "`shared` is C"),
            ("a.C", "  a[0]:[1] = 3;\n", "a[i]:[image] is C"),
        ):
            self.write(name, loop.replace("{}", line))
            ended = self.refuse("-c", name)
            self.assertIn(f"{name}:4:", ended.stderr)
            self.assertIn(said, ended.stderr)
            self.assertIn("hiroba.hpp", ended.stderr)
            self.write(name, loop.replace("{}", ""))
            self.compiled("-c", name)
        self.write("b.h", loop.replace("{}", "#pragma SMint parallel for\n"))
        self.assertIn("b.h:4:", self.refuse("-x", "c++", "-c", "b.h").stderr)

    def test_notation_as_operator_in_cxx(self) -> None:
        head = "#define DO(x) _Pragma(#x)\nint f();\nint main() {\n"
        for name, line in (
            ("a.cpp", '  _Pragma("xmp barrier")'),
            ("a.cpp", "  DO(SMint barrier)"),
            ("a.cpp", "#pragma hiroba atomics"),
            ("a.cpp", "#pragma mpc barrier"),
            ("a.cu", "#pragma SMint parallel for"),
            ("a.i", "#pragma xmp loop on t[i]"),
        ):
            self.write(name, f"{head}{line}\n  return 0;\n}}\n")
            self.assertIn(f"{name}:4:", self.refuse("-c", name).stderr)
        self.write(
            "a.cpp", head + '  // _Pragma("xmp barrier")\n  return *"DO(xmp barrier)" + *"#pragma xmp barrier";\n}\n'
        )
        self.compiled("-c", "a.cpp")

    def test_notation_in_fortran(self) -> None:
        """Its compiler takes directives for comments, whatever the form of the file and the case of the words."""
        for name, line in (
            ("a.f90", "!$xmp loop on t(i)"),
            ("a.F90", "    !$XMP barrier"),
            ("a.f", "c$xmp nodes p(*)"),
            ("a.f", "C$Xmp nodes p(*)"),
            ("a.F", "*$xmp template t(100)"),
            ("a.for", "!$SMint parallel for"),
            ("a.f03", "  !$smint single"),
            ("a.FTN", "!$hiroba task"),
            ("a.f08", "!$mpc barrier"),
            ("a.f95", "!$xmp&"),
        ):
            self.write(name, f"      program p\n      integer :: i\n{line}\n      end program\n")
            ended = self.refuse("--cc", "gfortran", "-c", name)
            self.assertRegex(ended.stderr, rf"^{name}:3:\d+: error: directives of .* are C, and this is Fortran")
            self.assertEqual(ended.stderr.count("error:"), 1)
        self.write("a.txt", "!$xmp barrier\nend\n")
        self.assertIn("a.txt:1:1:", self.refuse("--cc", "gfortran", "-x", "f95", "-c", "a.txt").stderr)
        self.write("lib/decl.inc", "      integer n\n!$xmp nodes p(*)\n")
        self.write("b.f90", "program p\n  include 'decl.inc'\nend program\n")
        self.assertIn("lib/decl.inc:2:1:", self.refuse("--cc", "gfortran", "-Ilib", "-c", "b.f90").stderr)
        if shutil.which("gfortran"):
            self.write(
                "c.f90", "! !$xmp barrier\nprint *, '!$xmp barrier' !$xmp\n!$omp barrier\n!xmp\n!$ xmp = 1\nend\n"
            )
            self.compiled("--cc", "gfortran", "-c", "c.f90")

    def test_families_without_directives(self) -> None:
        self.write(
            "main.c", "#include <mpc.h>\nint main(int n, char** v) {\n  mpc_init(&n, &v);\n#pragma mpc barrier\n}\n"
        )
        self.assertRegex(
            self.refuse("-c", "main.c").stderr, "main.c:4:1: error: #pragma mpc: .*\n.*\n.*\n.*mpc_barrier()"
        )
        self.write("main.c", "#pragma mpc barrier\nint main(void) { return 0; }\n")
        self.compiled("-c", "main.c")

    def test_defined_twice(self) -> None:
        main = "int main(int argc, char** argv) { mpc_init(&argc, &argv); return mpc_exit(); }\n"
        self.write("main.c", f"#include <mpc.h>\nshared int a[10]::[1](0, 1);\n{main}")
        self.write("other.c", "#include <mpc.h>\nshared int a[10]::[1](0, 1);\n")
        ended = self.refuse("main.c", "other.c", "-o", "program")
        self.assertRegex(ended.stderr, r"(?m)^other\.c:2:12: error: shared `a` is defined here, and at main\.c:2:12$")

    def test_coarrays_of_other_extents(self) -> None:
        self.write("main.c", "#include <xmp.h>\nint a[10]:[*];\nint f(void);\nint main(void) { return f(); }\n")
        self.write("other.c", "#include <xmp.h>\nextern int a[20]:[*];\nint f(void) { return a[1]:[0]; }\n")
        ended = self.refuse("main.c", "other.c", "-o", "program")
        self.assertRegex(
            ended.stderr, r"(?m)^other\.c:2:12: error: `a` has \[20\] of 4 bytes here, and \[10\] of 4 bytes"
        )
        self.write("other.c", "#include <xmp.h>\nint a[10]:[*];\nint f(void) { return a[1]:[0]; }\n")
        ended = self.refuse("main.c", "other.c", "-o", "program")
        self.assertRegex(ended.stderr, r"(?m)^other\.c:2:5: error: coarray `a` is defined here, and at main\.c:2:5")

    def test_coarray_in_one_file_only(self) -> None:
        main = "int f(void);\nint main(void) { return f() + a[1]:[0]; }\n"
        self.write("main.c", f"#include <xmp.h>\nint a[10]:[*];\n{main}")
        self.write("other.c", "extern int a[10];\nint f(void) { return a[1]; }\n")
        ended = self.refuse("main.c", "other.c", "-o", "program")
        self.assertRegex(ended.stderr, r"(?m)^other\.c:.* error: `a` is a coarray in main\.c")
        self.assertIn("extern .. a:[*]", ended.stderr)
        self.write("starts.c", "int f(void);\nint main(void) { return f(); }\n")
        self.write("other.c", "#include <xmp.h>\nint a[10]:[*];\nint f(void) { return a[1]:[0]; }\n")
        ended = self.refuse("starts.c", "other.c", "-o", "program")
        self.assertRegex(ended.stderr, r"error: `a` of other\.c:2:5 is a coarray, and nobody starts the job")
        self.assertIn("xmp_init(&argc, &argv)", ended.stderr)

    def test_nobody_starts_the_job(self) -> None:
        self.write("main.c", "int f(void);\nint main(void) { return f(); }\n")
        self.write("other.c", "#include <mpc.h>\nshared int a[10]::[1](0, 1);\nint f(void) { return a[1]; }\n")
        ended = self.refuse("main.c", "other.c", "-o", "program")
        self.assertRegex(
            ended.stderr, r"(?m)^main\.c:2:5: error: `a` of other\.c:2:12 is shared, and nobody starts the job"
        )
        self.assertIn("call mpc_init(&argc, &argv)", ended.stderr)
        self.assertFalse((self.folder / "program").exists())

    def test_nobody_starts_loops(self) -> None:
        """A file with loops and static arrays only, whose main knows nothing of it; <smint.h> there is enough."""
        main = "int f(void);\nint main(void) { return f() != 45; }\n"
        self.write("main.c", main)
        self.write(
            "other.c",
            "#include <smint.h>\n#pragma SMint shared ::[NPROCS](0, NPROCS)\nstatic int a[10];\nint f(void) {\n"
            "  int sum = 0;\n#pragma SMint parallel for reduction(+ : sum)\n"
            "  for (int i = 0; i < 10; i++) sum += a[i] = i;\n  return sum;\n}\n",
        )
        ended = self.refuse("main.c", "other.c", "-o", "program")
        self.assertRegex(ended.stderr, r"(?m)^main\.c:2:5: error: other\.c has shared arrays or loops, and nobody")
        self.write("main.c", f"#include <smint.h>\n{main}")
        self.compiled("main.c", "other.c", "-o", "program")
        self.check_answer(self.folder / "program", "")

    def test_loop_within_a_loop_at_run_time(self) -> None:
        """A function that iterations call has a loop of its own, which other ranks would never come to."""
        self.write(
            "main.c",
            "#include <smint.h>\n#pragma SMint shared ::[NPROCS][](0, NPROCS)\ndouble a[8][8];\n"
            "static void row(double* r) {\n#pragma SMint parallel for\n  for (int j = 0; j < 8; j++) r[j] = j;\n}\n"
            "int main(void) {\n#pragma SMint parallel for\n  for (int i = 0; i < 8; i++) row(a[i]);\n}\n",
        )
        self.compiled("main.c", "-o", "program")
        for ranks, nodes in ((1, 1), (3, 2)):
            ended = self.launch(ranks, nodes, self.folder / "program")
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn("main.c:5: begins within the parallel for at main.c:9", ended.stderr)
            self.assertEqual(ended.stderr.count("hiroba: rank"), 1, ended.stderr)

    def test_column_behind_macros(self) -> None:
        """Macros before the place in question are as long as in the user's file."""
        text = "#include <smint.h>\n#define LONG_NAME(x) ((((x) + 1) * 2 - 2) / 2)\n"
        text += "#pragma SMint shared ::[NPROCS](0, NPROCS)\nint a[10];\nint main(void) {\n"
        text += "#pragma SMint parallel for\n"
        text += "  for (int i = 1; i < 10; i++) { int n = LONG_NAME(i); n += LONG_NAME(n); a[0] = n; }\n"
        text += "  return 0;\n}\n"
        self.write("macros.c", text)
        ended = self.refuse("-c", "macros.c")
        column = text.split("\n")[6].index("a[0]") + 1
        self.assertRegex(ended.stderr, rf"^macros\.c:7:{column}: error: ")

    def test_column_behind_macros_of_our_headers(self) -> None:
        """The preprocessor puts what NPROCS becomes on a line of its own."""
        line = "  for (int i = NPROCS - NPROCS; i < 10; i++) { int j = MYPID + i; a[0] = j; }\n"
        text = "#include <smint.h>\n#pragma SMint shared ::[NPROCS](0, NPROCS)\nint a[10];\nint main(void) {\n"
        self.write("macros.c", f"{text}#pragma SMint parallel for\n{line}}}\n")
        ended = self.refuse("-c", "macros.c")
        self.assertRegex(ended.stderr, rf"^macros\.c:6:{line.index('a[0]') + 1}: error: ")

    def test_lines_of_the_c_compilers_messages(self) -> None:
        """Behind every construct, the C compiler's own errors still point at the user's line."""
        for program in sorted((HERE / "golden").glob("*.c"))[:: 3 if ONCE else 1]:
            with self.subTest(program.stem):
                lines = program.read_text().split("\n")
                self.write("broken.c", "\n".join([*lines[:-1], "int broken = undeclared_name;", ""]))
                ended = self.refuse("-fopenmp", "-I", program.parent, "-c", "broken.c")
                self.assertRegex(ended.stderr, rf"(?m)^broken\.c:{len(lines)}:14: error: .*undeclared_name")


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--update"])
