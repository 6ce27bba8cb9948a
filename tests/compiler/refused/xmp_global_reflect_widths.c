#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][*] onto p
double a[100][100];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp shadow a[1][0]
int main(void) {
#pragma xmp reflect(a) width(1)
}
// expected: 9:1: `a` has 2 dimensions, and this names 1 width
// remedy: give a width for each, or 0
