"""hirobarun --check: what it says of programs whose ranks race, or go where their subscripts do not say, and that it is
silent over programs that do not."""

import re
import shutil
import unittest

from compiling import CompilerTest, shapes

HEAD = """\
#include <smint.h>
enum { N = 64 };
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[N][N], b[N][N];
#pragma SMint shared ::[NPROCS](0, NPROCS)
int v[1 << 16], w[1 << 16], at[1 << 16];
int main(void) {
  double (*p)[N] = a, (*q)[N] = b;
  if (MYPID < 0) p = b, q = a;
"""  # the body begins at line 10
TAIL = "  return 0;\n}\n"
FIRST = HEAD.count("\n") + 1
SANITIZED = """\
#include <stdio.h>
#include <xmp.h>
#define N 8
#define M 50
#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[M][M]
#pragma xmp distribute u[*][block] onto p
#pragma xmp template c[M]
#pragma xmp distribute c[cyclic] onto p
double a[N], *q;
int m[M][M];
struct s { int x, y[3]; } z[M];
#pragma xmp align a[i] with t[i]
#pragma xmp align q[i] with t[i]
#pragma xmp align m[i][j] with u[i][j]
#pragma xmp align z[i] with c[i]
#pragma xmp shadow a[1]
#pragma xmp shadow m[0][1]
static void add(double v[N]) {
#pragma xmp align v[i] with t[i]
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) v[i] += 1;
}
int main(void) {
  long sum = 0;
  q = xmp_malloc(xmp_desc_of(q), N);
#pragma xmp loop on t[i]
  for (int i = 0; i < N; i++) a[i] = q[i] = i;
#pragma xmp reflect(a)
#pragma xmp loop on t[i] reduction(+:sum)
  for (int i = 1; i < N - 1; i++) q[i] = a[i - 1] + a[i + 1], sum += (long)q[i];
#pragma xmp loop (i,j) on u[i][j]
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++) m[i][j] = i * j;
#pragma xmp reflect(m)
#pragma xmp loop on u[*][j] reduction(+:sum)
  for (int j = 1; j < M; j++)
    for (int i = 0; i < M; i++) { int* e = &m[i][j]; sum += *e + m[i][j - 1]; }
#pragma xmp loop on c[i] reduction(+:sum)
  for (int i = 0; i < M; i++) { z[i].x = i; z[i].y[i % 3] = 2; sum += z[i].x++ + z[i].y[i % 3]; }
  add(a);
#pragma xmp task on p[0]
  printf("%ld\\n", sum);
}
"""
LOOP = "#pragma SMint parallel for\n  for (int i = 1; i < N - 1; i++)\n    for (int j = 1; j < N - 1; j++) "
DECLARED = LOOP.replace("for\n", "for independent\n")  # no test before the loop, which would end the job


class Checked(CompilerTest):
    def build(self, body: str) -> None:
        self.write("program.c", HEAD + body + TAIL)
        self.compiled("-O1", "program.c", "-o", "program")

    def said(self, body: str, ranks: int = 2, nodes: int = 1) -> list[str]:
        """Its messages about loops, without who says them."""
        self.build(body)
        lines = self.check_run("./program", ranks, nodes).stderr.splitlines()
        said = [re.sub(r"^hiroba: rank \d+: check: ", "", line) for line in lines if ": check: " in line]
        return [line for line in said if "no lock that both hold" not in line and "found; the exit" not in line]

    def silent(self, body: str) -> None:
        self.build(body)
        for ranks, nodes in shapes(body, ((1, 1), (2, 1), (2, 2), (3, 2), (4, 4))):
            ended = self.check_run("./program", ranks, nodes)
            self.assertEqual(ended.stderr, "", f"{ranks} ranks, {nodes} nodes:\n{body}")

    # ---- bounds ----

    def test_index_that_leaves_a_row(self) -> None:
        """The C compiler knows the extents of shared arrays and coarrays."""
        source = (
            "#include <smint.h>\n#pragma SMint shared ::[NPROCS][](0, NPROCS)\ndouble a[10][20];\n"
            "double c[10][20]:[*];\nint main(void) {\n  volatile int past = 20;\n  if (MYPID == 0) {\n"
            "    a[1][past] = 1;\n    c[1][past] = 1;\n  }\n}\n"
        )
        self.write("bounds.c", source)
        self.compiled("-g", "-O2", "-fsanitize=bounds-strict", "bounds.c", "-o", "bounds")
        for ranks, nodes in shapes("bounds", ((1, 1), (2, 1), (3, 3))):
            said = self.launch(ranks, nodes, "--check", "./bounds").stderr
            for line in (8, 9):
                expected = rf"bounds.c:{line}:\d+: runtime error: index 20 out of bounds for type 'double \[20\]'"
                self.assertRegex(said, expected)

    # ---- races ----

    def test_stencil_in_place_through_pointers(self) -> None:
        """The compiler cannot see that p and q are one array."""
        expected = [
            "race on a: rank 0 writes a[31][1] (`q[i][j]` at program.c:11), and rank 1 reads it (`p[i - 1][j]` at "
            "program.c:11), with no barrier between",
            "race on a: rank 1 writes a[32][1] (`q[i][j]` at program.c:11), and rank 0 reads it (`p[i + 1][j]` at "
            "program.c:11), with no barrier between",
        ]
        for nodes in shapes("stencil", (1, 2)):
            said = self.said("  q = a;\n" + DECLARED + "q[i][j] = p[i - 1][j] + p[i + 1][j];\n", 2, nodes)
            self.assertEqual(sorted(said), expected)

    def test_nowait_too_early(self) -> None:
        """Two loops without a barrier; with it, there is nothing to say."""
        first = "  for (int i = 0; i < N; i++) a[i][0] = 1;\n"
        second = "#pragma SMint parallel for\n  for (int i = 0; i < N; i++) b[i][0] = a[N - 1 - i][0];\n"
        said = self.said("#pragma SMint parallel for nowait\n" + first + second)
        self.assertEqual(len(said), 1)
        self.assertRegex(
            said[0], r"^race on a: rank 0 writes a\[0\]\[0\] \(`a\[i\]\[0\]` at program\.c:10\), and rank 1"
        )
        self.assertIn("`a[N - 1 - i][0]` at program.c:12", said[0])
        self.silent("#pragma SMint parallel for\n" + first + second)
        self.silent("#pragma SMint parallel for nowait\n" + first + "#pragma SMint barrier\n" + second)

    def test_independent_scatter(self) -> None:
        """Which elements iterations change is not known, and no two change the same."""
        body = LOOP.split("\n")[0] + " independent\n  for (int i = 0; i < N; i++) w[63 - (at[i] + i)] += i;\n"
        self.build(body)
        for ranks in shapes(body, (1, 2, 3)):
            self.assertEqual(self.check_run("./program", ranks, 1).stderr, "")

    def test_two_ranks_write(self) -> None:
        said = self.said(LOOP + "a[i][j] = b[(i + 1) / 2][j] = 1;\n", 2, 2)
        self.assertTrue(any(line.startswith("perhaps a race on b: ") for line in said), said)
        body = LOOP.replace("for\n", "for nowait\n") + "a[i][j] = 1;\n" + LOOP + "b[i][j] = a[N - 1 - i][j] = 2;\n"
        self.assertTrue(any(re.match(r"race on a: rank \d writes .* writes it", line) for line in self.said(body)))

    def test_condition(self) -> None:
        """What not every iteration does may not happen."""
        body = LOOP + "if (b[i][j] > 1) q[i][j] = p[i - 1][j];\n"
        said = self.said("  q = a;\n" + body)
        self.assertEqual([line.split(":")[0] for line in said], ["perhaps a race on a"])
        self.assertIn("if these iterations do it", said[0])

    def test_scatter_into_one_element(self) -> None:
        """Subscripts that are not affine: pages, between nodes."""
        body = "#pragma SMint parallel for\n  for (int i = 0; i < 1 << 16; i++) at[i] = i % 7, v[i] = i;\n"
        body += "#pragma SMint parallel for affinity(v[i])\n  for (int i = 0; i < 1 << 16; i++) w[at[i]] = v[i];\n"
        said = [line for line in self.said(body, 2, 2) if "race" in line]
        self.assertEqual(len(said), 1, said)
        access = r"the page of w\[\d+\] \(`w\[at\[i\]\]` at program\.c:12\)"
        self.assertRegex(said[0], f"^perhaps a race on w: rank 0 writes {access}")

    def test_gather_of_what_is_written(self) -> None:
        body = (
            "#pragma SMint parallel for\n  for (int i = 0; i < 1 << 16; i++) at[i] = (i * 7) % (1 << 16), v[i] = 0;\n"
        )
        body += "#pragma SMint parallel for\n  for (int i = 0; i < 1 << 16; i++) v[i] += v[at[i]];\n"
        said = [line for line in self.said(body, 2, 2) if "race" in line]
        self.assertTrue(said)
        self.assertTrue(all(line.startswith("perhaps a race on v: ") for line in said), said)

    # ---- where the loop goes ----

    def test_writes_away_from_home(self) -> None:
        body = "#pragma SMint parallel for affinity(w[i])\n"
        body += "  for (int i = 0; i < 1 << 16; i++) v[(1 << 16) - 1 - i] = w[i];\n"
        said = self.said(body, 2, 2)
        self.assertEqual(len(said), 2, said)
        for line in said:
            self.assertRegex(line, r"^parallel for at program\.c:10: wrote \d+ pages of v whose home is another node")

    # ---- silence ----

    def test_interleaved(self) -> None:
        """Neighbours touch what lies between each other's, and nothing in common."""
        self.silent(LOOP.replace("j = 1", "j = 0").replace("j++", "j += 2") + "p[i][j] = p[i - 1][j + 1] + 1;\n")
        self.silent(LOOP.replace("i = 1", "i = 2").replace("i++", "i += 2") + "p[i][j] = p[i - 1][j] + p[i + 1][j];\n")

    def test_one_row_as_one_pointer(self) -> None:
        """An array that the program sees as bytes in a row."""
        body = "  double *line = a[0], *other = b[0];\n  if (MYPID < 0) line = other;\n"
        self.silent(body + LOOP + "line[i * N + j] = other[(i - 1) * N + j] + 1;\n")
        said = self.said(body + "  other = line;\n" + DECLARED + "line[i * N + j] = other[(i - 1) * N + j] + 1;\n")
        self.assertEqual([line.split(":")[0] for line in said], ["race on a"])

    def test_critical(self) -> None:
        """One rank at a time, in the order of a lock, is no race."""
        body = "#pragma SMint parallel for affinity(v[i])\n  for (int i = 0; i < 8; i++) {\n    v[i] = i;\n"
        self.silent(body + "#pragma SMint critical\n    w[at[0]] += v[i];\n  }\n")

    def test_sanitizer(self) -> None:
        """Subscripts of aligned arrays are those of the whole array, and the sanitizer knows the type of a part."""
        self.write("aligned.c", SANITIZED)
        words = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover", "aligned.c", "-o", "aligned"]
        for cc in ("gcc", "clang"):
            probe = self.compile("--cc", cc, *words) if shutil.which(cc) else None
            if probe is None or "libclang_rt" in probe.stderr:
                continue  # its library is a package of its own
            self.assertEqual((probe.returncode, probe.stderr), (0, ""))
            self.check_answer(self.folder / "aligned", "2942592\n", jobs=[(1, 1), (3, 2)])


if __name__ == "__main__":
    unittest.main()
