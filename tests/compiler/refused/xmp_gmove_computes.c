#include <xmp.h>
int a[4]:[*], b[4];
int main(void) {
#pragma xmp gmove
  b[:] = a[:] + 1;
  return 0;
}
// expected: 5:10: gmove computes nothing
// remedy: compute before or behind it
