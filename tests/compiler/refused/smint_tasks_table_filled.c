#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
static int at[10];
int main(void) {
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) at[i] = 9 - i;
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) a[at[i]][0] = i;
  return 0;
}
// expected: 8:1: subscripts are read from `at` when tasks are created, and tasks fill it
// remedy: fill it in a loop without directive, which every rank runs
