#include <string.h>
#include <mpc.h>
#include "check.h"

enum { NZ = 12, NY = 10, NX = 20 };
shared double A[NZ][NY][NX]::[NPROCS][1][1](0, NPROCS);
shared double B[NZ][NY][NX]::[NPROCS][1][1](0, NPROCS);

static double corner(double (*p)[NY][NX]) { return p[NZ - 1][NY - 1][NX - 1]; }

int main(int argc, char** argv) {
  double (*src)[NY][NX], (*dst)[NY][NX], (*tmp)[NY][NX];
  mpc_init(&argc, &argv);
  src = A;
  dst = B;
  for (int step = 0; step < 3; step++) {
    for (int z = MYPID; z < NZ; z += NPROCS)
      for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) dst[z][y][x] = src[z][y][x] + 1;
    mpc_barrier();
    tmp = dst;
    dst = src;
    src = tmp;
  }
  double* flat = &A[0][0][0];
  double(*row)[NX] = B[3];
  double(*whole)[NZ][NY][NX] = &B;
  int wrong = (corner(B) != 3) + (flat[NZ * NY * NX - 1] != 2) + (row[1][2] != 3) + ((*whole)[1][2][3] != 3);
  wrong += (char*)(A + 1) - (char*)A != NY * NX * sizeof(double);
  double copy[NX];
  memcpy(copy, B[5][5], sizeof copy);
  verdict(wrong + (copy[7] != 3));
  return mpc_exit();
}
