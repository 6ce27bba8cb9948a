#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp shadow a[1]
int main(void) { return 0; }
// expected: 6:20: `a` is no aligned array
// remedy: write #pragma xmp align a[i] with t[i] before
