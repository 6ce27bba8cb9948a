#include <mpc.h>

#include "common.h"

// clang-format off: it takes :: for C++
shared double a[NY][NX]::[NPROCS][1](0, NPROCS), b[NY][NX]::[NPROCS][1](0, NPROCS);
// clang-format on

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  const int steps = steps_wanted(argc, argv);
  double(*src)[NX] = a, (*dst)[NX] = b;
  double change = 0;

  const int rows = (NY + NPROCS - 1) / NPROCS;
  const int lo = larger(MYPID * rows, 1), hi = smaller((MYPID + 1) * rows, NY - 1);
#pragma omp parallel for
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++) a[y][x] = b[y][x] = sin((double)x / NX * M_PI) + cos((double)y / NY * M_PI);
  mpc_barrier();

  const double start = now();
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
    for (int y = lo; y < hi; y++)
      for (int x = 1; x < NX - 1; x++) dst[y][x] = (src[y - 1][x] + src[y + 1][x] + src[y][x - 1] + src[y][x + 1]) / 4;
    sms_sync_drop();
    double(*old)[NX] = src;
    src = dst;
    dst = old;
  }
  const double seconds = now() - start;

#pragma omp parallel for reduction(+ : change)
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++) change += fabs(a[y][x] - b[y][x]);
  change = sms_reduce_double(change, SMS_SUM);
  if (MYPID == 0) report(steps, seconds, change);
  return mpc_exit();
}
