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
#pragma xmp gmove
  a[0:FEW] = b[0:N / 5];
}
// expected: 12:3: the left side of gmove has [3], and the right side [4]
// remedy: give both as many elements in each dimension
