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
  int d[100];
#pragma xmp array on t[:]
  d[:] = 1;
}
// expected: 13:3: `d[:]` is no section of an aligned array
// remedy: write a[:] = ..., where a is aligned with `t`
