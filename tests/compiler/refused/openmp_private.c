#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
  int k = 0;
#pragma SMint parallel for private(k)
  for (int i = 0; i < 100; i++) a[i] = k;
  return 0;
}
// expected: 6:28: unknown word `private` in #pragma SMint parallel
// remedy: each rank has its own `k` already, and threads get theirs by OpenMP: leave it out, or put `#pragma omp
//     parallel for private(k)` below this line
