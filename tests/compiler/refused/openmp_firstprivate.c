#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
  int k = 0;
#pragma SMint parallel for firstprivate(k)
  for (int i = 0; i < 100; i++) a[i] = k;
  return 0;
}
// expected: 6:28: unknown word `firstprivate` in #pragma SMint parallel
// remedy: each rank has its own `k`, with its value from before the loop: leave it out
