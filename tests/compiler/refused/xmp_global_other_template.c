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
#pragma xmp loop on u[i]
  for (int i = 0; i < 100; i++) a[i] = i;
}
// expected: 12:35: the loop over `i` is on template `u`, and `a` is aligned with `t`
// remedy: write loop on t, or move the array by gmove first
