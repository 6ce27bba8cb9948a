#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp loop on t[i]
  a[0] = 1;
}
// expected: 8:1: #pragma xmp loop stands above a for loop
// remedy: put it directly above the loop
