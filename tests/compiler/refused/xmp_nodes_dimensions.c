#include <xmp.h>
#pragma xmp nodes p[*]
int main(void) {
#pragma xmp barrier on p[0][1]
  return 0;
}
// expected: 4:1: `p[0][1]` does not fit to `p`, which has 1 dimension
// remedy: give an index, a range or * for each, or the name alone
