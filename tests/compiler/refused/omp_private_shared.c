#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
#pragma SMint parallel for
#pragma omp parallel for firstprivate(a)
  for (int i = 0; i < 100; i++) a[i] = i;
  return 0;
}
// expected: 6:39: `a` is shared, and firstprivate(a) wants copies of it
// remedy: name a variable of each rank's own
