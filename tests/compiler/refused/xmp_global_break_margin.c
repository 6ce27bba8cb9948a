#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
#pragma xmp template u[20][20]
#pragma xmp distribute u[block][*] onto p
double a[100], b[20][20];
#pragma xmp align a[i] with t[i]
#pragma xmp align b[i][*] with u[i][*]
int main(void) {
#pragma xmp loop on t[i] margin(-1)
  for (int i = 0; i < 100; i++) if (a[i] > 3) break;
}
// expected: 12:47: margin and peel_and_wait divide a node's iterations into loops, of which `break` ends one
// remedy: set a variable there, and test it in the condition
