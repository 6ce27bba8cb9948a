#include <xmp.h>
#pragma xmp nodes p[*]
#pragma xmp template t[100]
#pragma xmp distribute t[block] onto p
double a[100];
#pragma xmp align a[i] with t[i]
int main(void) {
  a[:] = 3;
  return 0;
}
// expected: 8:3: `a[:]` is a section of an aligned array, of which each node has a part
// remedy: put it below #pragma xmp gmove, or write a loop
