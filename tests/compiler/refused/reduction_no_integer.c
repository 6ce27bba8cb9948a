#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  double bits = 0;
#pragma SMint parallel for reduction(| : bits)
  for (int i = 0; i < 100; i++) bits += a[i];
  return bits > 0;
}
// expected: 6:42: `bits` is no integer, and | is for integers
// remedy: take another operator
