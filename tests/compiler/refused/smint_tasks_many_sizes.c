#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for tasks tile(2, 2)
  for (int i = 0; i < 10; i++) a[i][0] = i;
  return 0;
}
// expected: 5:34: tile(2, 2) has 2 sizes, but only `i` can be cut
// remedy: name fewer sizes: loops inside are cut if they are perfectly nested, with affine bounds
