#include <smint.h>
#include "check.h"

enum { N = 500 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], b[N];

int main(void) {
  int i, sum = 0;
#pragma SMint parallel for
#pragma omp parallel for schedule(static)
  for (i = 0; i < N; i++) a[i] = i;
#pragma SMint parallel for
#pragma omp parallel for reduction(+ : sum)
  for (i = 0; i < N; i++) {
    b[i] = a[i] * 2;
    sum += b[i];
  }
  int wrong = sum != N * (N - 1);
  for (i = 0; i < N; i++) wrong += b[i] != 2 * i;
  return verdict(wrong);
}
