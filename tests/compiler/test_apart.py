"""Subscripts of one array that differ by values known at run time only: the run decides whether iterations meet."""

import unittest

from compiling import CompilerTest

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
        said = "`a[i]` is written, and the iteration 3 after uses it as `a[i - d]`, which is [-3] away"
        self.assertIn(said, ended.stderr)
        self.assertNotEqual(ended.returncode, 0)


if __name__ == "__main__":
    unittest.main()
