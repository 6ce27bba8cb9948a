#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[20]
#pragma xmp template u[20][20]
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u[block][*] onto p
double a[20], m[20][20];
#pragma xmp align a[i] with t[i]
#pragma xmp shadow a[1]
int main(void) {
#pragma xmp loop on t[i]
  for (int i = 2; i < 20; i++) a[i] = a[-3 + i + 1];
}
// expected: 12:41: this subscript of `a` is 2 before what the node of the iteration has, and the shadow there is 1
// remedy: write #pragma xmp shadow a, and reflect, or move the data by gmove
