#include <xmp.h>
int a[2][3]:[*], *rows[2];
int main(void) {
#pragma xmp gmove
  rows[:][0:3] = a[:][:];
  return 0;
}
// expected: 5:3: `rows[:][0:3]` has a pointer behind a range, so its elements lie anywhere
// remedy: move them in a loop over that range
