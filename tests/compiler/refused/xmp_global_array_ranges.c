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
#pragma xmp array on t[3]
  a[:] = 1;
}
// expected: 12:3: `t` is named with 0 ranges, which are not those of the aligned dimensions of `a[:]`
// remedy: give : where the left side has a range, its index where it has that, else *
