#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
static double own[10];
int main(void) {
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) a[i][0] = own[i] = i;
  return 0;
}
// expected: 7:42: `own` is each rank's own, and a task of this loop runs on one rank, because it writes `a`, which is
//     shared
// remedy: declare it shared, or write it in a loop of its own
