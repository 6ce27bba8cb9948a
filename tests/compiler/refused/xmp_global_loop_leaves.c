#include <xmp.h>
#pragma xmp nodes p[4]
#pragma xmp nodes q(2,2)
#pragma xmp template t[20]
#pragma xmp template u(1:20)
#pragma xmp distribute t[block] onto p
#pragma xmp distribute u(cyclic) onto p
double a[20];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp loop on t[i + 2]
  for (int i = 0; i <= 17; i++) a[i + 2] = 0;
#pragma xmp loop on t[i - 1]
  for (int i = 20; i > 0; i -= 19) a[i - 1] = 0;
#pragma xmp loop on u(i)
  for (int i = 0; i < 20; i++) continue;
}
// expected: 15:1: the indices 0..19 of dimension 1 of template `u`, which has 1..20
// remedy: name indices that it has, or make the template larger
