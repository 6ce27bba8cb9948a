#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100][100]
#pragma xmp distribute t[block][*] onto p
double a[100][100];
#pragma xmp align a[i][*] with t[i][k]
int main(void) { return 0; }
// expected: 6:1: `k` of the template is no index of the array
// remedy: write * where each node has a copy: align a[i] with t[*][i]
