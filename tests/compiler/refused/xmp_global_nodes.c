#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[100]
#pragma xmp distribute u[cyclic] onto p
double a[100], c[100];
#pragma xmp align a[i] with t[i]
#pragma xmp align c[i] with u[i]
#pragma xmp template v[10][10]
#pragma xmp distribute v[block][cyclic] onto p
int main(void) { return 0; }
// expected: 11:1: 2 dimensions of `v` are divided, and node array `p` has 1
// remedy: divide as many dimensions as the node array has, and give * for the others
