#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp reduce_shadow(a)
  return 0;
}
// expected: 8:1: `a` has no shadow
// remedy: write #pragma xmp shadow a[1] below its align
