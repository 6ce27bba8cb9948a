#include "check.h"

shared int a[100]::[NPROCS](0, NPROCS);

int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  for (int i = MYPID; i < 100; i += NPROCS) a[i] = i;
  mpc_barrier();
  long wrong = 0;
  for (int i = 0; i < 100; i++) wrong += a[i] != i;
  verdict(wrong);
  return mpc_exit();
}
