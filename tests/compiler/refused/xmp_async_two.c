#include <xmp.h>
int main(void) {
  int x = 0;
#pragma xmp reduction(+:x) async(1, 2)
  return x;
}
// expected: 4:28: `async` needs one number
// remedy: write async(1)
