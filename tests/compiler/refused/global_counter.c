#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
static int count;
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 100; i++)
    if (a[i] > 0) count++;
  return count;
}
// expected: 8:19: each rank gets a `count` of its own iterations only
// remedy: add reduction(+:count) to the directive [-Werror=every-rank]
