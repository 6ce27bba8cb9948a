#include <xmp.h>

#include "common.h"

#pragma xmp nodes p[*]
#pragma xmp template t[NY]
#pragma xmp distribute t[block] onto p
double a[NY][NX], b[NY][NX];
#pragma xmp align[y][*] with t[y] ::a, b
#pragma xmp shadow[1][0] ::a, b

static void sweep(double dst[NY][NX], double src[NY][NX]) {
#pragma xmp align[y][*] with t[y] ::dst, src
#pragma xmp shadow[1][0] ::dst, src
#pragma xmp reflect(src)
#pragma xmp loop on t[y]
#pragma omp parallel for
  for (int y = 1; y < NY - 1; y++)
    for (int x = 1; x < NX - 1; x++) dst[y][x] = (src[y - 1][x] + src[y + 1][x] + src[y][x - 1] + src[y][x + 1]) / 4;
}

int main(int argc, char** argv) {
  const int steps = steps_wanted(argc, argv);
  double(*src)[NX] = a, (*dst)[NX] = b;
  double change = 0;

#pragma xmp loop on t[y]
  for (int y = 1; y < NY - 1; y++)
    for (int x = 1; x < NX - 1; x++) a[y][x] = b[y][x] = sin((double)x / NX * M_PI) + cos((double)y / NY * M_PI);

  const double start = now();
  for (int t = 0; t < steps; t++) {
    sweep(dst, src);
    double(*old)[NX] = src;
    src = dst;
    dst = old;
  }
  const double seconds = now() - start;

#pragma xmp loop on t[y] reduction(+ : change)
  for (int y = 1; y < NY - 1; y++)
    for (int x = 1; x < NX - 1; x++) change += fabs(a[y][x] - b[y][x]);
  if (xmpc_node_num() == 0) report(steps, seconds, change);
  return 0;
}
