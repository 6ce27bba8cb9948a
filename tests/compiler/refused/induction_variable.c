#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
  int k = 0;
#pragma SMint parallel for
  for (int i = 0; i < 50; i++) {
    a[k] = i;
    k += 2;
  }
  return 0;
}
// expected: 9:5: `k` depends on the iterations before, which other ranks do
// remedy: compute it in each iteration from `i` [-Werror=every-rank]
