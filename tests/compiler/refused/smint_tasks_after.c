#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
  int last = 0;
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) {
    last = 2 * i;
    a[i][0] = last;
  }
  return last;
}
// expected: 11:10: `last` is set by tasks, each in a copy
// remedy: set it anew after the loop
