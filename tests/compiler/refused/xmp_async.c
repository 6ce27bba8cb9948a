#include <xmp.h>
int main(void) {
  int x = 0;
#pragma xmp bcast(x) async(1)
  return x;
}
// expected: 4:22: `async` in #pragma xmp bcast
// remedy: leave it out: the directive waits until it is done; to overlap, use xmp_assign_start
