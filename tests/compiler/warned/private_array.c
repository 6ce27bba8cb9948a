#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int b[10];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 10; i++) b[i] = a[i];
  return b[3];
}
// expected: 7:32: `b` is not shared, so each rank sets elements of its own for its iterations only
// remedy: declare it shared
