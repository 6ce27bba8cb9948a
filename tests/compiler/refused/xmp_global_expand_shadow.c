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
#pragma xmp loop on t[i] expand(2)
  for (int i = 0; i < 100; i++) a[i] = 0;
}
// expected: 13:35: this subscript of `a` is 2 before what the node of the iteration has, and the shadow there is 1
// remedy: write #pragma xmp shadow a, and reflect, or move the data by gmove
