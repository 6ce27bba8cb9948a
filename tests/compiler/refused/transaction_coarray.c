#include <xmp.h>
int a[4] : [*];
int main(void) {
#pragma hiroba atomic
  {
    a[1] = a[1] : [0];
  }
  return 0;
}
// expected: 6:12: `a[1] : [0]` in the transaction is for another notation, whose calls cannot be undone
// remedy: put it before the block, or after it
