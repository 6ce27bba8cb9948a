#include <smint.h>
#include "check.h"

#pragma SMint shared ::[](0, 1)
int total;

/* A variable may have the name of a directive of OpenMP that makes threads; `for` alone makes none. */
int main(void) {
  int parallel = 0, wrong = 0;
#pragma omp for private(parallel)
  for (int t = 1; t < 4; t++) {
    parallel = t;
#pragma SMint single
    total = parallel;
    wrong += total != t;
#pragma SMint barrier
  }
  return verdict(wrong);
}
