/* STREAM's triad, a = b + s c, in arrays of N doubles, by OMP_NUM_THREADS threads: the speed of memory.
 *
 *     stream N
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const long n = argc > 1 ? atol(argv[1]) : 1 << 24;
  double* const a = aligned_alloc(4096, (size_t)n * 8);
  double* const b = aligned_alloc(4096, (size_t)n * 8);
  double* const c = aligned_alloc(4096, (size_t)n * 8);
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = 0, b[i] = 1, c[i] = 2;
  double least = 1e9;
  for (int round = 0; round < 12; round++) {
    const double begin = omp_get_wtime();
#pragma omp parallel for
    for (long i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i];
    const double seconds = omp_get_wtime() - begin;
    least = seconds < least ? seconds : least;
  }
  for (long i = 0; i < n; i++)
    if (a[i] != 7) return fprintf(stderr, "wrong: a[%ld] is %g\n", i, a[i]), 1;
  printf("{\"seconds\": %.9g, \"gbytes\": %.6g}\n", least, 24e-9 * (double)n / least);
  return 0;
}
