#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  int bins[10] = {0};
#pragma SMint parallel for
  for (int i = 0; i < 100; i++) bins[a[i] % 10]++;
  return bins[3];
}
// expected: 7:33: each rank gets a `bins` of its own iterations only
// remedy: add reduction(+:bins) to the directive [-Werror=every-rank]
