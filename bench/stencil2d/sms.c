#include <sms.h>

#include "common.h"

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int steps = steps_wanted(argc, argv);
  const int dim[] = {NY, NX, -1}, div[] = {sms_nprocs, 1, -1};
  double(*a)[NX] = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs), (*src)[NX] = a;
  double(*b)[NX] = sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs), (*dst)[NX] = b;
  double change = 0;

  size_t first[2], length[2];
  sms_local_box(a, sms_rank, first, length);
  const int lo = larger(first[0], 1), hi = smaller(first[0] + length[0], NY - 1);
#pragma omp parallel for
  for (int y = lo; y < hi; y++)
    for (int x = 1; x < NX - 1; x++) a[y][x] = b[y][x] = sin((double)x / NX * M_PI) + cos((double)y / NY * M_PI);
  sms_barrier();

  const double start = now();
  for (int t = 0; t < steps; t++) {
    sms_preload(src, (sms_range[]){{lo - 1, hi - lo + 2, 1}, {0, NX, 1}});
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
  if (sms_rank == 0) report(steps, seconds, change);
  return sms_shutdown();
}
