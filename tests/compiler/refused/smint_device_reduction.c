#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
double sums[10];
int main(void) {
#pragma SMint parallel for device(1) reduction(+ : sums)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) sums[i] += b[i][0];
  return 0;
}
// expected: 6:52: reduction of `sums` above a directive of OpenACC, which reduces variables, no arrays
// remedy: put `#pragma omp target teams distribute parallel for` below this line, or reduce variables
