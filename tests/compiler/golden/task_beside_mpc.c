/* Arrays of MpC, and one in a block, as data of tasks. */
#include <mpc.h>
#include "check.h"

shared int a[8]::[NPROCS](0, NPROCS);

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  static shared int inner[4]::[NPROCS](0, NPROCS);
  int n = 8, wrong = 0;
  shared int (*v)[2]::[n:NPROCS][2:1](0, NPROCS);
  for (int i = 0; i < n; i++) {
#pragma hiroba task out(a[i], v[i][:])
    a[i] = v[i][0] = v[i][1] = i;
  }
#pragma hiroba task in(a[0:8], v[0:n][1]) out(inner)
  for (int i = 0; i < 4; i++) inner[i] = a[2 * i] + v[2 * i + 1][1];
#pragma hiroba taskwait
  for (int i = 0; i < 4; i++) wrong += inner[i] != 4 * i + 1;
  wrong = verdict(wrong);
  mpc_exit();
  return wrong;
}
