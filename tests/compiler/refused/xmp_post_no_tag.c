#include <xmp.h>
#pragma xmp nodes p[*]
int main(void) {
#pragma xmp post(p[0])
  return 0;
}
// expected: 4:1: #pragma xmp post needs an image and a tag
// remedy: write post(p[1], 3)
