#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
  int s = 0;
#pragma SMint parallel for reduction(plus : s)
  for (int i = 0; i < 10; i++) s += a[i];
  return s;
}
// expected: 6:38: reduction(plus : s)
// remedy: write reduction(op:variables) with one of + - * & | ^ && || max min
