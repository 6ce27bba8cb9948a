#include <xmp.h>
int main(void) {
#pragma xmp barier
  return 0;
}
// expected: 3:13: unknown directive #pragma xmp barier
// remedy: did you mean `barrier`?
