#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[100]
#pragma xmp distribute u[cyclic] onto p
double a[100], c[100];
#pragma xmp align a[i] with t[i]
#pragma xmp align c[i] with u[i]
#pragma xmp template v[10]
#pragma xmp distribute v[blocks(3)] onto p
int main(void) { return 0; }
// expected: 11:1: `blocks(3)` is no format of a distribution
// remedy: write block, block(n), cyclic, cyclic(n), gblock(sizes) or *
