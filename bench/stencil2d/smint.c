#include <smint.h>

#include "common.h"

#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[NY][NX], b[NY][NX];

int main(int argc, char** argv) {
  const int steps = steps_wanted(argc, argv);
  double(*src)[NX] = a, (*dst)[NX] = b;
  double change = 0;

#pragma SMint parallel for
  for (int y = 1; y < NY - 1; y++)
    for (int x = 1; x < NX - 1; x++) a[y][x] = b[y][x] = sin((double)x / NX * M_PI) + cos((double)y / NY * M_PI);

  const double start = now();
  for (int t = 0; t < steps; t++) {
#pragma SMint parallel for
#pragma omp parallel for
    for (int y = 1; y < NY - 1; y++)
      for (int x = 1; x < NX - 1; x++) dst[y][x] = (src[y - 1][x] + src[y + 1][x] + src[y][x - 1] + src[y][x + 1]) / 4;
    double(*old)[NX] = src;
    src = dst;
    dst = old;
  }
  const double seconds = now() - start;

#pragma SMint parallel for reduction(+ : change)
  for (int y = 1; y < NY - 1; y++)
    for (int x = 1; x < NX - 1; x++) change += fabs(a[y][x] - b[y][x]);
  if (MYPID == 0) report(steps, seconds, change);
  return 0;
}
