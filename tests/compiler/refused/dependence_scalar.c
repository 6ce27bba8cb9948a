#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 100; i++) a[0] = i;
  return 0;
}
// expected: 6:33: iterations of this loop depend on each other: `a[0]` is written, and every iteration writes it
// remedy: write into a second array, or make it a reduction
