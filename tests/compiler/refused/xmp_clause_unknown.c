#include <xmp.h>
int main(void) {
#pragma xmp barrier quickly
  return 0;
}
// expected: 3:21: `quickly` in #pragma xmp barrier
// remedy: this directive takes on
