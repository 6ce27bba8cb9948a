"""Barriers at the ends of parallel loops. Those that wait for the next loop (SMINT_LATER): only where nothing else is
done with shared data, and with the right answers where ranks run ahead of each other, over a network and with delays.
Those that keep copies of other nodes' pages, where loops use them again."""

import os
import pathlib
import unittest

from compiling import HERE, HIROBARUN, ONCE, CompilerTest, execute, shapes

PLUGIN = pathlib.Path(HIROBARUN).parents[1] / "lib/hiroba/wire-ucx.so"
PROGRAM = """#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100], b[100];
#pragma SMint shared ::[](0, 1)
int scalar;
void f(void);
void g(double *src, double *dst, int n) {
  int k = 0;
  for (int t = 0; t < 10; t++) {
#pragma SMint parallel for
    for (int i = 1; i < 99; i++) dst[i] = src[i - 1] + src[i + 1];
    MORE
    k++;
  }
  (void)k, (void)n;
}
"""

# Ranks write other columns of the same pages, so none has to meet another, and one may be steps ahead of the other.
COLUMNS = """#include <mpc.h>
#include <smint.h>
#include <stdio.h>
#pragma SMint shared ::[1][NPROCS](0, NPROCS)
unsigned char a[64][131];
static unsigned char expected[64][131];
int main(void) {
  for (int t = 0; t < 300; t++) {
#pragma SMint parallel for
    for (int i = 0; i < 64; i++)
      for (int j = 2; j < 66; j++) a[i][j * 2 - 2] = (unsigned char)(5 * a[i][j * 2 - 2] + i + j);
  }
  int wrong = 0;
  for (int t = 0; t < 300; t++)
    for (int i = 0; i < 64; i++)
      for (int j = 2; j < 66; j++) expected[i][j * 2 - 2] = (unsigned char)(5 * expected[i][j * 2 - 2] + i + j);
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 131; j++) wrong += a[i][j] != expected[i][j];
  if (wrong > 0) printf("%d wrong on rank %d\\n", wrong, MYPID);
  return wrong > 0;
}
"""

# Reads on one side only, so that what a rank may do before the other has come is not what needs nothing from it; loops
# of other widths and directions in turn; and now and then a rank is late in the middle of a loop.
LATE = """#include <mpc.h>
#include <smint.h>
#include <stdio.h>
enum { N = 3000, STEPS = 400 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
long a[N], b[N];
static long x[N], y[N];
#define LAG(i, t) for (volatile int k = ((i) * 31 + (t) * 17) % 997 == 0 ? 4000 : 0; k > 0; k--)
#define LOOPS(PRAGMA, src, dst, t) \\
  PRAGMA for (int i = 1; i < N; i++) { LAG(i, t); dst[i] = src[i - 1] + i % 7; } \\
  PRAGMA for (int i = N - 4; i >= 0; i -= 1) { LAG(i, t + 5); src[i] = dst[i + 3] - dst[i]; } \\
  PRAGMA for (int i = 2; i < N - 2; i += 3) { LAG(i, t + 9); dst[i] = src[i - 2] * 3 + src[i + 2]; }
int main(void) {
  long *src = a, *dst = b, *from = x, *to = y;
  for (int t = 0; t < STEPS; t++) {
    LOOPS(_Pragma("SMint parallel for"), src, dst, t)
    long *old = src;
    src = dst;
    dst = old;
  }
  for (int t = 0; t < STEPS; t++) {
    LOOPS(, from, to, 1)
    long *old = from;
    from = to;
    to = old;
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != x[i] || b[i] != y[i];
  if (wrong > 0) printf("%d wrong on rank %d\\n", wrong, MYPID);
  return wrong > 0;
}
"""

# A rank goes on when its neighbour has done its rim. In each series, the third loop reads for the first time what lies
# in the middle of what others have written just before, so it may not come so early; later it is known to them.
MIDDLE = """#include <mpc.h>
#include <smint.h>
#include <stdio.h>
enum { N = 200000, STEPS = 60 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
long a[N], b[N];
static long x[N], y[N];
#define LAG(i) for (volatile int k = (i) % 50000 == 25000 && ((i) / 50000 + t) % 4 == 0 ? 500000 : 0; k > 0; k--)
#define LOOPS(PRAGMA, v, w) \\
  for (int s = 0; s < 3; s++) { \\
    PRAGMA for (int i = 1; i < N - 1; i++) w[i] = (w[i] + v[i - 1] + v[i + 1]) / 2 - 3 * (i % 5 + t); \\
    PRAGMA for (int i = 1; i < N - 1; i++) { LAG(i); v[i] = (w[i - 1] + w[i + 1]) / 4; } \\
    PRAGMA for (int i = 0; i < N; i++) w[i] = (w[i] - v[N - 1 - i]) / 7; \\
  }
int main(void) {
  for (int t = 0; t < STEPS; t++) {
    LOOPS(_Pragma("SMint parallel for"), a, b)
    _Pragma("SMint barrier")
  }
  for (int t = 0; t < STEPS; t++) {
    LOOPS(, x, y)
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != x[i] || b[i] != y[i];
  if (wrong > 0) printf("%d wrong on rank %d\\n", wrong, MYPID);
  return wrong > 0;
}
"""

# Copies stay in the view between loops: of all that the other ranks have of an array, for which the cache has room or
# not, or a fetch at once has not; of a quarter at first, which other parts then drive out of the cache. Before the
# first loop, a rank has written one of them. At the end all are read by page faults.
COPIES = """#include <mpc.h>
#include <smint.h>
#include <stdio.h>
enum { STEPS = 9 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
long a[N], b[N];
static long x[N], y[N];
#define LOOPS(PRAGMA, src, dst) \\
  PRAGMA for (int i = 0; i < n; i++) dst[i] = src[N - 1 - i] + i % 7; \\
  PRAGMA for (int i = 0; i < N; i++) src[i] = dst[i] - src[i] / 3;
int main(void) {
  if (MYPID == 0) a[N - 5] = 12345; /* which it reads itself in the first loop */
  x[N - 5] = 12345;
  for (int t = 0; t < STEPS; t++) {
    int n = t < 4 ? N / 4 : N;
    LOOPS(_Pragma("SMint parallel for"), a, b)
  }
  for (int t = 0; t < STEPS; t++) {
    int n = t < 4 ? N / 4 : N;
    LOOPS(, x, y)
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != x[i] || b[i] != y[i];
  if (wrong > 0) printf("%d wrong on rank %d\\n", wrong, MYPID);
  return wrong > 0;
}
"""

# What a loop writes behind a loop inside it, which has no iterations. Blocks cross the borders between ranks.
NO_ITERATIONS = """#include <mpc.h>
#include <smint.h>
#include <stdio.h>
enum { N = 31, STEPS = 50 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
long a[N];
static long x[N];
static int none = 1;
#define LOOPS(PRAGMA, v, t) \\
  PRAGMA for (int i = 1; i < 29; i++) v[i + 1] = (v[i + 1] * 5 + i + t) % 97; \\
  PRAGMA for (int b = -1; b <= 29; b += 8) \\
    for (int i = b; i < (b + 8 < 30 ? b + 8 : 30); i++) { \\
      long sum = v[i + 1]; \\
      for (int m = none; m >= 2; m--) sum += v[i + 1 + m]; \\
      v[i + 1] = (3 * sum + 1) % 97; \\
    }
int main(void) {
  for (int t = 0; t < STEPS; t++) {
    LOOPS(_Pragma("SMint parallel for"), a, t)
  }
  for (int t = 0; t < STEPS; t++) {
    LOOPS(, x, t)
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != x[i];
  if (wrong > 0) printf("%d wrong on rank %d\\n", wrong, MYPID);
  return wrong > 0;
}
"""

# The second loop is affine, but the first one uses its copies of x in each step.
KEPT = """#include <smint.h>
#include <stdio.h>
enum { N = 1 << 16, STEPS = 10, PAGE = 4096 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
long x[N], y[N], z[N];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) x[i] = i;
  for (int t = 0; t < STEPS; t++) {
#pragma SMint parallel for
    for (int i = 0; i < N; i++) y[i] = x[i * 77L % N] + t;
#pragma SMint parallel for
    for (int i = 0; i < N; i++) z[i] += y[i];
  }
  sms_statistics of_x;
  sms_stats(x, &of_x);
  if (of_x.pages_fetched > 2 * sizeof x / PAGE) printf("%lu pages\\n", (unsigned long)of_x.pages_fetched);
  for (int i = 0; i < N; i++)
    if (z[i] != STEPS * (i * 77L % N) + STEPS * (STEPS - 1) / 2) return 1;
  return 0;
}
"""

STUCK = """#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100], b[100];
int main(void) {
  double *src = a, *dst = b;
  for (int t = 0; t < 10; t++) {
#pragma SMint parallel for
    for (int i = 1; i < 99; i++) {
      for (volatile long k = i == 70 && t == 3 ? 1L << 40 : 0; k > 0; k--) {}
      dst[i] = src[i - 1] + src[i + 1];
    }
    double *old = src;
    src = dst;
    dst = old;
  }
}
"""


class Later(CompilerTest):
    def ends(self, more: str) -> str:
        """What --explain says of the end of the loop, with another statement beside it."""
        self.write("program.c", PROGRAM.replace("MORE", more))
        said = self.compile("--explain", "-c", "program.c").stderr
        return next(line for line in said.split("\n") if line.strip().startswith("end:"))

    def test_only_where_nothing_else_touches_shared_data(self) -> None:
        for more in ("double *old = src; src = dst; dst = old;", "k += n * 3;", "if (k > n) continue;", ""):
            self.assertIn("waits for those ranks only", self.ends(more), more)
        for more in (
            "f();",
            "k += (int)a[3];",
            "k += *dst > 0;",
            "k += scalar;",
            "if (k > n) return;",
            "\n#pragma SMint barrier\n",
            "\n#pragma SMint parallel for nowait\n for (int i = 0; i < 99; i++) b[i] = i;",
            "\n#pragma SMint parallel for reduction(+:k)\n for (int i = 0; i < 99; i++) k += i;",
        ):
            self.assertNotIn("waits for those ranks only", self.ends(more), more)

    @unittest.skipUnless(PLUGIN.exists(), f"no {PLUGIN.name}: over shared memory all ranks meet")
    def test_ranks_that_run_ahead(self) -> None:
        self.compiled("-O1", HERE / "golden/smint_later.c", "-o", "later")
        for ranks, nodes, chaos in shapes("ahead", ((2, 2, 0), (3, 3, 7), (4, 4, 0), (4, 4, 5), (4, 2, 3))):
            job = [HIROBARUN, "-n", str(ranks), "--nodes", str(nodes), "--transport", "ucx", "--chaos", str(chaos)]
            ended = execute(
                [*job, "--timeout", "30", "./later"], self.folder, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
            self.assertEqual(ended.returncode, 0, f"{ranks} ranks, {nodes} nodes, chaos {chaos}: {ended}")

    def test_what_is_done_before_others_have_come(self) -> None:
        self.write("late.c", LATE)
        said = self.compile("--explain", "-O1", "late.c", "-o", "late").stderr
        self.assertEqual(said.count("waits for those ranks only"), 3, said)
        one_node, several = ((1, 1, 0), (2, 1, 0), (3, 1, 5), (4, 1, 7)), ((2, 2, 0), (2, 2, 3), (3, 3, 0), (4, 2, 5))
        for ranks, nodes, chaos in (*shapes("late", one_node), *shapes("late", several)):
            job = [HIROBARUN, "-n", str(ranks), "--nodes", str(nodes), "--threads", "1", "--chaos", str(chaos)]
            ended = execute([*job, "--timeout", "30", "./late"], self.folder, env=dict(os.environ))
            self.assertEqual(ended.returncode, 0, f"{ranks} ranks, {nodes} nodes, chaos {chaos}: {ended}")

    def test_a_loop_that_reads_the_middle(self) -> None:
        self.write("middle.c", MIDDLE)
        said = self.compile("--explain", "-O1", "middle.c", "-o", "middle").stderr
        self.assertEqual(said.count("waits for those ranks only"), 3, said)
        for threads in ("1", "2"):
            for ranks, nodes in shapes(threads, (("1", "1"), ("2", "1"), ("3", "1"), ("2", "2"), ("4", "2"))):
                job = [HIROBARUN, "-n", ranks, "--nodes", nodes, "--threads", threads, "--timeout", "30", "./middle"]
                ended = execute(job, self.folder, env=dict(os.environ))
                self.assertEqual(ended.returncode, 0, f"{ranks} ranks, {nodes} nodes, {threads} threads: {ended}")

    def test_copies_that_stay_in_the_view(self) -> None:
        self.write("copies.c", COPIES)
        for program, size in (("copies", 112640), ("many", 2 << 20)):
            said = self.compile("--explain", "-O1", f"-DN={size}", "copies.c", "-o", program).stderr
            self.assertEqual(said.count("waits for those ranks only"), 2, said)
        ways = [["--cache", "0"], ["--cache", "512K"], ["--tracking", "uffd"], ["--tracking", "mprotect"]]
        ways += [["--twin", "fetch"], ["--twin", "fetch", "--cache", "512K"], ["--cache", "512K", "--chaos", "3"]]
        ways += [["--transport", "ucx", "--cache", cache] for cache in ("0", "512K") if PLUGIN.exists()]
        for way in ways:
            for ranks in shapes(str(way), (2, 3)):
                job = [HIROBARUN, "-n", str(ranks), "--nodes", str(ranks), "--threads", "1", *way]
                ended = execute([*job, "--timeout", "30", "./copies"], self.folder, env=dict(os.environ))
                if "needs asynchronous write tracking" not in ended.stderr:
                    self.assertEqual(ended.returncode, 0, f"{ranks} ranks, {way}: {ended}")
        for way in ([], ["--tracking", "mprotect"]):  # in huge pages, which are evicted
            job = [HIROBARUN, "-n", "2", "--nodes", "2", "--threads", "1", "--cache", "6M", *way]
            ended = execute([*job, "--timeout", "30", "./many"], self.folder, env=dict(os.environ))
            self.assertEqual(ended.returncode, 0, f"{way}: {ended}")

    def test_copies_that_the_next_loop_uses(self) -> None:
        self.write("kept.c", KEPT)
        said = self.compile("--explain", "-O1", "kept.c", "-o", "kept").stderr
        self.assertEqual(said.count("end: sms_sync_drop"), 1, said)
        for ranks, nodes in shapes("kept", ((1, 1), (2, 2), (3, 3))):
            ended = self.launch(ranks, nodes, "./kept")
            self.assertEqual((ended.returncode, ended.stdout), (0, ""), f"{ranks} {nodes}: {ended}")

    def test_a_loop_inside_that_has_no_iterations(self) -> None:
        self.write("none.c", NO_ITERATIONS)
        said = self.compile("--explain", "-O1", "none.c", "-o", "none").stderr
        self.assertEqual(said.count("waits for those ranks only"), 2, said)
        for _ in range(1 if ONCE else 5):
            for nodes in ("1", "3"):
                job = [HIROBARUN, "-n", "3", "--nodes", nodes, "--threads", "1", "--timeout", "30", "./none"]
                ended = execute(job, self.folder, env=dict(os.environ))
                self.assertEqual(ended.returncode, 0, ended)

    def test_a_rank_that_does_not_come(self) -> None:
        self.write("stuck.c", STUCK)
        self.compiled("-O1", "stuck.c", "-o", "stuck")
        for nodes in ("1", "2"):
            ended = execute([HIROBARUN, "-n", "2", "--nodes", nodes, "--timeout", "1", "./stuck"], self.folder)
            self.assertEqual(ended.returncode, 1, ended)
            self.assertRegex(
                ended.stderr, "rank 0: waited .* in the barrier between two parallel loops; rank 1 has not"
            )

    @unittest.skipUnless(PLUGIN.exists(), f"no {PLUGIN.name}: over shared memory all ranks meet")
    def test_own_writes_where_nobody_is_met(self) -> None:
        self.write("columns.c", COLUMNS)
        self.compiled("-O1", "columns.c", "-o", "columns")
        for _ in range(2 if ONCE else 8):
            job = [HIROBARUN, "-n", "2", "--nodes", "2", "--transport", "ucx", "--threads", "1", "--timeout", "30"]
            ended = execute([*job, "./columns"], self.folder, env=dict(os.environ))
            self.assertEqual(ended.returncode, 0, ended)


if __name__ == "__main__":
    unittest.main()
