#include <smint.h>
#include <stdlib.h>
int main(int n, char** argv) {
#pragma SMint shared ::[n:NPROCS](0, NPROCS)
  double *a;
  a = (double*)malloc(n * sizeof *a);
  return a[0] > 0 || argv == 0;
}
// expected: 6:3: `a` is allocated where it is declared, and what this allocates is not shared
// remedy: take this statement away
