#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp distribute t[cyclic] onto p
int main(void) { return 0; }
// expected: 6:1: template `t` is distributed already
// remedy: declare another template
