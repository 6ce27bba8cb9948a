#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[100]
#pragma xmp distribute u[cyclic] onto p
double a[100], c[100];
#pragma xmp align a[i] with t[i]
#pragma xmp align c[i] with u[i]
#pragma xmp template v[:]
int main(void) { return 0; }
// expected: 10:1: template `v` has no extents, and template_fix is not supported
// remedy: write the extents here: t[n], in a block after n has its value
