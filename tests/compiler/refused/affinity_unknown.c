#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
#pragma SMint parallel for affinity(b[i])
  for (int i = 0; i < 10; i++) a[i] = i;
  return 0;
}
// expected: 5:37: affinity(b[i]) is no element of an array with subscripts that are affine in this loop
// remedy: name one, for example affinity(A[i][0])
