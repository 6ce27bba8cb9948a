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
#pragma xmp loop on u[i] expand(-1)
  for (int i = 0; i < 100; i++) c[i] = 0;
}
// expected: 12:1: expand of the loop over `i`, which is by cyclic
// remedy: distribute this dimension by block, or give the width 0
