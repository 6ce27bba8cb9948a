#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10];
#pragma SMint shared ::[NPROCS](0, NPROCS)
double sum[10];
int main(void) {
#pragma SMint parallel for device(1) reduction(+ : sum)
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 10; i++) sum[i] += a[i][0];
  return 0;
}
// expected: 7:52: `sum` is shared, and a reduction combines what each rank has of its own
// remedy: reduce a private variable, and assign it to the shared one behind the loop, under single
