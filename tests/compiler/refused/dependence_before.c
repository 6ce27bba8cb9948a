#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
#pragma SMint parallel for
  for (int i = 1; i < 100; i++) a[i] = a[i - 1] + 1;
  return 0;
}
// expected: 6:33: iterations of this loop depend on each other: `a[i]` is written, and another one uses it as `a[i -
//     1]`
// remedy: write into a second array, or make it a reduction
