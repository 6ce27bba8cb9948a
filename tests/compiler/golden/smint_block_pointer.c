#include <stdlib.h>
#include <smint.h>
#include "check.h"

static int run(int n) {
  shared double *v::[n:NPROCS](0,NPROCS);
  shared int (*m)[16]::[n / 2:NPROCS][16:1](0, NPROCS);
#pragma SMint parallel for
  for (int i = 0; i < n; i++) v[i] = i / 2.0;
#pragma SMint parallel for
  for (int i = 0; i < n / 2; i++)
    for (int j = 0; j < 16; j++) m[i][j] = i + j;
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += v[i] != i / 2.0;
  for (int i = 0; i < n / 2; i++) wrong += m[i][15] != i + 15;
  return wrong;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 100;
  return verdict(run(n) + run(2 * n));
}
