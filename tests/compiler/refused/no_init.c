#include <mpc.h>
shared int a[10]::[NPROCS](0, NPROCS);
int main(int argc, char** argv) {
  a[0] = argc;
  return 0;
}
// expected: 3:5: this program has shared arrays, and main does not start the job
// remedy: call mpc_init(&argc, &argv) first, and mpc_exit() at the end
