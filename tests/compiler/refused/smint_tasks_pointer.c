#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
double* rows[10];
int main(void) {
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) rows[i][0] = a[i][0];
  return 0;
}
// expected: 6:1: this loop cannot become tasks: rows[i][0]: `rows` has pointers in it, not rows
// remedy: write #pragma hiroba task in(..) out(..) above what is to be a task, or take `tasks` away
