#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
  double own[10];
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) own[i] = a[i][0];
  return 0;
}
// expected: 7:32: `own` is an array of this function, of which each task has a copy
// remedy: declare it shared, or static at file scope
