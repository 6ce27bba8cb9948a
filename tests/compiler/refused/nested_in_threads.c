#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[64];
int main(void) {
#pragma omp parallel
  {
#pragma SMint parallel for
#pragma omp for
    for (int i = 0; i < 64; i++) a[i] = i;
  }
  return 0;
}
// expected: 7:1: #pragma SMint parallel for stands below `omp parallel`, and each thread would do it
// remedy: end the region before it; for loops, write it above `omp parallel for`
