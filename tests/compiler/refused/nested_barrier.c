#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[64];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 64; i++) {
    a[i] = i;
#pragma SMint barrier
  }
  return 0;
}
// expected: 8:1: #pragma SMint barrier is for all ranks together, and stands in #pragma SMint parallel for, where
//     ranks do different iterations
// remedy: put it behind the statement
