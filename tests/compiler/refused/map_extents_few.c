#include <smint.h>
int main(int n, char** argv) {
#pragma SMint shared ::[n:NPROCS](0, NPROCS)
  double (*m)[n];
  return m[0][0] > 0 || argv == 0;
}
// expected: 4:12: the map has 1 extent, and `m` points to 2 dimensions
// remedy: give one bracket per dimension: [extent:pieces]
