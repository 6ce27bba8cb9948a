#include <xmp.h>
enum { FEW = 3, MANY = FEW * 7 };
static const int N = 20;
#pragma xmp nodes p[*]
#pragma xmp nodes q[FEW]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
double a[N], b[20];
#pragma xmp align a[i] with t[i]
int main(void) {
#pragma xmp task on t[N]
  {
  }
}
// expected: 11:1: index 20 of dimension 1 of template `t`, which has 0..19
// remedy: name indices that it has, or make the template larger
