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


if __name__ == "__main__":
    unittest.main()
