#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[100][100];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 99; i++)
    for (int j = 0; j < 100; j++) {
      a[i][j] = 2 *
        a[i + 1][j];
    }
  return 0;
}
// expected: 8:7: iterations of this loop depend on each other: `a[i][j]` is written, and another one uses it as `a[i +
//     1][j]`
// remedy: write into a second array, or make it a reduction
