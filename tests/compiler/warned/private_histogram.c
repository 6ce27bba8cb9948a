#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  int bins[10] = {0};
#pragma SMint parallel for
  for (int i = 0; i < 100; i++) bins[a[i] % 10]++;
  return bins[3];
}
// expected: 7:33: `bins` is not shared, so each rank sets elements of its own for its iterations only
// remedy: declare it shared, or add reduction(+:bins) to the directive
