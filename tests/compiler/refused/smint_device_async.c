#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for device(1)
#pragma omp target teams distribute parallel for nowait
  for (int i = 0; i < 10; i++) a[i][0] = b[i][0];
  return 0;
}
// expected: 6:50: `nowait` below #pragma SMint parallel for device
// remedy: devices work at the same time without it: take it away
