#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
#pragma SMint parallel for
  for (int i = 1; i < 10; i++) a[i] = a[i - 1];
#pragma SMint sinlge
  a[0] = 1;
  return 0;
}
// expected: 7:15: unknown directive #pragma SMint sinlge
// remedy: did you mean `single`?
