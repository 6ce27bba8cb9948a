"""Headers that hirobacc adds to a program: what they do, and that what the program chooses holds for them."""

import shutil
import unittest

from compiling import CompilerTest, execute

WITH_MPI = """\
#include <stdio.h>
#ifdef USE_MPI
#include "mpi.h"
#endif
#pragma SMint shared ::[NPROCS](0,NPROCS)
double a[1 << 18];
int main() {
  double last = 0;
#pragma SMint parallel for
  for (int i = 0; i < 1 << 18; i++) a[i] = i;
#ifdef USE_MPI
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(&a[1 << 17], 1 << 17, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(a, 1 << 17, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma SMint barrier
  last = a[(1 << 17) - 1] - ((1 << 18) - 1);
#endif
#pragma SMint single
  puts(last == 0 ? "OK" : "wrong");
}
"""
# XcalableMP beside MPI; left open are the order of the headers, and who starts MPI.
XMP_WITH_MPI = """\
#include <stdio.h>
%s
#pragma xmp nodes p[*]
int image:[*];
int main(int argc, char** argv) {
  int wrong = 0, n, last, sum = 0;
  %s
  last = xmp_num_nodes() - 1;
  image = xmpc_node_num();
#pragma xmp task on p[last:1]
  {
    MPI_Comm alone = xmp_get_mpi_comm();
    MPI_Comm_size(alone, &n);
    wrong += n != 1 || image != last;
  }
  MPI_Comm_size(xmp_get_mpi_comm(), &n);
  MPI_Allreduce(&image, &sum, 1, MPI_INT, MPI_SUM, xmp_get_mpi_comm());
  wrong += n != last + 1 || sum != last * n / 2;
#pragma xmp reduction(+:wrong)
  if (image == 0) puts(wrong ? "wrong" : "OK");
  %s
  (void)argc, (void)argv;
  return 0;
}
"""
XMP_STARTS = (
    ("xmp_init_mpi(&argc, &argv);", "xmp_finalize_mpi();"),
    ("MPI_Init(&argc, &argv); xmp_init(MPI_COMM_WORLD);", "xmp_finalize(); MPI_Finalize();"),
    ("xmp_init(&argc, &argv);", "xmp_finalize();"),
)
CHOSEN = """\
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <stdio.h>
#include <sys/mman.h>
int main() {
  int sum = 0;
#pragma SMint parallel for reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += i;
#pragma SMint single
  puts(sum == 45 && memfd_create("x", 0) > 0 ? "OK" : "wrong");
}
"""
# Spelled from either folder of an installation.
BOTH_FOLDERS = """\
#include <hiroba/collective.h>
#include <hiroba/xmp.h>
#include <sms.h>
#include <stdio.h>
#pragma xmp nodes p[*]
int main() {
  int sum = 0, one = 1;
  hiroba_allreduce(&one, &sum, 1, HIROBA_INT, HIROBA_SUM, HIROBA_ALL);
  if (sms_rank == 0) puts(sum == sms_nprocs ? "OK" : "wrong");
}
"""

MADE = ("#include <stdio.h>\nstatic long n = 1;\n", '\n  { n += 1; }\n  if (n == 2) puts("OK");\n}\n')
# Directives that macros and headers of the program make: the file, and a header.
OPERATORS = (
    ('#define ATOMIC _Pragma("hiroba atomic")\nint main(void) {\nATOMIC', ""),
    ("#define DO(x) _Pragma(#x)\nint main(void) {\nDO(hiroba atomic)", ""),
    ("#define ATOMIC DO(hiroba atomic)\n#define DO(x) _Pragma(#x)\nint main(void) {\nATOMIC", ""),
    ('#include "made.h"\nint main(void) {\nATOMIC', '#define ATOMIC _Pragma("hiroba atomic")'),
    (
        '#include "made.h"\nint main(void) {',
        "static inline void add(long* to) {\n#pragma hiroba atomic\n  *to += 1;\n}",
    ),
    ('int main(void) {\n_Pragma ( "hiroba atomic" )', ""),
    ('#define ONE _Pragma("SMint critical")\nint main(void) {\nONE', ""),
    ("#define DO(x) _Pragma(#x)\nint main(void) {\nDO(SMint barrier)", ""),
    ('#define FIRST _Pragma("xmp task on p[0]")\n#pragma xmp nodes p[*]\nint main(void) {\nFIRST', ""),
    (
        '#include "made.h"\nint main(void) {\nFIRST',
        '#define FIRST _Pragma("xmp nodes p[*]") _Pragma("xmp task on p[0]")',
    ),
    ('#define WAITED _Pragma("hiroba task inout(n)")\nint main(void) {\nWAITED', ""),
)


class Headers(CompilerTest):
    def test_directives_made_by_macros(self) -> None:
        """They need no header either. The first runs."""
        for body, header in OPERATORS:
            self.write("made.h", header + "\n")
            self.write("macro.c", f"{MADE[0]}{body}{MADE[1]}")
            with self.subTest(body):
                self.compiled("-fopenmp", "-c", "macro.c")
        self.write("macro.c", f"{MADE[0]}{OPERATORS[0][0]}{MADE[1]}")
        self.compiled("macro.c", "-o", "macro")
        self.check_answer(self.folder / "macro", jobs=[(1, 1)])

    def test_header_of_the_same_name(self) -> None:
        """libxmp, which plays music, has an <xmp.h>, too: a program without directives gets that of the system."""
        self.write("system/xmp.h", "typedef char* xmp_context;\nxmp_context xmp_create_context(void);\n")
        self.write(
            "player.c",
            '#include <stdio.h>\n#include <xmp.h>\nxmp_context xmp_create_context(void) { return "OK"; }\n'
            "int main(void) {\n  xmp_context c = xmp_create_context();\n  puts(c);\n}\n",
        )
        self.write(
            "ours.c",
            "#include <stdio.h>\n#include <xmp.h>\n#include <math.h>\n#pragma xmp nodes p[*]\n"
            "int main(int n, char** v) {\n"
            '#pragma xmp task on p[0]\n  puts(xmpc_node_num() == 0 && sin(n) > 0 && v[0][0] ? "OK" : "wrong");\n}\n',
        )
        for folder in ("-I", "-isystem", ""):
            words = [folder, self.folder / "system"] if folder else []
            env = {} if folder else {"C_INCLUDE_PATH": str(self.folder / "system")}
            self.compiled(*words, "player.c", "-o", "player", env=env)
            self.compiled(*words, "ours.c", "-o", "ours", env=env)  # libm is linked, as by xmpcc
        self.assertEqual(execute([str(self.folder / "player")], self.folder).stdout, "OK\n")
        self.check_answer(self.folder / "ours", jobs=[(3, 2)])

    def test_mpi_that_is_not_there(self) -> None:
        """The C compiler's own message."""
        text = "#include <mpi.h>\nMPI_Comm c;\n"
        self.write("mpi.c", text)
        expected = execute(["cc", "-c", "mpi.c"], self.folder)
        if expected.returncode == 0:
            self.skipTest("mpi.h is where the compiler looks by itself")
        for more in ("", "#pragma xmp nodes p[*]\n", "int main(void) { return MPI_Init(0, 0); }\n"):
            self.write("mpi.c", text + more)
            ended = self.compile("-c", "mpi.c")
            self.assertEqual((ended.returncode, ended.stderr), (1, expected.stderr))

    def test_mpi_calls_on_shared_memory(self) -> None:
        """Files that include mpi.h, under a condition, too, pass shared memory of another node to MPI."""
        if shutil.which("mpicc") is None:
            self.skipTest("there is no mpicc")
        self.write("mpi.c", WITH_MPI)
        self.compiled("--cc", "mpicc", "-DUSE_MPI", "-Wall", "-Werror", "mpi.c", "-o", "with_mpi")
        ended = self.launch(2, 2, self.folder / "with_mpi")
        self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)
        self.compiled("--cc", "gcc", "-Wall", "-Werror", "mpi.c", "-o", "without")
        self.check_answer(self.folder / "without")

    def test_xmp_beside_mpi(self) -> None:
        if shutil.which("mpicc") is None:
            self.skipTest("there is no mpicc")
        orders = ("#include <mpi.h>\n#include <xmp.h>", "#include <xmp.h>\n#include <mpi.h>")
        for i, (begin, end) in enumerate(XMP_STARTS):
            with self.subTest(begin):
                self.write("both.c", XMP_WITH_MPI % (orders[i % 2], begin, end))
                self.compiled("--cc", "mpicc", "-Wall", "-Wextra", "-Werror", "both.c", "-o", "both")
                for ranks, nodes in ((1, 1), (3, 1), (4, 2)):
                    ended = self.launch(ranks, nodes, self.folder / "both")
                    self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)

    def test_directives_in_headers_of_cxx(self) -> None:
        """They are refused, as in a C++ file itself, unless the preprocessor leaves them out there."""
        if shutil.which("c++") is None:
            self.skipTest("there is no C++ compiler")
        (self.folder / "inside").mkdir()
        directives = "#include <xmp.h>\n#pragma xmp nodes p[*]\n"
        self.write("plain.h", "// #pragma xmp barrier\nint plain(void);\n")
        self.write("inside/outer.h", '#include "inner.h"\n')
        for only_c in (False, True):
            self.write("inside/inner.h", f"#ifndef __cplusplus\n{directives}#endif\n" if only_c else directives)
            for name, text in (("near", '#include "inside/outer.h"'), ("far", "#include <cstdio>\n#include <outer.h>")):
                self.write(f"{name}.cpp", f'{text}\n#include "plain.h"\nint main() {{ return 0; }}\n')
                ended = self.compile("-Wall", "-Iinside", "-c", f"{name}.cpp", "-o", "out.o")
                self.assertEqual(ended.returncode, 0 if only_c else 1, ended.stderr)
                words = rf"inside/inner.h:2:1: error: directives are C, and {name}.cpp includes this header, .*C\+\+:"
                self.assertRegex(ended.stderr, "^$" if only_c else words)

    def test_choices_of_the_c_library(self) -> None:
        """A header of ours that the file does not include is read before the file: after what the file chooses."""
        self.write("chosen.c", CHOSEN)
        self.compiled("-std=c99", "-Wall", "-Werror", "chosen.c", "-o", "chosen")
        self.check_answer(self.folder / "chosen")

    def test_both_folders(self) -> None:
        self.write("both.c", BOTH_FOLDERS)
        self.compiled("-Wall", "-Werror", "both.c", "-o", "both")
        self.check_answer(self.folder / "both")
        self.write(
            "without.c", "#include <hiroba/collective.h>\nint main(void) { return HIROBA_INT == HIROBA_INT8; }\n"
        )
        self.compiled("-Wall", "-Werror", "without.c", "-o", "without")


if __name__ == "__main__":
    unittest.main()
