"""Iterations that use what others write: refused by the compiler, or by the run before the loop; and loops that look
like it and are right."""

import re
import unittest

from compiling import CompilerTest, execute

PROGRAM = """
#include <smint.h>
#include <stdlib.h>
enum { N = 24, COLUMNS = 10 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[4 * N], plane[2][N], flat[N * COLUMNS];

static void run(int which, int d, const int* off, int k) {
  if (which == 0) {
#pragma SMint parallel for
    for (int i = N; i < 2 * N; i++) a[i] = a[i - d];
  } else if (which == 1) {
#pragma SMint parallel for
    for (int i = N; i < 2 * N; i++) a[i + d] = a[i] + 1;
  } else if (which == 2) {
#pragma SMint parallel for
    for (int i = N; i < 2 * N; i++) a[i] += a[i + off[k]];
  } else if (which == 3) {
#pragma SMint parallel for
    for (int i = 3; i < N; i++)
      for (int j = 3; j < COLUMNS; j++) flat[i * COLUMNS + j] = flat[(i - d) * COLUMNS + j];
  } else if (which == 4) {
#pragma SMint parallel for
    for (int i = 3; i < N; i++)
      for (int j = 3; j < COLUMNS; j++) flat[i * COLUMNS + j] = flat[i * COLUMNS + j - d];
  } else if (which == 5) {
#pragma SMint parallel for
    for (int i = 2 * N - 1; i >= N; i -= 2) a[i] = a[i + d];
  } else if (which == 6) {
#pragma SMint parallel for
    for (int i = 1; i < N; i++) plane[d][i] = plane[1 - d][i - 1];
  } else if (which == 7) {
#pragma SMint parallel for
    for (int i = 3; i < N; i++) plane[0][i] = plane[d][i - 1];
  } else {
#pragma SMint parallel for independent
    for (int i = N; i < 2 * N; i++) a[i] = a[i - d];
  }
}

int main(int argc, char** argv) {
  int off[2] = {0, atoi(argv[2])};
  run(atoi(argv[1]), atoi(argv[2]), off, 1);
  return argc != 3;
}
"""
# The loop, the value, and how many iterations are between two that meet; 0: none do.
CASES = (
    *((0, 3, 3), (0, 0, 0), (0, 24, 0), (0, -23, 23), (1, 2, 2), (1, 24, 0), (2, -1, 1), (2, 30, 0), (3, 2, 2)),
    *((3, 0, 0), (4, 3, 0), (5, 1, 0), (5, 2, 1), (6, 0, 0), (6, 1, 0), (7, 0, 1), (7, 1, 0), (8, 3, 0)),
)


# The arrays of the loops below; `d` is 2.
HEAD = """
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 24, M = 6 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[8 * N], b[8 * N], y[N];
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double m[N][N], w[N][N];
#pragma SMint shared ::[NPROCS](0, NPROCS)
struct cell { double x, y, v[3]; } c[2 * N];
struct settings { int n, t[3]; } st;
struct { double *u, *v; } h;
int perm[N], hist[4], total;
double scratch[N];
int back(int i) { return i - 1; }
int clamp(int i) { if (i < 1) return 0; return i - 1; }
int far(int i) { return i + 3 * N; }
int at(int i, int j) { return i * N + j; }
int opaque(int i) { int k = 0; while (k < i) k++; return k - 1; }
void step(double* z, int i, int by) { z[i] = z[i + by] + 1; }
void add_up(int i) { hist[i % 4]++; }
void count(int i) { if (i > 2) total++; }
"""
# Sets everything anew; prints one number for all of it.
REST = """
static void init(int d) {
  st.n = st.t[1] = d, h.u = a, h.v = b;
  for (int e = 0; e < N; e++) perm[e] = N - 1 - e;
#pragma SMint barrier
#pragma SMint single
  for (int e = 0; e < 8 * N; e++) {
    a[e] = e * 0.5, b[e] = e;
    if (e < N) y[e] = e;
    for (int f = 0; e < N && f < N; f++) m[e][f] = e + f * 0.25, w[e][f] = e * f;
    if (e < 2 * N) c[e].x = e, c[e].y = -e, c[e].v[0] = e, c[e].v[1] = 2 * e, c[e].v[2] = 0;
  }
}
static void print(int number) {
#pragma SMint single
  {
    double s = hist[0] + total;
    for (int e = 0; e < 8 * N; e++) {
      s += a[e] * (e + 1) + b[e] * (e + 2) + (e < N ? y[e % N] * (e + 3) : 0);
      for (int f = 0; e < N && f < N; f++) s += m[e][f] * (e + 2 * f) + w[e][f] * (3 * e + f);
      if (e < 2 * N) s += c[e].x * e + c[e].y + c[e].v[0] * e + c[e].v[1];
    }
    printf("%d: %.17g\\n", number, s);
  }
}
int main(int argc, char** argv) {
  int wanted = argc > 1 ? atoi(argv[1]) : -1, d = 2;
  for (int k = 0; k < COUNT; k++)
    if (wanted == k || wanted < 0) init(d), run(k, d, &st, a + N, a + N - d, b), print(k);
  return 0;
}
"""
# What stands in the loop over i from 3 (below N, if there is no other end) is executed as by a serial program.
RIGHT = """
a[i] = a[i + 3 * st.n + N] + 1;
a[i] = a[far(i)];
if (i < 8) for (int j = 0; j < N; j++) a[at(i, j)] = a[at(i, N - 1 - j)] + 1;
b[i] = a[opaque(i)];
b[i] = a[i > 0 ? i - 1 : 0];
a[i] = a[i > N ? i - 1 : i] + 1;
if (i < N / 2) { double t = a[i]; a[i] = a[N - 1 - i]; a[N - 1 - i] = t; }
if (i % 2 == 0) a[i] = a[i - 1] + a[i + 1];
for (int j = 1 + (i + d) % 2; j < N - 1; j += 2) if (i < N - 1) m[i][j] = m[i - 1][j] + m[i + 1][j] + m[i][j - 1];
a[2 * i] = a[2 * i + 1];
a[4 * i] = a[6 * i + 3];
p[i] = r[i] + 1;
if (i < N - 1) { double* z = m[i]; for (int j = 1; j < N; j++) z[j] = z[j - 1]; }
for (int j = 0; j < N; j++) y[i] += m[i][j];
y[i] = a[(i + 1) % N] + a[(i + N - 1) % N];
for (int j = 0; j < i; j++) m[i][j] = m[j][i];
for (int j = i; j < N; j++) { m[i][j] = w[i][j]; m[j][i] = w[i][j]; }
if (i != d) for (int j = 0; j < N; j++) m[i][j] -= m[d][j];
for (int j = 4 * i; j < 4 * i + 4; j++) a[j] = a[j] + i;
for (int j = d * i; j < d * i + d; j++) a[j] = a[j] + i;
c[i].x = c[i - 1].y;
for (int k = 0; k < 2; k++) c[i].v[k] = c[i - 1].x;
h.u[i] = h.v[i - 1];
step(a, i, 2 * N);
a[perm[i]] = i;
for (int j = 0; j < N; j++) scratch[j] = m[i][j]; for (int j = 1; j < N; j++) w[i][j] = scratch[j] + scratch[j - 1];
if (m[i][0] > 3) y[0] = 1;
if (i < N - 1) a[i] = a[0] + a[N - 1];
"""
# The run refuses these, for any number of ranks.
AT_RUN_TIME = """
a[i] = a[i - st.n];
a[i] = a[i - q->n];
a[i] = a[i - st.t[1]];
p[i] = s[i];
p[i] = a[i + N - d];
*(p + i) = p[i - d];
{ double* z = a + i; z[0] = z[-d]; }
h.u[i] = h.u[i - 1];
for (int j = 0; j < d; j++) y[i - j] = m[i][j];
for (int j = 0; j <= d; j++) p[d * i + j] += 1;
for (int j = 0; j < N; j++) m[i][j] -= m[d + 2][j];
step(a, i, -d);
if (d > 1) a[i] = a[i - 1];
"""
# The compiler refuses these, in their lines.
REFUSED = """
a[i] = a[back(i)];
a[i] = a[clamp(i)];
a[i] = a[opaque(i)];
if (i < 8) for (int j = 0; j < N; j++) a[at(i, j)] = a[at(i - 1, j)] + 1;
a[i] = a[i > 0 ? i - 1 : 0];
{ int k = i > 0 ? i - 1 : 0; a[i] = a[k]; }
if (i != 3) a[i] = a[i - 1];
if (i == 3) continue; a[i] = a[i - 1];
if (i % 2 == 0) a[i] = a[i - 2];
a[i] = a[N - 1 - i];
a[2 * i] = a[i];
a[i] = a[3 * i + 1];
{ double *z = m[i], *u = m[i - 1]; for (int j = 1; j < N; j++) z[j] = u[j]; }
{ struct cell* z = &c[i]; z->x = (z - 1)->x; }
if (i < M) for (int j = 0; j < M; j++) y[i + j] += 1;
for (int j = 0; j < i; j++) y[j] += m[i][j];
y[i / 2] = m[i][0];
for (int j = 0; j < N; j++) m[i][j] = m[j][i];
for (int k = 0; k < 2; k++) c[i].v[k] = c[i - 1].v[k];
"""
# The same; the line is in the function.
CALLED = {"add_up(i);": "hist[i % 4]++", "count(i);": "total++"}


def loops(table: str) -> list[str]:
    return table.strip().split("\n")


def program(bodies: list[str]) -> str:
    """One loop for each body, each in a line of its own."""
    cases = "".join(f"case {k}:\n#pragma SMint parallel for\nfor (int i = 3; i < N; i++) {{ {body} }}\nbreak;\n"
                    for k, body in enumerate(bodies))  # fmt: skip
    run = "void run(int which, int d, struct settings* q, double* p, double* s, double* r) {\n"
    used = "(void)d, (void)q, (void)p, (void)s, (void)r;\n"
    rest = REST.replace("COUNT", str(len(bodies)))
    return f"{HEAD}{run}{used}switch (which) {{\n{cases}}}\n}}\n{rest}"


class Apart(CompilerTest):
    def test_offsets(self) -> None:
        self.write("apart.c", PROGRAM)
        self.compiled("-O1", "apart.c", "-o", "apart")
        for which, value, distance in CASES:
            with self.subTest(f"loop {which}, d = {value}"):
                ended = self.launch(1, 1, self.folder / "apart", which, value)
                self.assertEqual(ended.returncode != 0, distance != 0, ended.stderr)
                if distance != 0:
                    self.assertRegex(ended.stderr, rf"apart\.c:\d+: iterations depend .* iteration {distance} [ab]")
        ended = self.launch(2, 2, self.folder / "apart", 0, 3)
        said = "`a[i]` is written where i is 24, and the iteration 3 after uses it as `a[i - d]`; write into"
        self.assertIn(said, ended.stderr)
        self.assertNotEqual(ended.returncode, 0)

    def test_right(self) -> None:
        text = program(loops(RIGHT))
        serial = re.sub(r"(?m)^#pragma SMint.*$|^#include <smint.h>$", "", text)
        self.write("serial.c", serial)
        self.write("right.c", text)
        self.compiled("-O1", "serial.c", "-o", "serial")
        self.compiled("-O1", "right.c", "-o", "right")
        expected = execute([str(self.folder / "serial")], self.folder).stdout.splitlines()
        self.assertEqual(len(expected), len(loops(RIGHT)))
        for ranks, nodes in ((1, 1), (2, 2), (3, 1)):
            ended = self.launch(ranks, nodes, self.folder / "right")
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            for body, number, line in zip(loops(RIGHT), expected, ended.stdout.splitlines(), strict=True):
                self.assertEqual(line, number, f"{ranks} ranks: {body}")

    def test_refused_at_run_time(self) -> None:
        text = program(loops(AT_RUN_TIME))
        self.write("wrong.c", text)
        self.compiled("-O1", "wrong.c", "-o", "wrong")
        for number, body in enumerate(loops(AT_RUN_TIME)):
            with self.subTest(body):
                ended = self.launch(1 + number % 3, 1, self.folder / "wrong", number)
                line = text[: text.index(body)].count("\n")
                self.assertRegex(ended.stderr, rf"parallel for at wrong\.c:{line}: iterations depend on each other: `")
                self.assertNotEqual(ended.returncode, 0)

    def refuse(self, bodies: list[str], lines: list[str]) -> None:
        text = program(bodies)
        self.write("refused.c", text)
        ended = self.compile("-c", "refused.c")
        expected = {text[: text.index(line)].count("\n") + 1 for line in lines}
        found = {int(at) for at in re.findall(r"refused\.c:(\d+):\d+: error: ", ended.stderr)}
        self.assertEqual(found, expected, ended.stderr)

    def test_refused_by_the_compiler(self) -> None:
        self.refuse(loops(REFUSED), loops(REFUSED))

    def test_private_sums_in_functions(self) -> None:
        self.refuse([*CALLED], [*CALLED.values()])


if __name__ == "__main__":
    unittest.main()
