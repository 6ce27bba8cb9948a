#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template v[:]
#pragma xmp distribute v[block] onto p
double *q, *other;
#pragma xmp align q[i] with v[i]
#pragma xmp template w[:][8]
int main(void) { return 0; }
// expected: 9:1: template `w` has extents in some dimensions only
// remedy: write : in all of them, and give them by template_fix; or give all here
