#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
static int at(int i) { return 9 - i; }
int main(void) {
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) a[at(i)][0] = i;
  return 0;
}
// expected: 6:1: this loop cannot become tasks: a[at(i)][0]: a subscript is not affine
// remedy: write #pragma hiroba task in(..) out(..) above what is to be a task, or take `tasks` away
