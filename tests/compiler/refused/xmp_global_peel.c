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
#pragma xmp loop on t[i] peel_and_wait(1)
  for (int i = 0; i < 100; i++) a[i] = 0;
}
// expected: 12:1: peel_and_wait has no widths
// remedy: write peel_and_wait(1,-1), the number of an async and widths
