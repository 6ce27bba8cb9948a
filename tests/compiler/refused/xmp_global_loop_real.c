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
#pragma xmp loop on t[x]
  for (double x = 0; x < 20; x++) a[0] = x;
}
// expected: 12:3: a loop on a template has the variable `x` of type double
// remedy: count with an integer
