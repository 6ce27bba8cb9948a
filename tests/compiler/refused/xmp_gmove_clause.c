#include <xmp.h>
int a[4]:[*], b[4];
int main(void) {
#pragma xmp gmove in on p
  b[:] = a[:]:[0];
}
// expected: 4:22: `on` in #pragma xmp gmove
// remedy: this directive takes async
