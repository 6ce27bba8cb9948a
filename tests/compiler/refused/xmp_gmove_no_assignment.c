#include <xmp.h>
int main(void) {
  int x = 0;
#pragma xmp gmove
  x++;
  return x;
}
// expected: 4:1: gmove stands above an assignment
// remedy: write for example #pragma xmp gmove above a[:] = b[:];
