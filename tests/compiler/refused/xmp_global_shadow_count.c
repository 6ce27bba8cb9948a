#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][*] onto p
double a[100][100];
#pragma xmp align a[i][j] with t[i][j]
#pragma xmp shadow a[1]
int main(void) { return 0; }
// expected: 7:1: `a` has 2 dimensions, and this shadow names 1
// remedy: give a width for each, or 0
