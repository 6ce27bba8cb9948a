#include <xmp.h>
int main(void) {
  int x = 0;
#pragma xmp bcast(x) async
  return x;
}
// expected: 4:22: `async` needs one number
// remedy: write async(1)
