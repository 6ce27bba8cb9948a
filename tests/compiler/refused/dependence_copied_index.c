#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
#pragma SMint parallel for
  for (int i = 1; i < 100; i++) {
    int n = i - 1;
    a[i] = a[n];
  }
  return 0;
}
// expected: 8:5: iterations of this loop depend on each other: `a[i]` is written, and another one uses it as `a[n]`
// remedy: write into a second array, or make it a reduction
