#include <xmp.h>
#pragma xmp nodes p[4]
#pragma xmp nodes q(2,2)
#pragma xmp template t[20]
#pragma xmp template u(1:20)
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u(cyclic) onto p
double a[20];
#pragma xmp align a[i] with t[i]
double b[20];
int main(void) {
#pragma xmp align b[i] with t[i]
}
// expected: 12:19: `b` is declared outside of this function, and aligned in it
// remedy: put nodes, template, distribute and align below its declaration
