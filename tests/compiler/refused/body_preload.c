#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[64];
int main(void) {
  double sum = 0;
  for (int i = 0; i < 64; i++)
#pragma SMint preload a[0:64]
    sum += a[i];
  return sum > 0;
}
// expected: 7:1: #pragma SMint preload would be all that the `for` above it does
// remedy: put braces around it and the statement behind it
