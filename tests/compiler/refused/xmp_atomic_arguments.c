#include <xmp.h>
int x:[*];
int main(void) {
  xmp_atomic_define(x:[0]);
  return 0;
}
// expected: 4:3: xmp_atomic_define has 2 arguments
// remedy: write xmp_atomic_define(a[i]:[image], value)
