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
  int x = 0;
#pragma xmp task on u(20)
  x = 1;
#pragma xmp bcast(x) from t[4 * 5]
}
// expected: 14:1: index 20 of dimension 1 of template `t`, which has 0..19
// remedy: name indices that it has, or make the template larger
