#include <smint.h>
#include <xmp.h>
#pragma xmp nodes p[4]
#pragma xmp nodes q(2,2)
#pragma xmp template t[20]
#pragma xmp template u(1:20)
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u(cyclic) onto p
double a[20];
#pragma xmp align a[i] with t[i]
#pragma SMint shared ::[NPROCS](0,NPROCS)
double s[20];
int main(void) {
#pragma xmp reduction(+:s)
}
// expected: 14:1: `s` in this reduction is shared: it is the same one on all nodes
// remedy: reduce a variable of each node, and assign its value afterwards
