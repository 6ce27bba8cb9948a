/* Where tasks may stand: below if, else and case, in functions with attributes; and what may stand in them. */
#include <assert.h>
#include <stdlib.h>
#include <task.h>
#include "check.h"
#define TWICE(x) \
  do {           \
    x;           \
    x;           \
  } while (0)

__attribute__((noinline)) static int work(double* p, int n) {
  const int line = __LINE__;
  if (n > 3)
#pragma hiroba task inout(p[0:n])
    p[0] += p == NULL ? 0 : 1;
  else
#pragma hiroba task inout(p[0 : n])
  {
    assert(p != NULL);
    switch (n) {
      case 2: p[0] -= 10; break;
      default: abort();
    }
    while (1)
      if (p[0] > -100) break;
  }
  switch (n) {
    case 8:
#pragma hiroba task inout(p[0:n]) label("a case")
      p[0]++;
      break;
    default: break;
  }
#pragma hiroba task inout(p[0:n])
  TWICE(p[0]++);
#pragma hiroba taskwait
  return line + 25 != __LINE__;
}

int main(void) {
  double* p = calloc(8, sizeof *p);
  int wrong = work(p, 8);
  wrong += p[0] != 4;
  wrong += work(p, 2) || p[0] != -4;
  free(p);
  return verdict(wrong);
}
