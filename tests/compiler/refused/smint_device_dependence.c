#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for device(1)
#pragma acc parallel loop
  for (int i = 1; i < 10; i++) a[i][0] = a[i - 1][0];
  return 0;
}
// expected: 7:32: iterations of this loop depend on each other: `a[i][0]` is written, and another one uses it
//     as `a[i - 1][0]`
// remedy: write into a second array, or divide another loop
