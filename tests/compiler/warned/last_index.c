#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
  int i;
#pragma SMint parallel for
  for (i = 0; i < 10; i++) a[i] = i;
  return i == 10;
}
// expected: 8:10: each rank has the `i` here that its own last iteration has left
// remedy: set it anew behind the loop
