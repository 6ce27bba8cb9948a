#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
  int ends[10] = {0};
#pragma SMint parallel for tasks tile(2)
  for (int i = 0; i < ends[2]; i++) a[i][0] = i;
  return 0;
}
// expected: 6:1: this loop cannot become tasks: the bounds of the loop over `i` are not affine
// remedy: write #pragma hiroba task in(..) out(..) above what is to be a task, or take `tasks` away
