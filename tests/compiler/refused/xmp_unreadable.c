#include <xmp.h>
#pragma xmp nodes p[*]
int main(void) {
#pragma xmp wait(p[1 +], 3)
  return 0;
}
// expected: 4:1: cannot read `1 +`
// remedy: write a C expression here
