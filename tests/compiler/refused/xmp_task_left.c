#include <xmp.h>
#pragma xmp nodes p[*]
int main(void) {
#pragma xmp task on p[0]
  return 1;
  return 0;
}
// expected: 5:3: `return` leaves what #pragma xmp task stands above
// remedy: set a variable there, and decide behind it
