#include <xmp.h>
int a[4]:[*];
int main(void) {
  a[0:2]:[0]++;
  return 0;
}
// expected: 4:3: a section has no ++ and no --
// remedy: write a[0:2]:[0] += 1;
