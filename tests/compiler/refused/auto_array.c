#include <mpc.h>
int main(int argc, char** argv) {
  mpc_init(&argc, &argv);
  shared double a[10]::[NPROCS](0, NPROCS);
  a[0] = 1;
  return mpc_exit();
}
// expected: 4:3: `a` is shared in a block, where variables live on one rank's stack
// remedy: declare it static, or as a pointer whose map has extents: shared double *v::[n:NPROCS](0,NPROCS)
