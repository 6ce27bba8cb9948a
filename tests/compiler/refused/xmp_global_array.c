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
#pragma xmp array on t[i]
  a[:] = 3;
}
// expected: 11:1: #pragma xmp array is not supported
// remedy: docs/global-view.md has what Hiroba has of XcalableMP's global view, and what to write instead
