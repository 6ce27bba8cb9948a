#include <mpc.h>
shared int steps::[1](0, 1), done;
shared double a[100]::[NPROCS](0, NPROCS);
int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  if (MYPID == 0) done = 1;
  for (int i = MYPID; i < 100; i += NPROCS) a[i] = 1;
  steps = 10;
  mpc_barrier();
  return mpc_exit();
}
// expected: 8:3: every rank writes shared `steps` here
// remedy: write if (MYPID == 0) steps = 10; and a barrier after it
