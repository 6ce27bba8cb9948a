/* A stencil with two arrays, whose pointers the program swaps, against the same one without devices. */
#include <smint.h>

#include "../golden/check.h"

enum { NZ = 37, NY = 11, NX = 13, STEPS = 9 };
#pragma SMint shared ::[NPROCS][][](0, NPROCS)
double a[NZ][NY][NX], b[NZ][NY][NX], c[NZ][NY][NX], d[NZ][NY][NX];

static void fill(double (*f)[NY][NX]) {
#pragma SMint parallel for
  for (int z = 0; z < NZ; z++)
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) f[z][y][x] = (z * 7 + y * 5 + x * 3) % 11;
}

int main(void) {
  double(*src)[NY][NX] = a, (*dst)[NY][NX] = b, (*from)[NY][NX] = c, (*to)[NY][NX] = d;
  const double side = 0.125;
  fill(a), fill(b), fill(c), fill(d);
  for (int t = 0; t < STEPS; t++) {
#pragma SMint parallel for device(COUNT)
#pragma DIRECTIVE
    for (int z = 1; z < NZ - 1; z++)
      for (int y = 1; y < NY - 1; y++)
        for (int x = 1; x < NX - 1; x++) {
          const double around = src[z - 1][y][x] + src[z + 1][y][x] + src[z][y - 1][x] + src[z][y + 1][x];
          dst[z][y][x] = src[z][y][x] / 4 + side * (around + src[z][y][x - 1] + src[z][y][x + 1]);
        }
    double(*swap)[NY][NX] = src;
    src = dst;
    dst = swap;
#pragma SMint parallel for
    for (int z = 1; z < NZ - 1; z++)
      for (int y = 1; y < NY - 1; y++)
        for (int x = 1; x < NX - 1; x++) {
          const double around = from[z - 1][y][x] + from[z + 1][y][x] + from[z][y - 1][x] + from[z][y + 1][x];
          to[z][y][x] = from[z][y][x] / 4 + side * (around + from[z][y][x - 1] + from[z][y][x + 1]);
        }
    swap = from;
    from = to;
    to = swap;
  }
  int wrong = 0;
  for (int z = 0; z < NZ; z++)
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) wrong += src[z][y][x] != from[z][y][x];
  return verdict(wrong);
}
