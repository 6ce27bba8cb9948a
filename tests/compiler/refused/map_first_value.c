#include <smint.h>
double b[100];
int main(int n, char** argv) {
#pragma SMint shared ::[n:NPROCS](0, NPROCS)
  double *a = b;
  return a[0] > 0 || argv == 0;
}
// expected: 5:15: the map allocates `a`, and here is another first value
// remedy: take one of them away
