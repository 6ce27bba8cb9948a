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
#pragma xmp gmove out
  x = a[3];
  return x > 0;
}
// expected: 13:3: `x` on the left of gmove out is memory of each node
// remedy: write gmove in, by which each node reads what it needs
