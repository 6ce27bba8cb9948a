#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
  int n = 10;
#pragma SMint parallel for
  for (int i = 0; i < n; i++) {
    a[i] = i;
    if (i == 5) n = 8;
  }
  return 0;
}
// expected: 7:3: this is not a counted loop: its body changes `n`
// remedy: copy the value before the loop, or change another variable
