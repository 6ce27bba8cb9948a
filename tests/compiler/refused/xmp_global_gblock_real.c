#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp template u[20][20]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[block][*] onto p
double a[20], m[20][20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
double sizes[2] = {10, 10};
#pragma xmp template g[20]
#pragma xmp distribute g[gblock(sizes)] onto p
// expected: 12:1: `sizes` in gblock is no array of integers
// remedy: name one: int m[4], one size per node
