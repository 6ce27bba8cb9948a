#include <smint.h>
#include "check.h"

enum { NZ = 9, NY = 10, NX = 11 };
#pragma SMint shared ::[NPROCS][1][1](0, NPROCS)
int a[NZ][NY][NX];

int main(void) {
#pragma SMint parallel for collapse(2) schedule(static)
  for (int z = 0; z < NZ; z++)
    for (int y = 0; y < NY; y++) a[z][y][0] = 1;
#pragma SMint parallel for
#pragma omp parallel for collapse(3)
  for (int z = 0; z < NZ; z++)
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) a[z][y][x] += z * y * x;
  int wrong = 0;
  for (int z = 0; z < NZ; z++)
    for (int y = 0; y < NY; y++)
      for (int x = 0; x < NX; x++) wrong += a[z][y][x] != z * y * x + (x == 0);
  return verdict(wrong);
}
