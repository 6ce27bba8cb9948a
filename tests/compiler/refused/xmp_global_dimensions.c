#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[100]
#pragma xmp distribute u[cyclic] onto p
double a[100], c[100];
#pragma xmp align a[i] with t[i]
#pragma xmp align c[i] with u[i]
double d[10][10];
#pragma xmp align d[i] with t[i]
int main(void) { return 0; }
// expected: 11:19: `d` has 2 dimensions, and this alignment names 1
// remedy: name each: an index, or * where it is not divided
