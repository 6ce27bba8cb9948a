#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
#pragma SMint parallel for
  for (double x = 0; x < 100; x++) a[(int)x] = 1;
  return 0;
}
// expected: 6:15: the variable of a parallel for is an integer
// remedy: count with int
