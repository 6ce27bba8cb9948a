#include <xmp.h>
int a[4]:[*], b[4];
int main(void) { return a[1]:[0] + b[1]:[0]; }
// expected: 3:36: `b` is no coarray, so it is on this image only
// remedy: declare it as one at file scope: b:[*]
