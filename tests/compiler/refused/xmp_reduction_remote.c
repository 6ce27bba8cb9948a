#include <xmp.h>
int x:[*];
int main(void) {
#pragma xmp reduction(+:x:[0])
  return 0;
}
// expected: 4:1: `x:[0]` in a reduction
// remedy: name a variable or an array as a whole, on this image
