/* <=, the loop variable on the right, bounds that are expressions, empty loops, more ranks than iterations. */
#include <smint.h>
#include "check.h"

enum { N = 70 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N];

int main(int argc, char** argv) {
  (void)argv;
  int i, lo = argc * 2, hi = N - argc - 1;
#pragma SMint parallel for
  for (i = 0; i <= N - 1; i++) a[i] = 1;
#pragma SMint parallel for
  for (int j = lo; hi >= j; ++j) a[j] = 2;
#pragma SMint parallel for
  for (i = hi; i < lo; i++) a[i] = 99;
#pragma SMint parallel for
  for (i = 3; i < 4; i++) a[i] += 5;
  int wrong = 0;
  for (i = 0; i < N; i++) wrong += a[i] != (i >= 2 && i <= N - 2 ? 2 : 1) + 5 * (i == 3);
  return verdict(wrong);
}
