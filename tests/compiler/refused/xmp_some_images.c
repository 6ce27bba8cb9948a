#include <xmp.h>
int a[4]:[*];
int main(void) {
  int b[4];
  b[0:2] = a[1]:[0:2];
  return b[0];
}
// expected: 5:17: an image is one of all, or they are all meant
// remedy: write :[k], or a[0:n]:[:]
