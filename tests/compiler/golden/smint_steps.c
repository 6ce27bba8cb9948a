#include <smint.h>
#include "check.h"

enum { N = 101 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], b[2 * N];

int main(void) {
  long i;
#pragma SMint parallel for
  for (i = 0; i < N; i += 3) a[i] = 3;
#pragma SMint parallel for
  for (i = 1; i < N; i = i + 3) a[i] = 1;
#pragma SMint parallel for
  for (i = N - 1; i >= 0; i = i - 4) b[2 * i + 1] = 4;
#pragma SMint parallel for
  for (unsigned j = 0u; j < 2 * N; j += 2u) b[j] = 2;
  int wrong = 0;
  for (i = 0; i < N; i++) wrong += a[i] != (i % 3 == 0 ? 3 : i % 3 == 1 ? 1 : 0);
  for (i = 0; i < 2 * N; i++) wrong += b[i] != (i % 2 == 0 ? 2 : (i - 1) / 2 % 4 == 0 ? 4 : 0);
  return verdict(wrong);
}
