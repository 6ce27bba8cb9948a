"""Barriers between parallel loops that wait for the next loop (SMINT_LATER): only where nothing else is done with
shared data, and with the right answers where ranks run ahead of each other, over a network and with delays."""

import os
import pathlib
import unittest

from compiling import HERE, HIROBARUN, CompilerTest, execute

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
        for ranks, nodes, chaos in ((2, 2, 0), (3, 3, 7), (4, 4, 0), (4, 4, 5), (4, 2, 3)):
            job = [HIROBARUN, "-n", str(ranks), "--nodes", str(nodes), "--transport", "ucx", "--chaos", str(chaos)]
            ended = execute(
                [*job, "--timeout", "30", "./later"], self.folder, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
            self.assertEqual(ended.returncode, 0, f"{ranks} ranks, {nodes} nodes, chaos {chaos}: {ended}")

    @unittest.skipUnless(PLUGIN.exists(), f"no {PLUGIN.name}: over shared memory all ranks meet")
    def test_own_writes_where_nobody_is_met(self) -> None:
        self.write("columns.c", COLUMNS)
        self.compiled("-O1", "columns.c", "-o", "columns")
        for _ in range(8):
            job = [HIROBARUN, "-n", "2", "--nodes", "2", "--transport", "ucx", "--threads", "1", "--timeout", "30"]
            ended = execute([*job, "./columns"], self.folder, env=dict(os.environ))
            self.assertEqual(ended.returncode, 0, ended)


if __name__ == "__main__":
    unittest.main()
