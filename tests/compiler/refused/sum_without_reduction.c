#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
  int sum = 0;
#pragma SMint parallel for
  for (int i = 0; i < 10; i++) sum += a[i];
  return sum;
}
// expected: 7:32: each rank gets a `sum` of its own iterations only
// remedy: add reduction(+:sum) to the directive [-Werror=every-rank]
