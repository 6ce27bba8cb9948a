#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10], at[10];
int main(void) {
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) a[at[i]] = i;
  return 0;
}
// expected: 5:1: this loop cannot become tasks: a[at[i]]: a subscript is not affine
// remedy: write #pragma hiroba task in(..) out(..) above what is to be a task, or take `tasks` away
