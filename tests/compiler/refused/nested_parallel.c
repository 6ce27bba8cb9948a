#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[64][64];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 64; i++) {
#pragma SMint parallel for
    for (int j = 0; j < 64; j++) a[i][j] = i + j;
  }
  return 0;
}
// expected: 7:1: #pragma SMint parallel for is for all ranks together, and stands in #pragma SMint parallel for, where
//     ranks do different iterations
// remedy: take one of them away
