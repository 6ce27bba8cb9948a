#include <xmp.h>
int main(void) {
  int a[4]:[*];
  return a[1];
}
// expected: 3:11: `a` is a coarray in a block, where variables live on one image's stack
// remedy: declare it static, or outside of the function
