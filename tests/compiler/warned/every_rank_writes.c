#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
  int i = 3;
  a[i] = 4;
  return 0;
}
// expected: 6:3: every rank writes shared `a` here
// remedy: put `#pragma SMint single` above this statement, or `parallel for` above its loop
