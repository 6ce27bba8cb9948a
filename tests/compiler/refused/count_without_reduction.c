#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
  int many = 0;
#pragma SMint parallel for
  for (int i = 0; i < 10; i++)
    if (a[i] > 3) many++;
  return many;
}
// expected: 8:19: each rank gets a `many` of its own iterations only
// remedy: add reduction(+:many) to the directive [-Werror=every-rank]
