#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
#pragma SMint parallel for tasks tile(2, 2, 2)
  for (int i = 0; i < 10; i++)
    for (int j = 1; j < 10; j++)
      for (int k = 0; k < 9; k++) b[i][j] += a[j][k] * b[i][j - 1];
  return 0;
}
// expected: 5:34: tiles in 3 loops, and it is not known that iterations of the second one are independent
// remedy: say collapse(2), if they are
