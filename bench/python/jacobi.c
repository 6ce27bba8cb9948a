// Jacobi on a square, each rank its rows: what cases.py does with numba. Usage: bench_python_jacobi POINTS STEPS
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void step(double* restrict to, const double* restrict from, int64_t rows, int64_t n) {
  for (int64_t i = 1; i < rows - 1; ++i)
    for (int64_t j = 1; j < n - 1; ++j)
      to[i * n + j] =
          0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int64_t n = atol(argv[1]);
  const int steps = atoi(argv[2]);
  int64_t dim[] = {n, n, -1}, div[] = {sms_nprocs, 1, -1};
  double* whole[2];
  for (int k = 0; k < 2; ++k) whole[k] = sms_mapalloc_large(dim, div, sizeof(double), 0, sms_nprocs);
  const int64_t block = (n + sms_nprocs - 1) / sms_nprocs, low = sms_rank * block;
  const int64_t high = low + block < n ? low + block : n;
  for (int k = 0; k < 2; ++k)
    for (int64_t i = low; i < high; ++i) whole[k][i * n] = 1;
  sms_barrier();
  const int64_t first = low > 0 ? low - 1 : 0, rows = (high < n ? high + 1 : n) - first;
  double *from = whole[0] + first * n, *to = whole[1] + first * n;
  step(to, from, rows, n);
  sms_barrier();
  const double begin = now();
  for (int k = 0; k < steps; ++k) {
    step(to, from, rows, n);
    sms_barrier();
    double* other = from;
    from = to;
    to = other;
  }
  const double seconds = now() - begin;
  double sum = 0;
  if (sms_rank == 0) {
    for (int64_t i = 0; i < n; ++i) sum += whole[steps % 2][i * n + 1];
    printf("{\"seconds\": %.9g, \"answer\": %.17g}\n", seconds, sum);
  }
  sms_shutdown();
  return 0;
}
