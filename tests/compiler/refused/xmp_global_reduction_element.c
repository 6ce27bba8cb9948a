#include <xmp.h>
#pragma xmp nodes p[4]
#pragma xmp nodes q(2,2)
#pragma xmp template t[20]
#pragma xmp template u(1:20)
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u(cyclic) onto p
double a[20];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp loop on t[i] reduction(+:a[3])
  for (int i = 0; i < 20; i++) a[i] = i;
}
// expected: 11:1: `a[3]` in this loop is of an aligned array, of which each node has a part
// remedy: reduce a variable of each node, and assign its value afterwards
