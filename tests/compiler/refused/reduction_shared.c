#include <smint.h>
#pragma SMint shared ::[](0, 1)
double sum;
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100];
int main(void) {
#pragma SMint parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += a[i];
  return sum > 0;
}
// expected: 7:42: `sum` is shared, and a reduction combines what each rank has of its own
// remedy: reduce a private variable, and assign it to the shared one behind the loop, under single
