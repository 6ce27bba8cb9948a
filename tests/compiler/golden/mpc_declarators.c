#include <mpc.h>
#include "check.h"

enum { N = 2000 };
shared int a[N]::[NPROCS](0, NPROCS), m[30][40]::[1][NPROCS](0, NPROCS), *link, last;

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  if (MYPID == NPROCS - 1) {
    for (int i = 0; i < N; i++) a[i] = i;
    for (int i = 0; i < 30; i++)
      for (int j = 0; j < 40; j++) m[i][j] = 100 * i + j;
    link = &a[N - 1];
    last = 7;
  }
  mpc_barrier();
  int wrong = *link != N - 1 || last != 7;
  for (int i = 0; i < N; i++) wrong += a[i] != i;
  for (int i = 0; i < 30; i++)
    for (int j = 0; j < 40; j++) wrong += m[i][j] != 100 * i + j;
  verdict(wrong);
  return mpc_exit();
}
