#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for device(1) schedule(dynamic)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) a[i][0] = b[i][0];
  return 0;
}
// expected: 5:38: `schedule` in #pragma SMint parallel for device is not possible
// remedy: take `schedule` away, or `device`
