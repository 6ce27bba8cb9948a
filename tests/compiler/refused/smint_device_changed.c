#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
  int last = 0;
#pragma SMint parallel for device(1)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) a[i][0] = last, last = i;
  return 0;
}
// expected: 8:42: `last` has a value from before this loop and is changed in it, and devices have copies of it
// remedy: declare it in the loop
