#include <smint.h>
#include <stdio.h>
int main(void) {
  int n = 0;
  if (scanf("%d", &n) != 1) return 1;
#pragma SMint barrier
  return n;
}
// expected: 5:7: every rank calls scanf here, and only rank 0 has the standard input
// remedy: put `#pragma SMint single copy(n)` above this statement: rank 0 reads, and all get its `n`
//     [-Werror=every-rank]
