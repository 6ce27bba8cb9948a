#include <smint.h>
#include "check.h"

enum { N = 101 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], b[N];

int main(void) {
  int i;
#pragma SMint parallel for
  for (i = N - 1; i >= 0; i--) a[i] = i;
#pragma SMint parallel for
  for (i = N; i > 0; --i) b[i - 1] = a[i - 1] + 1;
#pragma SMint parallel for
  for (i = N - 1; 0 < i; i -= 2) b[i] += a[i - 1];
  int wrong = 0;
  for (i = 0; i < N; i++) wrong += a[i] != i || b[i] != i + 1 + (i > 0 && i % 2 == 0 ? i - 1 : 0);
  return verdict(wrong);
}
