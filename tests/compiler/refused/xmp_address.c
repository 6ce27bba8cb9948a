#include <xmp.h>
int a[4]:[*];
int main(void) {
  int* p = &a[1]:[0];
  return *p;
}
// expected: 4:12: `a[1]:[0]` has no address: it is on another image
// remedy: use its value, or the address of this image's own part, without sections and images
