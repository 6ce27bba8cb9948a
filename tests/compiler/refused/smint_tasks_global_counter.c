#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int count;
int main(void) {
#pragma SMint parallel for tasks
  for (int i = 0; i < 10; i++) a[i][0] = count++;
  return 0;
}
// expected: 7:42: `count` has a value from before this loop and is changed in it; each task would change a copy
// remedy: declare it in the loop, or sum up into an element of a shared array
