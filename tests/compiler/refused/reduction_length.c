#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
void count(int* bins) {
#pragma SMint parallel for
#pragma omp parallel for reduction(+ : bins[:])
  for (int i = 0; i < 100; i++) bins[a[i]]++;
}
// expected: 5:1: how long `bins[:]` is cannot be known
// remedy: write its length: bins[0:n]
