#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[100];
int main(void) {
#pragma SMint parallel for
  for (int i = 0; i < 100; i++) {
    a[i] = i;
    i++;
  }
  return 0;
}
// expected: 6:3: this is not a counted loop: its body changes `i`
// remedy: copy the value before the loop, or change another variable
