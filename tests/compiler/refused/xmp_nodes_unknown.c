#include <xmp.h>
#pragma xmp nodes p[*]
int main(void) {
  int x = 0;
#pragma xmp task on q[0]
  x = 1;
  return x;
}
// expected: 5:21: `q` is no node array
// remedy: declare it before: #pragma xmp nodes q[*]
