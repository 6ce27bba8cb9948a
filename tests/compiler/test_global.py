"""XcalableMP's global view as users write it, compared with sequential runs: fixed programs, random ones with a printed
seed, misuse that only a run can notice, and what --explain says."""

import concurrent.futures
import json
import os
import random
import sys
import unittest

from compiling import HIROBACC, HIROBARUN, ONCE, ROOT, CompilerTest, execute, some
from global_calls import PROGRAMS as CALLS
from global_calls import program as calls
from global_exits import PROGRAMS as EXITS
from global_forms import FILES as LATER_FILES
from global_forms import PROGRAMS as MORE
from global_others import PROGRAMS as OTHERS
from global_programs import program
from global_shared import PROGRAMS as SHARED

PROGRAMS = MORE | CALLS | SHARED | OTHERS | EXITS

FORMS = """#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>
#define N 40
static const int M = 12;
#pragma xmp nodes p(*)
#pragma xmp nodes g[*][1]
#pragma xmp template t(0:N-1)
#pragma xmp template u[N][M]
#pragma XMP DISTRIBUTE t(CYCLIC(3)) ONTO p
#pragma xmp distribute u[block][cyclic] onto g
double a[N], copies[N][M];
int b[N][M];
#pragma xmp align a[i] WITH t(i)
#pragma xmp align b[i][j] with u[i][j]
#pragma xmp align copies[i][*] with u[i][*]
#pragma xmp shadow copies[2][0]
static double total(double x[N]) {
#pragma xmp align x[i] with t(i)
  double sum = 0;
#pragma xmp loop on t(i) reduction(+:sum)
  for (int i = 0; i < N; i++) sum += x[i];
  return sum;
}
int main(void) {
  int wrong = 0, where[2] = {-1, -1}, k = -1, n = xmp_num_nodes();
  double low = 1e9, high = -1;
#pragma xmp loop on t(i)
  for (int i = 0; i < N; i++) a[i] = (i * 7) % 5;
  wrong += total(a) != 80;
#pragma xmp loop on t(i) reduction(FIRSTMAX:high/k/)
  for (int i = 0; i < N; i++) if (a[i] > high) high = a[i], k = i;
  wrong += high != 4 || k != 2;
#pragma xmp loop on t(i) reduction(lastmin:low/k/)
  for (int i = 0; i < N; i++) if (a[i] <= low) low = a[i], k = i;
  wrong += low != 0 || k != 35;
  int best = -1;
#pragma xmp loop (i,j) on u[i][j]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) b[i][j] = (i * 5 + j * 3) % 17;
#pragma xmp loop (i,j) on u[i][j] reduction(firstmax:best/where/)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      if (b[i][j] > best) best = b[i][j], where[0] = i, where[1] = j;
  wrong += best != 16 || where[0] != 0 || where[1] != 11;
  int product = 2, bits = 0;
#pragma xmp loop (i,j) on u[i][j] reduction(*:product) reduction(|:bits)
  for (int i = 0; i < N; i++) {
    if (i == 3) continue;
    for (int j = 0; j <= i % M; j++) { if (b[i][j] == 16) product *= -1; bits |= b[i][j]; }
  }
  int expected = 2, all = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i % M; j++)
      if (i != 3) { if ((i * 5 + j * 3) % 17 == 16) expected *= -1; all |= (i * 5 + j * 3) % 17; }
  wrong += product != expected || bits != all;
#pragma xmp loop on u[i][*]
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) copies[i][j] = i;
#pragma xmp reflect(copies) width(1:2,0) async(5)
#pragma xmp wait_async(5)
#pragma xmp loop on u[i][*]
  for (int i = 1; i < N - 2; i++) wrong += copies[i - 1][0] != i - 1 || copies[i + 2][M - 1] != i + 2;
  int seen = 0;
#pragma xmp task on t(5)
  {
    int a = 3;  /* hides the array */
    seen = a + xmp_num_nodes();
  }
#pragma xmp bcast(seen) from t(5)
  wrong += seen != 4;
#pragma xmp task on u[N - 1][0:M] nocomm
  { seen = 9; }
#pragma xmp gmove
  b[4][0:M] = b[9][M - 1:M:-1];
  int row[M], e;
#pragma xmp gmove
  row[0:M] = b[4][:];
  for (int j = 0; j < M; j++) wrong += row[j] != (45 + (M - 1 - j) * 3) % 17;
#pragma xmp gmove
  b[:][2] = 77;
#pragma xmp gmove
  e = b[N - 1][2];
  wrong += e != 77 || sizeof(a) != N * sizeof(double);
#pragma omp parallel for
#pragma xmp loop on u[i][*]
  for (int i = 0; i < N; i++) copies[i][1] = 1;
#pragma xmp loop on t(i)
#pragma omp parallel for
  for (int i = 0; i < N; i++) a[i] = 1;
  wrong += total(a) != N;
#pragma xmp reduction(+:wrong)
  if (xmpc_node_num() == 0) puts(wrong ? "wrong" : "OK");
  (void)n;
  return wrong != 0;
}
"""
HEADER = """#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
extern double shared[100];
#pragma xmp align shared[i] with t[i]
#pragma xmp shadow shared[1]
void fill(void);
"""
FILES = {
    "common.h": HEADER,
    "one.c": '#include "common.h"\nvoid fill(void) {\n#pragma xmp loop on t[i]\n'
    "  for (int i = 0; i < 100; i++) shared[i] = i;\n}\n",
    "two.c": '#include <stdio.h>\n#include "common.h"\ndouble shared[100];\nint main(void) {\n'
    "  double sum = 0;\n  fill();\n"
    "#pragma xmp reflect(shared)\n#pragma xmp loop on t[i] reduction(+:sum)\n"
    "  for (int i = 1; i < 99; i++) sum += shared[i - 1] + shared[i + 1];\n"
    '  if (xmpc_node_num() == 0) puts(sum == 9702 ? "OK" : "wrong");\n}\n',
}
MISUSE_HEAD = """#include <stdlib.h>
#include <sms.h>
#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp distribute t[block] onto p
double a[20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
#pragma xmp template later[:]
#pragma xmp distribute later[block] onto p
double *q, (*q2)[7];
#pragma xmp align q[i] with later[i]
#pragma xmp align q2[i][*] with t[i]
int indices[20];
double few[5], matrix[20][3];
#pragma xmp align indices[i] with t[i]
#pragma xmp align few[i] with t[i]
#pragma xmp align matrix[i][*] with t[i]
#pragma xmp static_desc p
#pragma xmp static_desc :: t, few, matrix
int main(void) {
  int which = atoi(getenv("CASE")), three = 3, sizes[] = {4, 7};
  double c[20] = {0};
"""
# What is executed, and the message.
MISUSE = {
    "\n#pragma xmp loop on t[i]\nfor (int i = 0; i < 20 + three; i++) c[0] = i;":
        r"m\.c:\d+: a loop on dimension 1 of template t has the indices 0\.\.22, and the template has 0\.\.19",
    "\n#pragma xmp gmove\na[0:three] = c[0:4];":
        r"m\.c:\d+: a\[0:three\] = c\[0:4\]: the left side of gmove has \[3\], and the right side \[4\]",
    "\n#pragma xmp gmove\na[18:three] = c[0:3];": r"m\.c:\d+: a\[18:three\]: section 18:3:1 .*out of bounds",
    "\n#pragma xmp reflect(a) width(three)\n":
        r"m\.c:\d+: reflect of width 3:3 in dimension 1 of a, whose shadow is 1:1",
    "\n#pragma xmp task on t[three * 7]\nc[0] = 1;": r"m\.c:\d+: index 21 of template t: dimension 1 has 0\.\.19",
    "\n#pragma xmp task on p[0]\n{\n#pragma xmp reflect(a)\n}":
        r"m\.c:\d+: reflect of a is executed without rank 1, which has a part of it",
    "\n#pragma xmp template u[three]\n#pragma xmp distribute u[block] onto p\ndouble d[20];\n"
    "#pragma xmp align d[i] with u[i]\n":
        r"m\.c:\d+: dimension 1 of array d is aligned with the indices 0\.\.19 of template u, which has 0\.\.2",
    "\n#pragma xmp template u[20]\n#pragma xmp distribute u[cyclic(three - 3)] onto p\n":
        r"m\.c:\d+: cyclic\(0\) in dimension 1 of template u",
    "\n#pragma xmp template_fix later[20]\n#pragma xmp template_fix later[three]\n":
        r"m\.c:(\d+): template later is fixed already: by template_fix at m\.c:\d+",
    "\n#pragma xmp loop on later[i]\nfor (int i = 0; i < 20; i++) q[i] = i;":
        r"m\.c:\d+: template later is used before #pragma xmp distribute, or template_fix",
    "\n#pragma xmp template_fix later[20]\n#pragma xmp loop on later[i]\nfor (int i = 0; i < 20; i++) q[i] = i;":
        r"m\.c:\d+: array q has no memory yet: .* xmp_malloc is missing",
    "\nq = xmp_malloc(xmp_desc_of(q), 20);":
        r"m\.c:\d+: template later is used before #pragma xmp distribute, or template_fix",
    "\nq2 = xmp_malloc(xmp_desc_of(q2), 20);":
        r"m\.c:\d+: xmp_malloc of array q2, which has 2 dimensions, with 1 extents",
    "\nq2 = xmp_malloc(xmp_desc_of(q2), 20, three);":
        r"m\.c:\d+: xmp_malloc gives dimension 2 of array q2 3 elements, and its declaration 7",
    "\nfor (;;) q2 = xmp_malloc(xmp_desc_of(q2), 20, 7);": r"m\.c:\d+: array q2 is allocated already",
    "\n#pragma xmp array on t[0:three]\na[1:three] = 1;":
        r"m\.c:\d+: a\[1:three\] and t: the left side has the indices 1, 2, .* and `array on` 0, 1",
    "\n#pragma xmp array on t[0:20]\na[0:three] = 1;":
        r"m\.c:\d+: a\[0:three\] and t do not fit: 3 and 20 elements in dimension 1",
    "\n#pragma xmp template u[20]\n#pragma xmp distribute u[gblock(sizes)] onto p\n":
        r"m\.c:\d+: the sizes in gblock add up to 11, and dimension 1 of template u has 20 indices",
    "\n#pragma xmp nodes one[1][2]\n#pragma xmp template u[4][4]\nint few[] = {4};\n"
    "#pragma xmp distribute u[gblock(few)][gblock(few)] onto one\n":
        r"m\.c:\d+: gblock in dimension 2 of template u has 1 sizes, and there are 2 nodes",
    "\n#pragma xmp task on p[0]\n{\n#pragma xmp gmove in\na[0:11] = few[0];\n}":
        r"m\.c:\d+: a\[0:11\] = few\[0\]: rank 1 has elements of the left side and does not execute this gmove;",
    "\n#pragma xmp task on p[0]\n{\n#pragma xmp gmove out\nfew[0:2] = a[9:2];\n}":
        r"m\.c:\d+: few\[0:2\] = a\[9:2\]: rank 1 has elements of the right side and does not execute this gmove;",
    "\n#pragma xmp gmove in\nc[0:three] = a[0:4];":
        r"m\.c:\d+: c\[0:three\] = a\[0:4\]: the left side of gmove has \[3\], and the right side \[4\]",
    "\ndouble* far = sms_alloc(sizeof *far, 20, 1);\n#pragma xmp gmove\nfar[18:three] = a[0:three];":
        r"m\.c:\d+: far\[18:three\] = a\[0:three\]: the section has an element that is .* past the end",
    "\ndouble* far = sms_alloc(sizeof *far, 20, 1);\n#pragma xmp task on p[0]\n{\n#pragma xmp gmove\n"
    "far[0:11] = a[0:11];\n}":
        r"m\.c:\d+: far\[0:11\] = a\[0:11\]: rank 1 has elements of the right side and does not execute this gmove;",
    "\ndouble* far = c;\n#pragma xmp gmove out\nfar[0:4] = a[0:4];":
        r"m\.c:\d+: far\[0:4\] = a\[0:4\]: the left side of gmove out is memory of each node; write gmove in",
    "\n#pragma xmp reduction(+:a)\n":
        r"m\.c:\d+: reduction of a, of which rank \d has other elements than rank \d; .* such as `on p\[\*\]\[:\]`",
    "\nxmp_transpose(xmp_desc_of(a), xmp_desc_of(matrix), 0);":
        r"m\.c:\d+: xmp_transpose: array a has 1 dimension, and this call needs 2",
    "\nxmp_transpose(xmp_desc_of(matrix), xmp_desc_of(matrix), 0);":
        r"m\.c:\d+: xmp_transpose: dimension 1 of matrix has 20 elements, and dimension 2 of matrix has 3",
    "\nxmp_matmul(xmp_desc_of(matrix), xmp_desc_of(matrix), xmp_desc_of(matrix));":
        r"m\.c:\d+: xmp_matmul: dimension 2 of matrix has 3 elements, and dimension 1 of matrix has 20",
    "\n#pragma xmp array on t[:]\nindices[:] = three + 22;\n"
    "xmp_gather(xmp_desc_of(a), xmp_desc_of(a), xmp_desc_of(indices));":
        r"m\.c:\d+: xmp_gather: indices has the index 25, and dimension 1 of a has 0\.\.19",
    "\nxmp_scatter(xmp_desc_of(a), xmp_desc_of(a), xmp_desc_of(p));":
        r"m\.c:\d+: xmp_scatter: an index array is not the descriptor of an aligned array; give xmp_desc_of",
    "\nxmp_scatter(xmp_desc_of(matrix), xmp_desc_of(a), xmp_desc_of(indices));":
        r"m\.c:\d+: xmp_scatter: array matrix has 2 dimensions, and 1 index array is given",
    "\nxmp_pack(xmp_desc_of(few), xmp_desc_of(a));":
        r"m\.c:\d+: xmp_pack: 20 elements of a are chosen, and few has 5",
    "\nxmp_unpack(xmp_desc_of(a), xmp_desc_of(few), xmp_desc_of(a));":
        r"m\.c:\d+: xmp_unpack: the elements of a have a type that is not an integer",
    "\nxmp_sort_up(xmp_desc_of(indices), xmp_desc_of(a));":
        r"m\.c:\d+: xmp_sort_up: the elements of indices and a have different types; declare both alike",
    "\n#pragma xmp task on p[0]\nxmp_sort_down(xmp_desc_of(a), xmp_desc_of(a));":
        r"m\.c:\d+: xmp_sort_down of a is executed without rank 1, which has a part of it",
    "\nxmp_sort_down(xmp_desc_of(q), xmp_desc_of(q));":
        r"m\.c:\d+: xmp_sort_down: template later is used before #pragma xmp distribute, or template_fix",
    "\nxmp_template_ubound(xmp_desc_of(a), 1, &three);":
        r"xmp_template_ubound: this is not the descriptor of a template; give xmp_desc_of\(t\)",
    "\nxmp_array_lsize(xmp_desc_of(t), 1, &three);":
        r"xmp_array_lsize: this is not the descriptor of an aligned array; give xmp_desc_of\(a\)",
}  # fmt: skip


CHECKED_HEAD = """#include <stdlib.h>
#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[20]
#pragma xmp distribute u[cyclic(2)] onto p
double a[20], m[20][4];
int c[20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1:2]
#pragma xmp align m[i][*] with t[i]
#pragma xmp align c[i] with u[i]
int main(void) {
  int which = atoi(getenv("CASE")), three = 3;
#pragma xmp loop on t[i]
  for (int i = 0; i < 20; i++) a[i] = i;
#pragma xmp reflect(a)
#pragma xmp loop on t[i]
  for (int i = 1; i < 18; i++) m[i][sizeof a / sizeof a[19] % 4] = a[i - 1] + a[i + 2];
"""
# What --check finds in a run of 2 nodes, or nothing.
CHECKED = {
    "three = m[1][0] > 0;":
        r"m\.c:\d+: m\[1\]\[0\]: index 1 in dimension 1 of m is not on this node of p, which has 10\.\.19, ",
    "\n#pragma xmp loop on t[i]\nfor (int i = 0; i < 20 - three; i++) three += a[i + three] > 1;":
        r"m\.c:\d+: a\[i \+ three\]: index \d+ in dimension 1 of a is not on .* has \d+\.\.\d+, and the shadow 1:2",
    "\n#pragma xmp loop on t[i]\nfor (int i = 0; i < 20; i++) m[i][i] = 1;":
        r"rank \d: m\.c:\d+: m\[i\]\[i\]: index \d+ in dimension 2 of m is not on this node",
    "\n#pragma xmp loop on u[i]\nfor (int i = 0; i < 20; i++) c[i ^ 2] = 1;":
        r"c\[i \^ 2\]: index \d+ in dimension 1 of c is not on this node of p, which has blocks of 2, each 4 after",
    "\n#pragma xmp loop on t[i]\nfor (int i = 0; i < 20; i++) a[i] += 1;"
    "\n#pragma xmp loop on t[i]\nfor (int i = 1; i < 20; i++) m[i][0] = a[i - 1];":
        r"a\[i - 1\]: index \d+ in dimension 1 of a is in the shadow, which is older than .* reflect\(a\)",
    "\n#pragma xmp loop on t[i] expand(1)\nfor (int i = 0; i < 20; i++) a[i] = 1;"
    "\n#pragma xmp loop on t[i]\nfor (int i = 1; i < 19; i++) m[i][0] = a[i - 1] + a[i + 1];": "",
    "\n#pragma xmp loop on t[i]\nfor (int i = 0; i < 20; i++) a[i]++;\n#pragma xmp reflect(a) async(1)\n"
    "\n#pragma xmp wait_async(1)\n"
    "\n#pragma xmp loop on t[i]\nfor (int i = 1; i < 19; i++) m[i][0] = a[i - 1] + a[i + 1];": "",
    "\n#pragma xmp loop on u[i]\nfor (int i = 0; i < 20; i++) c[i] = i;": "",
    "\n#pragma xmp task on p[0]\na[15] = three;":
        r"rank 0: m\.c:\d+: a\[15\]: index 15 in dimension 1 of a is not on this node of p, which has 0\.\.9, ",
    "\n#pragma xmp task on t[2:3]\n{\nfor (int i = 2; i < 5; i++) three += m[i + 9][1] > 0;\n}":
        r"rank 0: m\.c:\d+: m\[i \+ 9\]\[1\]: index 11 in dimension 1 of m is not on this node of p, which has 0\.\.9",
    "\n#pragma xmp task on p[1]\n{\nfor (int i = 10; i < 20; i++) m[i][0] = a[i];\n}": "",
}  # fmt: skip

# Constants that do not fit, which end the compilation.
CONSTANT_HEAD = """#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp distribute t[block] onto p
double a[20], b[20][4];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
"""
CONSTANT = {
    "#pragma xmp align b[i][*] with t[i + 1]":
        r"m\.c:8:\d+: error: .*dimension 1 of b leaves dimension 1 of template t",
    "#pragma xmp align b[i][*] with t[i]\n#pragma xmp shadow b[0:2-3][0]":
        r"m\.c:9:\d+: error: .*the shadow of dimension 1 of b is negative",
    "#pragma xmp template u[8]\n#pragma xmp distribute u[cyclic(4 - 4)] onto p":
        r"m\.c:9:\d+: error: .*cyclic\(4 - 4\) has blocks of less than one index",
    "enum { NONE };\n#pragma xmp template u[NONE]\n#pragma xmp distribute u[block] onto p":
        r"m\.c:10:\d+: error: .*dimension 1 of template u has no index",
    "int main(void) {\n#pragma xmp reflect(a) width(2:1)\n}":
        r"m\.c:9:\d+: error: .*the width 2:1 is more than shadow 1:1 of a",
    "int main(void) {\n#pragma xmp reflect(a) width(-1)\n}":
        r"m\.c:9:\d+: error: .*the width -1 is more than shadow 1:1 of a",
    "int main(void) {\n#pragma xmp loop on t[i]\nfor (int i = -1; i < 3; i++) a[3] = 1;\n}":
        r"m\.c:9:\d+: error: the indices -1\.\.2 of dimension 1 of template `t`, which has 0\.\.19",
    "#pragma xmp template u[8]\n#pragma xmp distribute u[block(4 - 4)] onto p":
        r"m\.c:9:\d+: error: .*block\(4 - 4\) has blocks of less than one index",
    "int main(void) {\n#pragma xmp gmove\na[0:3] = b[2][0:4];\n}":
        r"m\.c:10:\d+: error: the left side of gmove has \[3\], and the right side \[4\]",
}  # fmt: skip


class GlobalView(CompilerTest):
    def run_all(self, name: str, *more: list[str]) -> None:
        for settings in (["1"], ["2"], ["3"], ["4", "--nodes", "2"], *more):
            with self.subTest(settings):
                words = [HIROBARUN, "-n", *settings, str(self.folder / name)]
                ended = execute(words, self.folder)
                self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)

    def test_forms(self) -> None:
        for name, written in (("a", FORMS), ("b", FORMS.replace("g[*][1]", "g(*,1)"))):
            self.write("forms.c", written)
            self.compiled("-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", "forms.c", "-o", name)
            self.run_all(name)

    def test_several_files(self) -> None:
        for files in (FILES, LATER_FILES):
            for name, text in files.items():
                self.write(name, text)
            self.compiled("-O2", "-Wall", "-Werror", "one.c", "two.c", "-o", "two")
            self.run_all("two")

    def test_more_forms(self) -> None:
        for name in some(PROGRAMS):
            with self.subTest(name):
                self.write(f"{name}.c", PROGRAMS[name])
                self.compiled(
                    "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-every-rank", "-fopenmp", f"{name}.c", "-o", name
                )
                self.run_all(name)

    def test_stencil(self) -> None:
        """The program of bench/stencil2d has the checksum of Omni's laplace.c."""
        self.compiled("-O2", "-Wall", "-fopenmp", str(ROOT / "bench/stencil2d/xmp.c"), "-lm", "-o", "stencil")
        for ranks in "1234":
            for nodes in "12"[: int(ranks)]:
                words = [HIROBARUN, "-n", ranks, "--nodes", nodes, str(self.folder / "stencil")]
                report = json.loads(execute(words, self.folder).stdout)
                self.assertAlmostEqual(report["checksum"], 5.5488557664881109, delta=5e-12)

    def test_random(self) -> None:
        """A thousand random programs: 23 functions, each with 45 draws of its numbers."""
        seeds = [int(os.environ["SEED"])] if "SEED" in os.environ else [random.randrange(1 << 30)]
        if not ONCE and "SEED" not in os.environ:
            seeds += [random.randrange(1 << 30) for _ in range(4)]
        for seed in seeds:
            print(f"seed {seed}: SEED={seed} repeats it", file=sys.stderr)
            written = {"random": program(seed, 10), "fast": program(seed + 1, 5), "calls": calls(seed, 8)}
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                tried = [pool.submit(self.try_numbers, seed, *each) for each in written.items()]
            if any(each.result() for each in tried):
                self.fail("\n".join([f"SEED={seed} repeats it", *(each.result() for each in tried)]))

    def try_numbers(self, seed: int, name: str, written: str) -> str:
        """Runs a program with six numbers of nodes, each with draws of its own; returns what is wrong."""
        self.write(f"{name}.c", written)
        ended = execute([HIROBACC, "-O1" if name == "fast" else "-O0", f"{name}.c", "-o", name], self.folder)
        if ended.returncode or ended.stderr:
            return f"hirobacc {name}.c: {ended.stderr}"
        many = str(random.Random(seed).randint(5, 16))
        first = 0
        for settings, draws in (
            ("1", 14),
            ("2", 14),
            ("3", 8),
            ("4 --nodes 2", 6),
            (many, 2),
            (f"{many} --nodes 3", 1),
        ):
            words = [HIROBARUN, "-n", *settings.split(), str(self.folder / name), str(first), str(first + draws)]
            ended = execute(words, self.folder)
            if (ended.returncode, ended.stdout) != (0, "OK\n"):
                return f"{name}, -n {settings}: {ended.stdout[-1000:]}{ended.stderr[-1000:]}"
            first += draws
        return ""

    def test_misuse(self) -> None:
        cases = "".join(f"  if (which == {i}) {{{body}\n  }}\n" for i, body in enumerate(MISUSE))
        self.write("m.c", f"{MISUSE_HEAD}{cases}  return (int)c[0];\n}}\n")
        self.compiled("m.c", "-o", "m")
        for number, (body, message) in enumerate(MISUSE.items()):
            with self.subTest(body):
                words = [HIROBARUN, "-n", "2", str(self.folder / "m")]
                ended = execute(words, self.folder, env={"CASE": str(number)})
                self.assertNotEqual(ended.returncode, 0)
                self.assertRegex(ended.stderr, message)

    def test_constants(self) -> None:
        for body, message in CONSTANT.items():
            with self.subTest(body):
                self.write("m.c", f"{CONSTANT_HEAD}{body}\n")
                ended = self.compile("-c", "m.c")
                self.assertNotEqual(ended.returncode, 0)
                self.assertRegex(ended.stderr, message)

    def test_check(self) -> None:
        cases = "".join(f"  if (which == {i}) {{{body}\n  }}\n" for i, body in enumerate(CHECKED))
        self.write("m.c", f"{CHECKED_HEAD}{cases}  return three < 0;\n}}\n")
        self.compiled("--check", "-O1", "-Wall", "-Werror", "-Wno-every-rank", "m.c", "-o", "m")
        for number, (body, message) in enumerate(CHECKED.items()):
            with self.subTest(body):
                words = [HIROBARUN, "-n", "2", str(self.folder / "m")]
                ended = execute(words, self.folder, env={"CASE": str(number)})
                self.assertEqual(ended.returncode != 0, bool(message), ended.stderr)
                self.assertRegex(ended.stderr, message or "^$")
        for name in some(PROGRAMS):
            with self.subTest(name):
                self.write(f"{name}.c", PROGRAMS[name])
                self.compiled(
                    "--check",
                    "-O1",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-Wno-every-rank",
                    "-fopenmp",
                    f"{name}.c",
                    "-o",
                    name,
                )
                ended = execute([HIROBARUN, "--check", "-n", "3", str(self.folder / name)], self.folder)
                self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "OK\n", ""))

    def test_explain(self) -> None:
        self.write("e.c", MISUSE_HEAD + "#pragma xmp loop on t[i]\n  for (int i = 0; i < 20; i++) a[i] = which;\n"
                   "#pragma xmp reflect(a)\n#pragma xmp gmove\n  c[:] = a[:];\n  return three;\n}\n")  # fmt: skip
        ended = self.compile("--explain", "-c", "e.c")
        for words in (
            "`a`: each node of `p` has its part: dimension 1 by block (dimension 1 of t), shadow 1:1",
            "loop over `i` on dimension 1 of `t`: each node of `p` does those it owns, by block",
            "reflect of `a`: each node moves from its neighbours 1 below and 1 above its part in dimension 1",
            "each gives what it owns of the right side to the owners of the left side",
        ):
            self.assertIn(words, ended.stderr)


class Wire(CompilerTest):
    """The programs on two nodes that are joined by a network, of which WIRE has the options: "HIROBA_TRANSPORT=ucx"."""

    def test_programs(self) -> None:
        if "WIRE" not in os.environ:
            self.skipTest("no wire is named")
        options = dict(word.split("=") for word in os.environ["WIRE"].split())
        seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
        print(f"seed {seed}: SEED={seed} repeats it", file=sys.stderr)
        for name, written in (PROGRAMS | {"random": program(seed, 6), "calls": calls(seed, 4)}).items():
            with self.subTest(name):
                self.write(f"{name}.c", written)
                self.compiled("-O1", "-Wno-every-rank", "-fopenmp", f"{name}.c", "-lm", "-o", name)
                words = [HIROBARUN, "-n", "4", "--nodes", "2", str(self.folder / name), "0", "12"]  # draws
                ended = execute(words, self.folder, env=options)
                self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)


if __name__ == "__main__":
    unittest.main()
