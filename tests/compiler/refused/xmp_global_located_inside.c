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
  double best = -1;
#pragma xmp loop on t[i] reduction(firstmax:best)
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 20; i++) best = a[i] * j > best ? a[i] * j : best;
}
// expected: 12:1: the loop over `j` is not shared, and firstmax and its like compare the order of iterations
// remedy: put the directive above the first loop that is shared
