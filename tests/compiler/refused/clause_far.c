#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
#pragma SMint parallel for zzzz
  for (int i = 0; i < 10; i++) a[i] = i;
  return 0;
}
// expected: 5:28: unknown word `zzzz` in #pragma SMint parallel
// remedy: known are for, reduction, nowait, affinity, schedule, collapse, repeat, independent, tasks, tile, device
