/* A gather between two arrays whose pointers are swapped: either way is remembered, so the third pass has no fault. */
#include <smint.h>
#include "check.h"

enum { N = 20000, STEPS = 6 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int x[N], y[N], from[N];

static long faults(void) {
  sms_statistics all;
  sms_stats(0, &all);
  return (long)all.read_faults;
}

int main(void) {
  int *src = x, *dst = y;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    x[i] = i;
    from[i] = N - 1 - i;
  }
  long before = 0;
  for (int t = 0; t < STEPS; t++) {
    if (t == 2) before = faults();
#pragma SMint parallel for repeat
    for (int i = 0; i < N; i++) dst[i] = src[from[i]] + 1;
    int *old = src;
    src = dst;
    dst = old;
  }
  long wrong = faults() - before;
#pragma SMint parallel for reduction(+ : wrong)
  for (int i = 0; i < N; i++) wrong += src[i] != i + STEPS;
  return verdict(wrong);
}
