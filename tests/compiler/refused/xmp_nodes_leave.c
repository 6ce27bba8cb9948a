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
#pragma xmp task on p[0:2:3]
  a[0] = 1;
#pragma xmp task on q(2,1:3)
  a[0] = 1;
}
// expected: 13:1: `q(2,1:3)` leaves dimension 2 of node array `q`, which has 1..2
// remedy: name nodes that are there
