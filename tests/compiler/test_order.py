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


if __name__ == "__main__":
    unittest.main()
