#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[10];
int main(void) {
  int i, square;
#pragma SMint parallel for
  for (i = 0; i < 10; i++) {
    square = i * i;
    a[i] = square;
  }
  return square;
}
// expected: 11:10: each rank has the `square` here that its own last iteration has left
// remedy: keep it in a shared variable, or set it anew behind the loop
