#include <smint.h>
#define LATER nowait nowiat
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
#pragma SMint parallel for LATER
  for (int i = 0; i < 10; i++) a[i] = 1;
  return 0;
}
// expected: 6:28: unknown word `nowiat` in #pragma SMint parallel
// remedy: did you mean `nowait`?
