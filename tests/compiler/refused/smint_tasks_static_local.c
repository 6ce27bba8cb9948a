#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
  static int n = 3;
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) a[i][0] = n;
  return 0;
}
// expected: 7:42: `n` is static in this function
// remedy: declare it at file scope
