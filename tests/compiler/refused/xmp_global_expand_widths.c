#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[100]
#pragma xmp distribute u[cyclic] onto p
double a[100], c[100];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
#pragma xmp align c[i] with u[i]
int main(void) {
#pragma xmp loop on t[i] margin(1,2,3)
  for (int i = 0; i < 100; i++) a[i] = 0;
}
// expected: 12:1: margin has 3 widths, and the loop is on 1 dimensions
// remedy: give a width for each, as in expand(-1,0)
