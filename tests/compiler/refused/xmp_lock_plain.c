#include <xmp.h>
xmp_lock_t l;
int main(void) {
#pragma xmp lock(l)
  return 0;
}
// expected: 4:1: #pragma xmp lock needs one lock, which is an element of a coarray
// remedy: declare xmp_lock_t l:[*]; and write lock(l:[0])
