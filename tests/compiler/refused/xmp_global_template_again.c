#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp template u[20][20]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[block][*] onto p
double a[20], m[20][20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
#pragma xmp template t[5]
// expected: 10:22: template `t` is declared already
// remedy: give it another name
