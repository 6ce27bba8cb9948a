#include <smint.h>
#include "check.h"

enum { N = 40 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N];
#pragma SMint shared ::[](0, 1)
int total, calls;

static void step(int t) {
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] += t;
}

int main(void) {
  for (int t = 0; t < 3; t++) {
    step(t);
#pragma SMint single
    {
#pragma SMint critical
      calls++;
    }
  }
#pragma SMint parallel for
  for (int i = 0; i < N; i++) {
    a[i]++;
    if (i % 10 == 0)
#pragma SMint critical (total)
      total += i;
  }
  int wrong = (calls != 3) + (total != 60);
  for (int i = 0; i < N; i++) wrong += a[i] != 4;
  return verdict(wrong);
}
