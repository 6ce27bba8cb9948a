#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
  int most = 0;
#pragma SMint parallel for
#pragma omp parallel for
  for (int i = 0; i < 10; i++)
    if (a[i] > most) most = a[i];
  return most;
}
// expected: 9:22: each rank gets a `most` of its own iterations only
// remedy: add reduction(max:most) to the directive [-Werror=every-rank]
