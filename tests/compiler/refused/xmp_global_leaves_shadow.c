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
  for (int i = 1; i < 100; i++) a[i] = a[i - 1];
}
// expected: 12:42: this subscript of `a` is 1 before what the node of the iteration has, and the shadow there is 0
// remedy: write #pragma xmp shadow a, and reflect, or move the data by gmove
