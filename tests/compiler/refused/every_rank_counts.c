#include <smint.h>
#include <stdio.h>
#pragma SMint shared ::[](0, 1)
int total;
static void add(int more) { total += more; }
int main(void) {
  if (MYPID == 0) printf("begin\n");
  add(3);
  return 0;
}
// expected: 5:29: every rank does this, so shared `total` is changed as many times as there are ranks
// remedy: put `#pragma SMint single` above it, or write if (MYPID == 0) before it [-Werror=every-rank]
