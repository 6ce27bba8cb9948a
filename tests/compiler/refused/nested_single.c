#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[64];
int main(void) {
#pragma SMint critical
  {
#pragma SMint single
    a[0] = 1;
  }
  return 0;
}
// expected: 7:1: #pragma SMint single is for all ranks together, and stands in #pragma SMint critical, where one rank
//     at a time is
// remedy: put it behind the statement
