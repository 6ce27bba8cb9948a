#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
  int k = 0;
#pragma SMint parallel for lastprivate(k)
  for (int i = 0; i < 100; i++) a[i] = k;
  return 0;
}
// expected: 6:28: unknown word `lastprivate` in #pragma SMint parallel
// remedy: each rank keeps the `k` of its own last iteration: after the loop, set it anew, or keep it in a shared
//     variable
