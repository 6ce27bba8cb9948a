#include <smint.h>
int main(int n, char** argv) {
#pragma SMint shared ::[n:NPROCS][n:](0, NPROCS)
  double *m;
  return m[0] > 0 || argv == 0;
}
// expected: 4:11: the map has 2 extents, and `m` points to 1 dimension
// remedy: declare (*m)[n], or write one extent: [n * n:NPROCS]
