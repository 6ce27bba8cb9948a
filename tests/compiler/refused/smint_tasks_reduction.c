#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
  double sum = 0;
#pragma SMint parallel for tasks reduction(+ : sum)
  for (int i = 0; i < 10; i++) sum += a[i][0];
  return 0;
}
// expected: 6:34: `reduction` in #pragma SMint parallel for tasks is for loops that are divided among ranks
// remedy: take `reduction` away, or `tasks`
