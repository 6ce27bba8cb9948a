"""A loop, of all ranks or under single, that is about to write all of a new array makes its memory at once, in huge
pages; one that writes some elements does not."""

import os
import pathlib
import unittest

from compiling import CompilerTest, shapes

HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage")  # that can be made of small ones from Linux 6.1 on
COLLAPSES = HUGE_PAGES.exists() and tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 1)
SHAPES = ((1, 1), (2, 1), (3, 1), (2, 2))

# Each rank counts the page faults of its loops, and the pages that are in memory. Elements written under a condition,
# far apart, or by few iterations leave the others absent.
PROGRAM = """#define _DEFAULT_SOURCE
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
enum { N = 6 << 20, SIDE = 2048, PAGE = 4096 };
static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}
static long pages(double* a) {
  static unsigned char in[N * sizeof *a / PAGE];
  char* const first = (char*)a - (size_t)a % PAGE;
  long found = 0;
  if (mincore(first, sizeof in, in) != 0) return -1;
  for (size_t i = 0; i < sizeof in; i++) found += in[i] & 1;
  return found;
}
static double* fresh(void) {
#pragma SMint shared ::[N:NPROCS](0,NPROCS)
  double* a = malloc(N * sizeof(double));
  return a;
}
int main(void) {
  double *all = fresh(), *some = fresh(), *far = fresh(), *few = fresh(), *rows = fresh();
  long before = faults(), most = 0;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) all[i] = i;
#pragma SMint parallel for
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < N / SIDE; j++) rows[i * (N / SIDE) + j] = i;
  most = faults() - before;
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    if (i == 7) some[i] = i;
#pragma SMint parallel for
  for (int i = 0; i < N / 65536; i++) far[i * 65536] = i;
#pragma SMint parallel for
  for (int i = 0; i < 600; i++) few[i] = i;
  const long part = N * (long)sizeof(double) / PAGE / NPROCS;
  double* serial = fresh();
  before = faults();
#pragma SMint single
  for (int i = 0; i < N; i++) serial[i] = i;
  if (ONE_NODE && faults() - before > part * NPROCS / 8) printf("serial: %ld faults\\n", faults() - before);
  if (most > part / 4) printf("%ld faults for %ld pages on rank %d\\n", most, part, MYPID);
  if (pages(some) > 600) printf("some: %ld pages\\n", pages(some));
  if (pages(far) > 600) printf("far: %ld pages\\n", pages(far));
  if (pages(few) > 600) printf("few: %ld pages\\n", pages(few));
}
"""


class Fill(CompilerTest):
    @unittest.skipUnless(COLLAPSES, "this kernel does not collapse memory into huge pages")
    def test_faults_and_pages(self) -> None:
        (self.folder / "fill.c").write_text(PROGRAM)
        program = self.folder / "fill"
        for ranks, nodes in shapes("fill", SHAPES):
            one_node = f"-DONE_NODE={nodes == 1:d}"
            self.compiled("-O1", "-Wall", "-Wextra", "-Werror", one_node, "fill.c", "-o", program)
            ended = self.launch(ranks, nodes, program)
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""), f"{ranks} {nodes}")


if __name__ == "__main__":
    unittest.main()
