#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp distribute t[block] onto p
int a[20];
#pragma xmp align a[i] with t[i]
int main(void) {
  xmp_gather(xmp_desc_of(a), xmp_desc_of(a));
}
// expected: 8:3: xmp_gather has 3 arguments or more, and 2 are given
// remedy: write xmp_gather(xmp_desc_of(x), xmp_desc_of(a), xmp_desc_of(i), ...)
