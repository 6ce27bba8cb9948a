#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
  int k = 0;
#pragma SMint parallel for default(k)
  for (int i = 0; i < 100; i++) a[i] = k;
  return 0;
}
// expected: 6:28: unknown word `default` in #pragma SMint parallel
// remedy: variables are each rank's own unless they are declared shared: leave it out
