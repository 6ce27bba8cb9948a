#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
#pragma SMint parallel for affinity(b[i])
  for (int i = 0; i < 10; i++) a[i] = i;
  return 0;
}
// expected: 5:37: affinity(b[i]) is no access of this loop with affine subscripts
// remedy: name one, for example affinity(A[i][0])
