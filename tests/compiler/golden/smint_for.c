#include <smint.h>
#include "check.h"

enum { NY = 40, NX = 50, STEPS = 5 };
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[NY][NX], b[NY][NX];
static double s[NY][NX], d[NY][NX];

int main(void) {
  double(*src)[NX] = a, (*dst)[NX] = b;
#pragma SMint parallel for
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) a[y][x] = b[y][x] = y * x % 7;
  for (int t = 0; t < STEPS; t++) {
#pragma SMint parallel for
    for (int y = 1; y < NY - 1; y++) {
      for (int x = 1; x < NX - 1; x++) dst[y][x] = (src[y - 1][x] + src[y + 1][x] + src[y][x - 1] + src[y][x + 1]) / 4;
    }
    double(*old)[NX] = src;
    src = dst;
    dst = old;
  }
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) s[y][x] = d[y][x] = y * x % 7;
  for (int t = 0; t < STEPS; t++) {
    for (int y = 1; y < NY - 1; y++)
      for (int x = 1; x < NX - 1; x++) d[y][x] = (s[y - 1][x] + s[y + 1][x] + s[y][x - 1] + s[y][x + 1]) / 4;
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) s[y][x] = d[y][x];
  }
  int wrong = 0;
  for (int y = 0; y < NY; y++)
    for (int x = 0; x < NX; x++) wrong += src[y][x] != s[y][x];
  return verdict(wrong);
}
