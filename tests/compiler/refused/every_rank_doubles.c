#include <smint.h>
#include <stdio.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int idx[100];
int main(void) {
  printf("%d\n", MYPID);
  for (int i = 0; i < 100; i++) a[i] *= 2;
  return 0;
}
// expected: 8:33: every rank does this, so shared `a` is changed as many times as there are ranks
// remedy: put `#pragma SMint parallel for` above its loop [-Werror=every-rank]
