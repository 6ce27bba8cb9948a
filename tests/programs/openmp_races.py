"""usage: openmp_races.py HIROBARUN HIROBACC FOLDER: races of OpenMP programs, as option check tells them."""

import re
import sys
import unittest

from openmp_jobs import OpenMPTest

CHECK = ("--check", "--check-time", "1000")  # all is recorded, on slow machines, too
NODES = ("-fopenmp-nodes", "-g")
RACES = """
#include <stdio.h>
#include <stdlib.h>
int total;
int main(void) {
  const int n = 1 << 16;
  double* a = calloc(n, sizeof *a);
#pragma omp parallel for
  for (int i = 0; i < n - 1; ++i)
    a[i] = a[i + 1] + 1;
#pragma omp parallel
  total += 1;
  printf("%d\\n", total);
  free(a);
  return 0;
}
"""
# Each function has a race; the test finds its line by the name of what it is on.
RACES_ON_STACKS = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
struct grid { int turns; double at[3]; };
static int field[7][9];
double* kept;
static void add(int* to, int value) { *to += value; }
static int scalars(void) {
  int sum = 0, last = 0;
#pragma omp parallel for
  for (int i = 0; i < 40; ++i) {
    sum += i;  /* sum */
    add(&last, i);
  }
  return sum + last;
}
static double elements(void) {
  double table[4][5] = {{0}};
  struct grid grids[3] = {{0}};
#pragma omp parallel for
  for (int i = 0; i < 40; ++i) {
    table[2][3] = i;  /* table[2][3] */
    grids[1].at[2] = i;  /* grids[1].at[2] */
    field[3][4] = i;  /* field[3][4] */
  }
  return table[2][3] + grids[1].at[2] + field[3][4];
}
static double neighbours(void) {
  double line[10000];
  for (int i = 0; i < 10000; ++i) line[i] = i;
#pragma omp parallel for
  for (int i = 0; i < 9999; ++i)
    line[i] = line[i + 1] + 1;  /* line[2499] */
  return line[17];
}
static double objects(void) {
  double* small = calloc(50, sizeof *small);
  kept = calloc(60, sizeof *kept);
#pragma omp parallel for
  for (int i = 0; i < 40; ++i) {
    small[7] = i;  /* small[7] */
    kept[9] = i;  /* kept[9] */
  }
  const double out = small[7] + kept[9];
  free(small), free(kept);
  return out;
}
static int tasks(void) {
  int both = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 8; ++i) {
#pragma omp task shared(both)
    both = i;  /* both */
  }
  return both;
}
static int atomics(void) {
  int mixed = 0;
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) mixed = 100;  /* mixed */
#pragma omp atomic
    mixed += 1;
  }
  return mixed;
}
static int few(void) {
  int two = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
    two += omp_get_thread_num();  /* two */
  }
  return two;
}
int main(void) {
  const double sum = few() + scalars() + elements() + neighbours() + objects() + tasks() + atomics();
  return sum > 0 ? 0 : 3;
}
"""
# The same variables, in each of the ways by which OpenMP orders accesses or gives each thread its own.
ORDERED_ON_STACKS = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int fib(int n) {
  if (n < 2) return n;
  int a = 0, b = 0;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}
int main(void) {
  int mine = 1, from = 2, last = 0, sum = 0, counted = 0, held = 0, shown = 0, one = 0, chain = 0, given = 0;
  int tree = 0, turns = 0, most = -1;
  double line[4000], other[4000];
  unsigned char bytes[64];
  omp_lock_t lock;
  omp_init_lock(&lock);
  for (int i = 0; i < 4000; ++i) line[i] = i;
#pragma omp parallel for firstprivate(from) private(mine) lastprivate(last) reduction(+ : sum) reduction(max : most)
  for (int i = 0; i < 4000; ++i) {
    mine = i, from += i, last = mine + from, sum += i % 3, most = i > most ? i : most;
    other[i] = line[i] + 1;
  }
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
#pragma omp for
    for (int i = 1; i < 3999; ++i) line[i] = other[i - 1] + other[i + 1];
#pragma omp for nowait
    for (int i = 0; i < 64; ++i) bytes[i] = (unsigned char)i;
#pragma omp critical
    counted += 1;
#pragma omp atomic
    shown += 1;
    omp_set_lock(&lock);
    held += 1;
    omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp master
    one = shown;
#pragma omp barrier
    int copied = 0;
#pragma omp single copyprivate(copied)
    copied = one + thread;
#pragma omp critical
    given += copied;
#pragma omp for ordered
    for (int i = 0; i < 12; ++i) {
#pragma omp ordered
      turns += i;
    }
#pragma omp single
    {
      for (int i = 0; i < 6; ++i) {
#pragma omp task shared(chain) depend(inout : chain)
        chain += 1;
      }
#pragma omp taskwait
      tree = chain + fib(6);
    }
  }
  int flag = 0, seen = 0, sent = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 64; ++i) bytes[i] += 1;
    if (omp_get_thread_num() == 0) {
      sent = 5;
      __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    } else {
      while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0) {
      }
      seen = sent;
    }
#pragma omp barrier
#pragma omp task shared(seen)
    {
#pragma omp critical
      seen += 1;
    }
  }
  turns += seen;
  const int alike = counted == shown && held == shown && given == one * one;
  printf("%d %d %d %d %d %d %d\\n", last > 0, sum, most, alike, turns, tree, bytes[5]);
}
"""
ORDERED = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int total, counted, held, flag;
int main(void) {
  const int n = 1 << 12;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), sum = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 0;
  for (int step = 0; step < 3; ++step) {
#pragma omp parallel for
    for (int i = 0; i < n - 1; ++i) b[i] = a[i + 1];
    double* const c = a;
    a = b, b = c;
  }
#pragma omp parallel
  {
#pragma omp for reduction(+ : sum) schedule(dynamic, 100)
    for (int i = 0; i < n; ++i) sum += a[i];
#pragma omp critical
    total += 1;
#pragma omp atomic
    counted += 1;
    omp_set_lock(&lock);
    held += 1;
    omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp single
    total += 100;
#pragma omp for ordered
    for (int i = 0; i < 10; ++i) {
#pragma omp ordered
      total += i;
    }
    if (omp_get_thread_num() == 1) {
      b[0] = 5;
#pragma omp flush
#pragma omp atomic write
      flag = 1;
    } else if (omp_get_thread_num() == 0) {
      int seen = 0;
      while (!seen) {
#pragma omp atomic read
        seen = flag;
      }
#pragma omp flush
      b[0] += 1;
    }
  }
  printf("%g %d %d %d %g\\n", sum, total, counted, held, b[0]);
  return 0;
}
"""


class Races(OpenMPTest):
    def test_races(self) -> None:
        program = self.build("races", RACES, *NODES)
        for nodes in "12":
            status, output = self.run_job("-n", "2", "--nodes", nodes, *CHECK, program)
            self.assertEqual(status, 1, output)
            line = r"check: race on %s: rank \d [a-z]+ .*races\.c:%d.* and rank \d [a-z]+ it in .*races\.c:%d"
            self.assertRegex(output, line % (r"an object of 524288 bytes .* at main \(races.c:7\)", 10, 10))
            self.assertIn("writes a[32768] in", output)
            self.assertRegex(output, line % ("total", 12, 12))
            self.assertIn("2 mistakes found", output)

    def test_races_on_stacks(self) -> None:
        lines = RACES_ON_STACKS.splitlines()
        for flags, nodes in (("-O0", "3"), ("-O2", "3"), ("-O1", "1")):
            program = self.build("on_stacks", RACES_ON_STACKS, *NODES, flags)
            status, output = self.run_job("-n", "3", "--nodes", nodes, "--threads", "1", *CHECK, program)
            self.assertEqual(status, 1, output)
            for number, text in enumerate(lines, 1):
                if name := re.search(r"/\* (.*) \*/", text):
                    if flags != "-O0" and name[1].startswith("kept"):
                        continue
                    element = re.escape(name[1]).replace("2499", "[0-9]+")
                    if flags != "-O0" and name[1].startswith("small"):
                        element = rf"({element}|kept\[9\])"  # both stores may have one line, which is told once
                    line = number if flags == "-O0" else "[0-9]+"  # of the store, which the compiler may move
                    self.assertRegex(output, rf"check: race on .* {element} in .*on_stacks\.c:{line}\b")
            self.assertIn("race on last: ", output)

    def test_order_on_stacks_is_no_race(self) -> None:
        for flags, nodes in (("-O0", "3"), ("-O2", "3"), ("-O1", "1")):
            program = self.build("ordered_on_stacks", ORDERED_ON_STACKS, *NODES, flags)
            status, output = self.run_job("-n", "3", "--nodes", nodes, "--threads", "1", *CHECK, program)
            self.assertEqual((status, output), (0, "1 3999 3999 1 73 14 6\n"))

    def test_order_is_no_race(self) -> None:
        program = self.build("ordered", ORDERED, *NODES)
        for ranks, nodes in ("22", "21", "33"):
            status, output = self.run_job("-n", ranks, "--nodes", nodes, "--threads", "1", *CHECK, program)
            self.assertEqual((status, output), (0, f"8.39065e+06 {int(ranks) + 145} {ranks} {ranks} 6\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
