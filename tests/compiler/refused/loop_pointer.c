#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  int *p;
#pragma SMint parallel for
  for (p = a; p < a + 100; p++) *p = 1;
  return 0;
}
// expected: 7:8: the variable of a parallel for is an integer
// remedy: count with int
