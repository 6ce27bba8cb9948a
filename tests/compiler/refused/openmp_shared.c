#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
  int k = 0;
#pragma SMint parallel for shared(k)
  for (int i = 0; i < 100; i++) a[i] = k;
  return 0;
}
// expected: 6:28: unknown word `shared` in #pragma SMint parallel
// remedy: what is declared shared is, and `k` is each rank's own if not: declare it with `#pragma SMint shared`
