#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for device(1)
  for (int i = 0; i < 10; i++) a[i][0] = b[i][0];
  return 0;
}
// expected: 5:1: parallel for device without a directive by which its loop is computed there
// remedy: put `#pragma acc parallel loop` or `#pragma omp target teams distribute parallel for` below this line
