#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template v[:]
#pragma xmp distribute v[block] onto p
double *q, *other;
#pragma xmp align q[i] with v[i]
#pragma xmp template w[8]
#pragma xmp distribute w[gblock(4)] onto p
int main(void) { return 0; }
// expected: 10:1: `4` in gblock is no array of integers
// remedy: name one: int m[4], one size per node
