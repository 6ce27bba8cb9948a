#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for device(1)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) {
#pragma SMint critical
    a[i][0] = 1;
  }
  return 0;
}
// expected: 8:1: #pragma SMint critical stands in a loop on devices
// remedy: put it outside of the loop
