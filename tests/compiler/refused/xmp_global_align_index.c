#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100][100];
#pragma xmp align a[i][j] with t[i]
int main(void) { return 0; }
// expected: 6:1: `j` of the array is in no dimension of the template
// remedy: write * where an array is not divided: align a[i][*] with t[i]
