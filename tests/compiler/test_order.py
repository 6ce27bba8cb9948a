"""Where a parallel loop waits for ranks that may still write, outside of directives, what it uses: order/waits.c says
it behind each loop, and a program whose last rank is late gets the right values."""

import re
import unittest

from compiling import HERE, CompilerTest

LATE = """
#include <smint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { N = 4096 };
static void late(void) {
  if (MYPID == NPROCS - 1) usleep(100000);
}
static void init(int* x, int value) {
  late();
  for (int i = 0; i < N; i++) x[i] = value;
}
static void reverse(int* to, const int* from) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) to[from[i]] = 7;
}
int main(void) {
  int wrong = 0, *order = malloc(N * sizeof(int));
  for (int i = 0; i < N; i++) order[i] = N - 1 - i;
#pragma SMint shared ::[N:NPROCS](0, NPROCS)
  int* cost = malloc(N * sizeof(int));
  init(cost, -1);
#pragma SMint parallel for
  for (int i = 0; i < N; i++) cost[order[i]] = 7;
#pragma SMint parallel for reduction(+ : wrong)
  for (int i = 0; i < N; i++) wrong += cost[i] != 7;
  init(cost, -1);
  for (int t = 0; t < 2; t++) reverse(cost, order);
#pragma SMint parallel for reduction(+ : wrong)
  for (int i = 0; i < N; i++) wrong += cost[i] != 7;
  if (MYPID == 0) puts(wrong ? "WRONG" : "OK");
  free(cost);
  return wrong != 0;
}
"""

# What some ranks do without the others has no barrier, nor have the functions that they call there.
ALONE = """
#include <smint.h>
#include <signal.h>
enum { N = 64 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], b[N];
int puts(const char*), printf(const char*, ...);
long clock(void);
void elsewhere(int x) { (void)x; }
static int role;
static void inner(int n) {
  for (int t = 0; t < n; t++) {
#pragma SMint parallel for
    for (int i = 0; i < N; i++) b[i] = a[N - 1 - i];
  }
}
static void called_by_some(int n) { if (MYPID == 0) a[0] = 1; inner(n); }
static void called_by_all(int n) { if (MYPID == 0) a[0] = 1; inner(n); }
static void some_turns(int n) {
  for (int t = 0; t < n; t++) { if (MYPID == 0) a[0] = 1; inner(0); }
}
static void handler(int signal) { if (MYPID == 0) a[0] = 1; inner(signal - SIGUSR1); }
static void by_pointer(void (*called_by_all)(int), int n) { if (MYPID == 0) a[0] = 1; called_by_all(n); }
static void again(int n) { if (MYPID == 0) a[0] = 1; if (n > 0) again(n - 1); else inner(n); }
static void in_single(int n) { if (MYPID == 0) a[1] = 1; inner(n); }
static void some_have_left(int n) { if (MYPID == 1) return; if (MYPID == 0) a[0] = 1; inner(n); }
static void by_a_variable(void) { if (role) { if (MYPID == 0) a[0] = 1; inner(0); } }
static int sum(const int* a) { return a[0] + a[1]; }
int main(void) {
  role = MYPID == 0;
  signal(SIGUSR1, handler);
  if (MYPID == 0) { called_by_some(0); again(2); raise(SIGUSR1); }
  called_by_some(1);
  called_by_all(2);
  some_turns(MYPID);
  by_pointer(role ? called_by_some : inner, 0);
#pragma SMint single
  in_single(0);
  in_single(1);
  some_have_left(0);
  by_a_variable();
  if (MYPID == 0) a[3] = 1;
  long begin = clock();
  while (clock() - begin < 300 * MYPID) elsewhere(1);
  if (MYPID == 0) elsewhere(2);
#pragma omp parallel
  elsewhere(3);
  {
    int a[2] = {1, 2};
    if (MYPID == 0) printf("%s", sum(a) == 3 ? "" : "WRONG");
    printf("%s", sum(a) == 3 ? "" : "WRONG");
  }
  inner(1);
  if (MYPID == 0) puts(b[N - 1] == 1 && b[N - 4] == 1 ? "OK" : "WRONG");
  return 0;
}
"""
# Where a function of another file may be collective, and the call is no place for a barrier.
UNKNOWN = """
#include <smint.h>
enum { N = 64 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], b[N];
int printf(const char*, ...);
long clock(void);
void elsewhere(int x);
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) b[i] = i;
  if (MYPID == 0) a[3] = 1;
  long begin = clock();
  while (clock() - begin < 300) elsewhere(1);
  if (MYPID == 0) elsewhere(2);
  for (int i = 0; i < MYPID; i++) elsewhere(3);
#pragma omp parallel
  elsewhere(4);
#pragma omp parallel for
  for (int i = 0; i < N; i++) elsewhere(5);
  printf("%d", b[3]);
  elsewhere(6);
  return 0;
}
"""


class Order(CompilerTest):
    maxDiff = None

    def test_where_loops_wait(self) -> None:
        lines = (HERE / "order" / "waits.c").read_text().split("\n")
        marked = {number: found[1] for number, line in enumerate(lines, 1)
                  if (found := re.search(r"/\* (waits .*|does not wait) \*/", line)) is not None}  # fmt: skip
        ended = self.compile("--explain", "-fopenmp", "-c", HERE / "order" / "waits.c", "-o", "out.o")
        said, loop = {}, 0
        for line in ended.stderr.split("\n"):
            if (head := re.search(r"waits\.c:(\d+):\d+: parallel for", line)) is not None:
                loop = int(head[1]) + 1
                said[loop] = "does not wait"
            elif (wait := re.match(r"  begin: sms_barrier( before the \w+)?.*still \w+ `(\w+)`", line)) is not None:
                said[loop] = f"waits{wait[1] or ' here'}: {wait[2]}"
        self.assertEqual(said, marked)
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_a_rank_that_is_late(self) -> None:
        self.write("late.c", LATE)
        self.compiled("-O1", "late.c", "-o", "late")
        self.check_answer(self.folder / "late", jobs=((2, 1), (3, 2)))

    def test_ranks_that_are_alone(self) -> None:
        self.write("alone.c", ALONE)
        self.compiled("-O1", "-Wno-error=every-rank", "-Wno-some-ranks", "alone.c", "-o", "alone")
        self.check_answer(self.folder / "alone", jobs=((3, 1),))

    def test_calls_of_another_file(self) -> None:
        self.write("unknown.c", UNKNOWN)
        shown = self.compiled("--show", "-fopenmp", "unknown.c").stdout
        self.assertEqual(re.findall(r"sms_barrier\(\), (\w+\(.*?\))", shown), ["elsewhere(6)"])


if __name__ == "__main__":
    unittest.main()
