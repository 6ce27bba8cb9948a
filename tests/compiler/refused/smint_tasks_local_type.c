#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
  enum { ROWS = 10 };
#pragma SMint parallel for tasks
  for (int i = 0; i < ROWS; i++) a[i][0] = i;
  return 0;
}
// expected: 7:23: `ROWS` is declared in the function, and the body of a task is a function of its own
// remedy: declare it outside of the function
