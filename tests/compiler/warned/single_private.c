#include <smint.h>
#include <stdio.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  int n = 0;
#pragma SMint single
  if (scanf("%d", &n) != 1) n = 1;
#pragma SMint parallel for
  for (int i = 0; i < 100; i++) a[i] = n;
  return 0;
}
// expected: 8:20: only rank 0 sets `n` here, and the other ranks go on with what they had
// remedy: say `single copy(n)`, or declare `n` shared, with ::[](0,1), or set it on all
