#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp template u[20][20]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[block][*] onto p
double a[20], m[20][20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
int main(void) {
#pragma xmp task on p[-1]
  {
  }
}
// expected: 11:1: `p[-1]` leaves dimension 1 of node array `p`, which has 0..
// remedy: name nodes that are there
