#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[100]
#pragma xmp distribute u[cyclic] onto p
double a[100], c[100];
#pragma xmp align a[i] with t[i]
#pragma xmp align c[i] with u[i]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 0; i < 100; i++) if (i == 3) return 1;
}
// expected: 12:45: `return` leaves what #pragma xmp loop stands above
// remedy: set a variable there, and decide behind it
