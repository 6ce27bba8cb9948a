#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  struct { int sum; } all = {0};
#pragma SMint parallel for reduction(+ : all.sum)
  for (int i = 0; i < 100; i++) all.sum += a[i];
  return all.sum;
}
// expected: 6:42: reduction of `all.sum`
// remedy: name variables, arrays, or sections p[base:length]
