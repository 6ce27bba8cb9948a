#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
double sum(const double* row);
double* row;
int main(void) {
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) a[i][0] = sum(row);
  return 0;
}
// expected: 7:1: this loop cannot become tasks: row: what is done with this address is not known
// remedy: write #pragma hiroba task in(..) out(..) above what is to be a task, or take `tasks` away
