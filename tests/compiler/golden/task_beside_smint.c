/* Tasks between loops that ranks share, with SMint's and OpenMP's directives in their bodies. */
#include <smint.h>
#include "check.h"
#define N 40

#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N], b[N];
#pragma SMint shared ::[](0, 1)
int times;

int main(void) {
  int wrong = 0;
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = i;
  for (int i = 0; i < N; i += 10) {
#pragma hiroba task in(a[i:10]) out(b[i:10])
#pragma omp simd
    for (int j = i; j < i + 10; j++) b[j] = a[j] + 1;
#pragma hiroba task commutative(times)
    {
#pragma SMint critical
      times++;
    }
  }
#pragma hiroba taskwait
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = 2 * b[i];
  for (int i = 0; i < N; i++) wrong += a[i] != 2 * (i + 1);
  return verdict(wrong + (times != 4));
}
