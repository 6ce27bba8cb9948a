#include <smint.h>
#include "check.h"

enum { N = 300 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[N], b[N];

int main(void) {
#pragma SMint parallel for nowait
  for (int i = 0; i < N; i++) a[i] = i;
#pragma SMint parallel for nowait
  for (int i = 0; i < N; i++) b[i] = -i;
#pragma SMint barrier
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] + b[i] != 0 || a[i] != i;
  return verdict(wrong);
}
