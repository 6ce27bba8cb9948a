#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) { return 0; }
// expected: 5:29: template `t` is not distributed before this line
// remedy: write #pragma xmp distribute t[block] onto p above it
