#include <xmp.h>
int x;
int main(void) {
  xmp_atomic_define(x, 1);
  return x;
}
// expected: 4:21: xmp_atomic_define works on one element of a coarray
// remedy: write xmp_atomic_define(a[i]:[image], value)
