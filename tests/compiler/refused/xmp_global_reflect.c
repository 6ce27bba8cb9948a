#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[100]
#pragma xmp distribute u[cyclic] onto p
double a[100], c[100];
#pragma xmp align a[i] with t[i]
#pragma xmp align c[i] with u[i]
int main(void) {
#pragma xmp reflect(a)
}
// expected: 11:1: `a` has no shadow
// remedy: write #pragma xmp shadow a[1] below its align
