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
#pragma xmp loop on t[j]
  for (int i = 0; i < 100; i++) a[i] = 0;
}
// expected: 11:1: the variable `i` of the loop below is no subscript of `t`
// remedy: write loop on t[i]
