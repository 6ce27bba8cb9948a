#include <smint.h>
int main(void) {
  shared double *v::[NPROCS](0, NPROCS);
  v[0] = 1;
  return 0;
}
// expected: 3:3: `v` is shared in a block, where variables live on one rank's stack
// remedy: declare it static, or as a pointer whose map has extents: shared double *v::[n:NPROCS](0,NPROCS)
