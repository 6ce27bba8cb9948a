#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
double sum;
int main(void) {
#pragma SMint parallel for device(1)
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += b[i][0];
  return 0;
}
// expected: 7:27: `reduction` below #pragma SMint parallel for device
// remedy: sum up into an element of an array, or take `device` away
