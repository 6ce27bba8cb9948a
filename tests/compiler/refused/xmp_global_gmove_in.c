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
  double x;
#pragma xmp gmove in
  x = a[3];
  return x > 0;
}
// expected: 13:3: gmove in of an aligned array is not supported
// remedy: write gmove alone, which all nodes execute together
