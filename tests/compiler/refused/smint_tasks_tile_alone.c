#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for tile(2)
  for (int i = 0; i < 10; i++) a[i][0] = i;
  return 0;
}
// expected: 5:28: `tile` without `tasks`
// remedy: write parallel for tasks tile(..)
