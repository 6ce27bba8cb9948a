#include <xmp.h>
int main(void) {
  int x = 0;
#pragma xmp task
  x = 1;
  return x;
}
// expected: 4:1: #pragma xmp task without `on`
// remedy: write task on p[0:2]
