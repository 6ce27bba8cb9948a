#include <mpc.h>
shared double a[100]::[NPROCS](0, NPROCS);
int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  for (int i = 1; i < 100; i++) a[i] = a[i] + a[i - 1];
  mpc_barrier();
  return mpc_exit();
}
// expected: 5:33: every rank does this, so shared `a` is changed as many times as there are ranks
// remedy: put `#pragma SMint parallel for` above its loop [-Werror=every-rank]
