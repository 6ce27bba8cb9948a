#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  int i = 0;
#pragma SMint parallel for
  for (; i < 100; i++) a[i] = i;
  return 0;
}
// expected: 7:3: this is not a counted loop: it needs all three parts: for (i = first; i < end; i++)
// remedy: write for (i = first; i < end; i += step), and leave by its condition only
